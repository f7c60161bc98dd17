"""`lila policy`: the spoken assistant's table beside the others."""

from __future__ import annotations

from pathlib import Path

import pytest

from lila_app.paths import Home
from tests.cli.lila import here


@pytest.fixture(autouse=True)
def _folders(home: Path) -> None:
    Home.at(home).create()


def test_the_voices_numbers_are_shown_as_they_are_in_force(home: Path) -> None:
    Home.at(home).policies_dir.joinpath("voice.toml").write_text("[endpoint]\nwait = 600\n")
    shown = here(home, "policy", "show")
    assert shown.code == 0
    assert "wait 600, complete 320" in shown.out
    values = here(home, "policy", "show", "--json").json["policy"]
    assert values["voice"]["words"]["stop"][0] == "stop"


def test_fast_shows_the_waits_it_takes(home: Path) -> None:
    Home.at(home).settings_file.write_text("[voice]\nfast = true\n")
    values = here(home, "policy", "show", "--json").json["policy"]
    assert values["voice"]["endpoint"]["wait"] == 352


def test_a_wrong_voice_table_is_named_by_the_check(home: Path) -> None:
    Home.at(home).policies_dir.joinpath("voice.toml").write_text("[fast]\nspeculate = 300\n")
    seen = here(home, "policy", "check")
    assert seen.code == 3
    assert "voice.toml: fast.speculate: found 300" in seen.err
    assert "the shortest wait, 256" in seen.err
