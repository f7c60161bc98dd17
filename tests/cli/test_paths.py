from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lila_app import paths
from lila_app.errors import DiskFullError, ReadOnlyStoreError, StorageError, UsageError
from lila_app.paths import Home
from tests.cli.lila import lila


def _mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_lila_home_moves_everything(tmp_path: Path) -> None:
    home = Home.find({"LILA_HOME": str(tmp_path / "elsewhere")})
    places = home.listing("default")
    assert places["store"] == str(tmp_path / "elsewhere" / "data" / "profiles" / "default.db")
    assert all(place.startswith(str(tmp_path / "elsewhere")) for place in places.values())


def test_without_lila_home_the_platform_decides(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", "/a")
    monkeypatch.setenv("XDG_DATA_HOME", "/b")
    monkeypatch.setenv("XDG_STATE_HOME", "/c")
    home = Home.find({"LILA_HOME": ""})
    assert (home.root, home.config_dir.name, home.log_file.name) == (None, "lila", "lila.log")


def test_a_relative_home_does_not_follow_the_working_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    home = Home.at(Path("here"))
    monkeypatch.chdir("/")
    assert home.config_dir == tmp_path / "here" / "config"


def test_every_folder_made_is_private_whatever_the_umask(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        home = Home.at(tmp_path / "one" / "two")
        home.create()
    finally:
        os.umask(before)
    made = [tmp_path / "one", home.root, home.policies_dir, home.profiles_dir, home.models_dir]
    assert {_mode(folder) for folder in made if folder} == {0o700}


def test_a_private_file_is_replaced_whole_and_a_link_stays_a_link(tmp_path: Path) -> None:
    real, link = tmp_path / "real.toml", tmp_path / "link.toml"
    real.write_text("old")
    link.symlink_to(real)
    paths.write_private(link, "new ü\n")
    assert link.is_symlink()
    assert real.read_text(encoding="utf-8") == "new ü\n"
    assert _mode(real) == 0o600
    assert sorted(p.name for p in tmp_path.iterdir()) == ["link.toml", "real.toml"]


def test_a_failed_write_leaves_the_old_file_and_no_rubbish(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "settings.toml"
    file.write_text("old")

    def full(handle: int) -> None:
        raise OSError(errno.ENOSPC, "no space")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(DiskFullError, match="no space left"):
        paths.write_private(file, "new")
    assert file.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["settings.toml"]


@pytest.mark.parametrize(
    ("number", "kind"),
    [
        (errno.EROFS, ReadOnlyStoreError),
        (errno.EACCES, ReadOnlyStoreError),
        (errno.EDQUOT, DiskFullError),
        (errno.ENOTDIR, StorageError),
        (errno.EIO, StorageError),
    ],
)
def test_what_the_system_refuses_becomes_a_sentence(number: int, kind: type[StorageError]) -> None:
    said = paths.explained(OSError(number, os.strerror(number)), Path("/x/y"))
    assert type(said) is kind
    assert "/x/y" in said.message
    assert said.hint


def test_a_home_below_a_file_is_refused_in_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StorageError, match="file is a file where LILA needs a folder"):
        Home.at(tmp_path / "file" / "home").create()


@given(st.text())
def test_no_profile_name_leaves_the_profiles_folder(name: str) -> None:
    home = Home.at(Path("/h"))
    try:
        store = home.profile_db(name)
    except UsageError as error:
        assert error.hint
    else:
        assert store.parent == home.profiles_dir
        assert store.name == store.name.lower()


@pytest.mark.parametrize("name", ["Sample", "a/b", "..", "", "a.b", "a\n", "ä", "-x"])
def test_names_that_could_be_two_files_or_none_are_refused(name: str) -> None:
    with pytest.raises(UsageError):
        Home.at(Path("/h")).profile_db(name)


@pytest.mark.parametrize("name", ["policies", "assets", "data"])
def test_what_lila_was_shipped_with_is_found(name: str) -> None:
    assert paths.shipped(name).is_dir()


def test_the_command_shows_places_and_creates_none(tmp_path: Path) -> None:
    seen = lila(tmp_path / "home", "--profile", "work", "paths", "--json")
    assert seen.json["schema_version"] == 1
    assert seen.json["paths"]["store"].endswith("data/profiles/work.db")
    assert not (tmp_path / "home").exists()
    table = lila(tmp_path / "home", "paths")
    assert "persona.md" in table.out
    assert all(line == line.rstrip() for line in table.out.splitlines())
