from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from lila_app.documents.walk import find
from lila_app.errors import Cancelled


def make(folder: Path, *names: str) -> None:
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x")


def names(folder: Path, paths: tuple[Path, ...]) -> list[str]:
    return [str(path.relative_to(folder)) for path in paths]


def test_a_folder_is_walked_deep_and_sorted(tmp_path: Path) -> None:
    make(tmp_path, "b.md", "a/z.md", "a/deep/er/x.txt", "c")
    found = find([tmp_path])
    assert names(tmp_path, found.files) == ["a/deep/er/x.txt", "a/z.md", "b.md", "c"]
    assert found.problems == ()
    assert found.folders == (tmp_path,)


def test_hidden_things_version_control_and_environments_are_left_out(tmp_path: Path) -> None:
    make(
        tmp_path, ".secret", ".git/config", "CVS/Root", "node_modules/a/readme.md",
        "__pycache__/a.pyc", "env/pyvenv.cfg", "env/lib/a.txt", "kept.md",
    )  # fmt: skip
    assert names(tmp_path, find([tmp_path]).files) == ["kept.md"]


def test_a_hidden_thing_that_is_named_is_taken(tmp_path: Path) -> None:
    make(tmp_path, ".diary/day.md", ".note")
    found = find([tmp_path / ".diary", tmp_path / ".note"])
    assert names(tmp_path, found.files) == [".diary/day.md", ".note"]


def test_loops_of_links_end_and_nothing_is_found_twice(tmp_path: Path) -> None:
    make(tmp_path, "a/one.md", "b/two.md")
    (tmp_path / "a" / "up").symlink_to(tmp_path, target_is_directory=True)
    (tmp_path / "b" / "across").symlink_to(tmp_path / "a", target_is_directory=True)
    (tmp_path / "self").symlink_to(tmp_path / "self")
    (tmp_path / "ping").symlink_to(tmp_path / "pong")
    (tmp_path / "pong").symlink_to(tmp_path / "ping")
    (tmp_path / "same.md").symlink_to(tmp_path / "a" / "one.md")
    found = find([tmp_path, tmp_path / "a", tmp_path / "same.md"])
    assert names(tmp_path, found.files) == ["a/one.md", "b/two.md"]
    assert [path.name for path, _ in found.problems] == ["ping", "pong", "self"]


def test_links_that_lead_out_or_nowhere_are_named(tmp_path: Path) -> None:
    make(tmp_path, "in/a.md", "out/b.md")
    (tmp_path / "in" / "out").symlink_to(tmp_path / "out", target_is_directory=True)
    (tmp_path / "in" / "gone.md").symlink_to(tmp_path / "nothing")
    found = find([tmp_path / "in"])
    assert names(tmp_path, found.files) == ["in/a.md"]
    assert dict(found.problems) == {
        tmp_path / "in" / "gone.md": "a link that leads nowhere",
        tmp_path / "in" / "out": f"a link out of the folder; to take it in, name {tmp_path}/out",
    }


def test_a_linked_folder_that_is_named_is_taken_under_its_real_name(tmp_path: Path) -> None:
    make(tmp_path, "real/a.md")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    assert names(tmp_path, find([tmp_path / "link"]).files) == ["real/a.md"]


def test_what_does_not_exist_is_named(tmp_path: Path) -> None:
    found = find([tmp_path / "nothing"])
    assert found.problems == ((tmp_path / "nothing", "there is no such file or folder"),)
    assert found.folders == ()
    assert found.covers(tmp_path / "nothing")  # its folder is there, so it is really gone
    assert not find([tmp_path / "no" / "thing"]).covers(tmp_path / "no" / "thing")


def test_pipes_and_sockets_are_named_and_never_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / "socket"))
    assert [(p.name, why) for p, why in find([tmp_path]).problems] == [
        ("pipe", "not a regular file"),
        ("socket", "not a regular file"),
    ]


def test_a_name_that_is_not_utf8_is_named(tmp_path: Path) -> None:
    (tmp_path / os.fsdecode(b"caf\xe9.md")).write_text("x")
    ((_, reason),) = find([tmp_path]).problems
    assert "not valid UTF-8" in reason


def test_what_cannot_be_listed_is_not_taken_for_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make(tmp_path, "top/here.md", "top/closed/x.md")
    list_folder = os.scandir

    def refuse(path: Path) -> object:
        if path.name == "closed":
            raise PermissionError(13, "Permission denied")
        return list_folder(path)

    # Run as root no mode bits refuse anything, so the refusal is played.
    monkeypatch.setattr(os, "scandir", refuse)
    top = tmp_path / "top"
    found = find([top])
    assert found.problems == ((top / "closed", "permission denied"),)
    assert found.covers(top / "was.md")
    assert not found.covers(top / "closed" / "x.md")
    assert not found.covers(tmp_path / "elsewhere.md")


def test_the_walk_can_be_stopped(tmp_path: Path) -> None:
    def stop() -> None:
        raise Cancelled("stopped")

    with pytest.raises(Cancelled):
        find([tmp_path], stop=stop)
