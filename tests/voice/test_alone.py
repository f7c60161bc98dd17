"""Of all that could listen in one home, one does."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from lila_app.cli.root import lila as command
from lila_app.errors import SoundError, StorageError
from lila_app.paths import Home
from lila_app.voice import session
from lila_app.voice.alone import alone

_HOLD = """
import sys
from pathlib import Path
from lila_app.paths import Home
from lila_app.voice.alone import alone
with alone(Home.at(Path(sys.argv[1])), sys.argv[2]):
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def place(home: Path) -> Home:
    return Home.at(home)


def holding(place: Home, front: str) -> subprocess.Popen[str]:
    """Another process that listens, until it is killed or its input ends."""
    process = subprocess.Popen(
        [sys.executable, "-c", _HOLD, str(place.root), front],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    return process


@pytest.fixture
def other(place: Home) -> Iterator[subprocess.Popen[str]]:
    process = holding(place, "lila voice")
    with process:
        yield process
        process.kill()


def test_who_listens_already_is_named_with_the_way_to_end_it(
    place: Home, other: subprocess.Popen[str]
) -> None:
    with pytest.raises(SoundError) as refused, alone(place, "lila chat"):
        pass
    assert (
        refused.value.message == f"LILA listens to you already: `lila voice`, process {other.pid}"
    )
    assert refused.value.hint == "talk to that one, or press q there to end it"


def test_a_process_that_is_killed_holds_nothing_and_is_named_no_more(
    place: Home, other: subprocess.Popen[str]
) -> None:
    other.kill()
    other.wait(timeout=60)
    named = pytest.raises(SoundError, match="`lila chat`")
    with alone(place, "lila chat"), named, alone(place, "lila voice"):
        pass
    with alone(place, "lila voice"):
        pass


def test_what_a_dead_process_wrote_is_not_believed(place: Home) -> None:
    with alone(place, "lila voice"):
        lock = place.state_dir / "voice" / "listening.lock"
        lock.write_text("{half a line")
        with pytest.raises(SoundError, match="in another process"), alone(place, "lila chat"):
            pass
    assert lock.read_text() == ""
    assert lock.stat().st_mode & 0o777 == 0o600


def test_another_home_is_another_lila(place: Home, tmp_path: Path) -> None:
    with alone(place, "lila voice"), alone(Home.at(tmp_path / "second"), "lila voice"):
        pass


def test_a_state_folder_that_cannot_be_used_is_named(place: Home) -> None:
    place.state_dir.parent.mkdir(parents=True, exist_ok=True)
    place.state_dir.write_text("a file")
    refused = pytest.raises(StorageError, match="is a file where LILA needs a folder")
    with refused, alone(place, "lila voice"):
        pass


@pytest.mark.parametrize("words", [[], ["--push-to-talk"], ["test"]])
def test_a_second_conversation_is_refused_before_anything_is_fetched_or_played(
    home: Path,
    other: subprocess.Popen[str],
    words: list[str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(session, "check_sound", lambda _: None)
    with pytest.raises(SystemExit) as left:
        command.main(["--profile", "another", "voice", *words])
    told = capsys.readouterr().err
    assert left.value.code == 10
    assert f"error: LILA listens to you already: `lila voice`, process {other.pid}\n" in told
    assert "press q there" in told
    assert not any((home / "data/models").iterdir()) if (home / "data/models").exists() else True


def test_what_is_asked_of_sound_alone_is_answered_beside_it(
    home: Path, other: subprocess.Popen[str]
) -> None:
    assert CliRunner().invoke(command, ["voice", "stats"], catch_exceptions=False).exit_code == 0
