"""`lila voice` where it cannot be had: each time a sentence, the way out, and nothing fetched."""

from __future__ import annotations

import wave
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from lila_app.cli.root import lila as command
from lila_app.errors import SoundError
from lila_app.voice import session


@pytest.fixture
def recording(tmp_path: Path) -> Path:
    path = tmp_path / "in.wav"
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(16_000)
        file.writeframes(bytes(32_000))
    return path


def run(*words: str) -> Result:
    return CliRunner().invoke(command, ["voice", *words], catch_exceptions=False)


def failing(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str]:
    with pytest.raises(SystemExit) as left:
        command.main(["voice", *words])
    return int(left.value.code or 0), capsys.readouterr().err


def test_without_a_sound_system_nothing_is_fetched_and_the_text_chat_is_named(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def none(_: object) -> None:
        raise SoundError("there is no sound card", hint="connect one")

    monkeypatch.setattr(session, "check_sound", none)
    code, told = failing(capsys)
    assert code == 10
    assert told == (
        "error: there is no sound card\nhint: connect one; `lila chat` talks with LILA in text\n"
    )
    assert not (home / "data" / "models").exists() or not any((home / "data/models").iterdir())


def test_an_output_needs_an_input_and_a_folder_and_may_not_be_it(
    home: Path, recording: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert failing(capsys, "--output", "x.wav")[0] == 2
    code, told = failing(
        capsys, "--input", str(recording), "--output", str(tmp_path / "none" / "x.wav")
    )
    assert (code, "there is no folder" in told) == (2, True)
    code, told = failing(capsys, "--input", str(recording), "--output", str(recording))
    assert (code, "overwrite" in told) == (2, True)
    code, told = failing(capsys, "--input", str(recording), "--push-to-talk")
    assert (code, "presses no key" in told) == (2, True)


def test_a_recogniser_of_english_alone_is_refused_for_another_language(
    home: Path, capsys: pytest.CaptureFixture[str], recording: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LILA_VOICE__RECOGNISER", "whisper-tiny.en")
    monkeypatch.setenv("LILA_VOICE__LANGUAGE", "de")
    code, told = failing(capsys, "--input", str(recording), "--model", "ollama/none")
    assert code == 3
    assert "whisper-tiny.en reads English alone, and you speak 'de'" in told


def test_a_language_is_named_by_its_code(
    home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LILA_VOICE__LANGUAGE", "english")
    code, told = failing(capsys)
    assert code == 3
    assert "'english' is not the code of a language" in told


def test_nothing_spoken_yet_has_no_statistics(home: Path) -> None:
    assert run("stats", "--json").stdout == '{\n  "schema_version": 1,\n  "groups": []\n}\n'
