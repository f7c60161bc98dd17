from __future__ import annotations

import pytest

from lila_app.cli.voice_view import Lines
from lila_app.voice.model import Phase


def test_words_go_to_stdout_and_everything_else_to_stderr(
    capsys: pytest.CaptureFixture[str],
) -> None:
    lines = Lines(words=True)
    lines.phase(Phase.LISTENING, False)
    lines.heard(1, "What is", False)
    lines.heard(1, "What is the capital of France?", True)
    lines.said(1, "Paris. ")
    lines.said(1, "It lies on the Seine.")
    lines.answered(1)
    lines.told("the microphone is gone", "plug it in")
    lines.close()
    told = capsys.readouterr()
    assert told.out == "You: What is the capital of France?\nLILA: Paris. It lies on the Seine.\n"
    assert told.err == "the microphone is gone\nhint: plug it in\n"


def test_an_interrupted_reply_says_where(capsys: pytest.CaptureFixture[str]) -> None:
    lines = Lines(words=True)
    lines.said(1, "It lies on the Seine, and")
    lines.interrupted(1, "It lies on the")
    lines.said(2, "Lyon.")
    lines.interrupted(2, "")
    assert capsys.readouterr().out == (
        "LILA: It lies on the Seine, and\n[interrupted after: … It lies on the]\n"
        "LILA: Lyon.\n[interrupted before a word]\n"
    )


def test_who_goes_on_has_their_words_on_a_line_of_their_own(
    capsys: pytest.CaptureFixture[str],
) -> None:
    lines = Lines(words=True)
    lines.heard(1, "I like tea.", True)
    lines.said(1, "Tea is")
    lines.heard(1, "I like tea.", False)
    lines.heard(1, "I like tea. And coffee.", True)
    lines.said(1, "Both are hot.")
    lines.answered(1)
    assert capsys.readouterr().out.splitlines() == [
        "You: I like tea.",
        "LILA: Tea is",
        "You: I like tea. And coffee.",
        "LILA: Both are hot.",
    ]


def test_what_is_told_within_a_reply_does_not_begin_it_anew(
    capsys: pytest.CaptureFixture[str],
) -> None:
    lines = Lines(words=True)
    lines.said(1, "One.")
    lines.told("a note", "")
    lines.said(1, "Two.")
    lines.answered(1)
    assert capsys.readouterr().out == "LILA: One.\nTwo.\n"


def test_without_words_nothing_goes_to_stdout(capsys: pytest.CaptureFixture[str]) -> None:
    lines = Lines(words=False)
    lines.heard(1, "Hello.", True)
    lines.said(1, "Hello.")
    lines.interrupted(1, "Hel")
    lines.close()
    assert capsys.readouterr().out == ""


def test_what_a_model_says_cannot_drive_the_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    lines = Lines(words=True)
    lines.said(1, "\x1b]52;c;\x07Hello.")
    assert "\x1b" not in capsys.readouterr().out


def test_the_last_line_says_what_goes_on_and_moves_no_meter_for_a_microphone_that_is_gone(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    lines = Lines(words=False)
    lines.level(500)
    lines.phase(Phase.LISTENING, False)
    assert capsys.readouterr().err.endswith("[######    ] listening")
    lines.phase(Phase.NO_MICROPHONE, False)
    assert capsys.readouterr().err.endswith("[          ] no microphone")
    lines.phase(Phase.SPEAKING, True)
    assert capsys.readouterr().err.endswith("[          ] speaking, muted")
    lines.phase(Phase.LISTENING, False)
    assert capsys.readouterr().err.endswith("listening")
