from __future__ import annotations

import re

import pytest

from lila_app.cli.output import note
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


SPOKEN = [
    "## Rivers\n\n",
    "The **Seine** is long. ",
    "See [the map](https://example.org/map).\n",
    "\n- *Loire*\n",
    "- `Rhône`\n",
    "\n```python\nx = 2 ** 3\n```\n",
    "That is all.\n",
]


def test_in_a_pipe_a_reply_has_no_marks_left(capsys: pytest.CaptureFixture[str]) -> None:
    lines = Lines(words=True)
    for piece in SPOKEN:
        lines.said(1, piece)
    lines.answered(1)
    assert capsys.readouterr().out == (
        "LILA: Rivers\n\nThe Seine is long. See the map (https://example.org/map).\n\n"
        "- Loire\n- Rhône\n\nx = 2 ** 3\nThat is all.\n"
    )


def at_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """The stdout that is captured is a terminal that shows emphasis.

    No fixture: what captures it is made anew for the test itself.
    """
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)


def test_at_a_terminal_emphasis_is_shown(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    at_a_terminal(monkeypatch)
    lines = Lines(words=True)
    for piece in SPOKEN[:2]:
        lines.said(1, piece)
    lines.answered(1)
    assert capsys.readouterr().out == (
        "LILA: \x1b[1mRivers\x1b[0m\n\nThe \x1b[1mSeine\x1b[0m is long.\n"
    )


@pytest.mark.parametrize(("name", "value"), [("NO_COLOR", "1"), ("TERM", "dumb")])
def test_whoever_wants_no_colour_gets_words_alone(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    value: str,
) -> None:
    at_a_terminal(monkeypatch)
    monkeypatch.setenv(name, value)
    lines = Lines(words=True)
    lines.said(1, "The **Seine** is long.")
    lines.answered(1)
    assert capsys.readouterr().out == "LILA: The Seine is long.\n"


def test_what_is_emphasised_cannot_drive_the_terminal_either(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    at_a_terminal(monkeypatch)
    lines = Lines(words=True)
    lines.said(1, "**\x1b]52;c;\x07Hello** `\x1b[2J` &#27;[2J [x](\x9b2J).")
    told = capsys.readouterr().out
    ours = re.sub("\x1b\\[(0|1|4|36)m", "", told)
    assert "Hello" in told and "\x1b[1m" in told and "\x1b" not in ours
    assert "\x9b" not in told and "\x07" not in told


def test_where_it_was_cut_off_and_what_nobody_could_hear_have_no_marks(
    capsys: pytest.CaptureFixture[str],
) -> None:
    lines = Lines(words=True)
    lines.said(1, "It **lies on** the Seine.")
    lines.interrupted(1, "It **lies on**")
    lines.unspoken(2, "# Rivers\n\nThe **Loire**.")
    told = capsys.readouterr()
    assert told.out.endswith("[interrupted after: … It lies on]\n")
    assert told.err == "Rivers\n\nThe Loire.\n"


def test_nobody_is_told_to_speak_before_somebody_listens(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    lines = Lines(words=False, listens=lambda: note("speak"))
    lines.wait()
    assert capsys.readouterr().err == "[          ] getting ready"
    lines.phase(Phase.LISTENING, False)
    lines.phase(Phase.HEARING, False)
    lines.phase(Phase.LISTENING, False)
    told = capsys.readouterr().err
    assert told.startswith("\r\x1b[Kspeak\n[          ] listening")
    assert told.count("speak\n") == 1
