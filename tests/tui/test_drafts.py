"""Unsent text on disk: who holds which file, and what a crash leaves."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from lila_app.errors import LilaError, StorageError
from lila_app.tui.drafts import Draft, DraftFile
from lila_app.tui.outbox import Outbox
from tests.waiting import until


def test_a_saved_draft_is_found_by_the_next_start(tmp_path: Path) -> None:
    first = DraftFile.take(tmp_path, "default")
    first.save(Draft(("sent \ud800 [/x]",), "typed\nmore"))
    first.close()
    again = DraftFile.take(tmp_path, "default")
    assert again.found == Draft(("sent \ud800 [/x]",), "typed\nmore")
    assert again.found.joined == "sent \ud800 [/x]\n\ntyped\nmore"
    again.close()


def test_an_empty_draft_leaves_no_file(tmp_path: Path) -> None:
    file = DraftFile.take(tmp_path, "default")
    file.save(Draft(text="x"))
    file.save(Draft(text=" \n"))
    file.close()
    assert list((tmp_path / "drafts").glob("*.json")) == []


def test_two_windows_do_not_share_a_draft(tmp_path: Path) -> None:
    one = DraftFile.take(tmp_path, "default")
    one.save(Draft(text="mine"))
    two = DraftFile.take(tmp_path, "default")
    assert two.found == Draft()
    two.save(Draft(text="yours"))
    one.close()
    two.close()
    again = DraftFile.take(tmp_path, "default")
    assert again.found.text == "mine"
    again.close()


def test_profiles_do_not_see_each_others_drafts(tmp_path: Path) -> None:
    one = DraftFile.take(tmp_path, "default")
    one.save(Draft(text="mine"))
    one.close()
    other = DraftFile.take(tmp_path, "sample")
    assert other.found == Draft()
    other.close()


def test_files_are_private(tmp_path: Path) -> None:
    file = DraftFile.take(tmp_path / "state", "default")
    file.save(Draft(text="x"))
    file.close()
    folder = tmp_path / "state" / "drafts"
    assert folder.stat().st_mode & 0o777 == 0o700
    assert {path.stat().st_mode & 0o777 for path in folder.iterdir()} == {0o600}


@pytest.mark.parametrize("found", ["", "{", "[]", '{"waiting": 3, "text": null}', "\xff"])
def test_a_damaged_draft_file_is_no_draft(tmp_path: Path, found: str) -> None:
    folder = tmp_path / "drafts"
    folder.mkdir()
    (folder / "default-1.json").write_text(found, encoding="latin-1")
    file = DraftFile.take(tmp_path, "default")
    assert file.found == Draft()
    file.close()


async def test_a_place_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "drafts").write_text("a file where a folder should be")
    told: list[LilaError] = []
    outbox = Outbox(told.append)
    assert await outbox.restore(tmp_path, "default") == ""
    outbox.type("a")
    await outbox.keep()
    outbox.close()
    assert [type(error) for error in told] == [StorageError]


_PROGRAM = """
import sys, time
from pathlib import Path
from lila_app.tui.drafts import Draft, DraftFile
file = DraftFile.take(Path(sys.argv[1]), "default")
file.save(Draft((), "typed before the end"))
print("saved", flush=True)
number = 0
while True:
    number += 1
    file.save(Draft((), f"typed before the end {number}"))
"""


def test_a_killed_process_leaves_a_whole_draft_that_the_next_one_takes(tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", _PROGRAM, str(tmp_path)], stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"saved\n"
        held = DraftFile.take(tmp_path, "default")
        assert held.found == Draft()
        held.close()
        drafts = tmp_path / "drafts"
        until(lambda: any("end 1" in file.read_text() for file in drafts.glob("*.json")))
        process.send_signal(signal.SIGKILL)
    found = DraftFile.take(tmp_path, "default")
    assert found.found.text.startswith("typed before the end ")
    found.close()


async def test_the_outbox_tells_once_that_it_cannot_write(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[LilaError] = []

    def refuse(_self: DraftFile, _draft: Draft) -> None:
        raise StorageError("no room")

    monkeypatch.setattr(DraftFile, "save", refuse)
    outbox = Outbox(told.append)
    await outbox.restore(tmp_path, "default")
    outbox.type("a")
    await outbox.keep()
    await outbox.keep()
    outbox.close()
    assert [str(error) for error in told] == ["no room"]


async def test_a_message_under_way_is_kept_until_it_is_accepted(tmp_path: Path) -> None:
    outbox = Outbox(lambda _error: None)
    await outbox.restore(tmp_path, "default")
    outbox.submit("one")
    outbox.submit("two")
    outbox.type("three")
    assert outbox.send_next() == "one"
    await outbox.keep()
    path = tmp_path / "drafts" / "default-1.json"
    assert path.read_text() == '{"waiting": ["one", "two"], "text": "three"}'
    outbox.accepted()
    await outbox.keep()
    assert path.read_text() == '{"waiting": ["two"], "text": "three"}'
    assert outbox.take_back() == "two"
    outbox.type("")
    await outbox.keep()
    assert path not in list((tmp_path / "drafts").iterdir())
    outbox.close()
