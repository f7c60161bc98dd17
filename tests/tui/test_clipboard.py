"""What is sent to the terminal when something is copied, and to what stands before it."""

from __future__ import annotations

import base64
import os
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lila_app.tui import clipboard
from tests.tui.driving import chat, notifications, running, say, settled
from tests.tui.fake_lila import FakeLila, reply

MOST = 768
"""What GNU screen 4 holds of one string."""


def understood(sent: str) -> str | None:
    """What a terminal that knows OSC 52 finds in what reaches it, and nothing must be beside it."""
    found = re.fullmatch(r"\x1b\]52;c;([A-Za-z0-9+/=]*)\x07", sent)
    return None if found is None else base64.b64decode(found[1]).decode()


def screen_lets_through(sent: str) -> str:
    """What GNU screen hands on: the insides of its strings, one after the other."""
    insides = re.findall(r"\x1bP(.*?)\x1b\\", sent, re.DOTALL)
    assert "".join(f"\x1bP{inside}\x1b\\" for inside in insides) == sent
    assert all(len(inside) < MOST for inside in insides)
    return "".join(insides)


def tmux_lets_through(sent: str) -> str:
    """What tmux hands on: the inside, each ESC of which stands twice."""
    found = re.fullmatch(r"\x1bPtmux;((?:\x1b\x1b|[^\x1b])*)\x1b\\", sent)
    assert found is not None
    return found[1].replace("\x1b\x1b", "\x1b")


def test_the_bytes_are_those_of_the_sequence() -> None:
    assert clipboard.direct("copied text") == "\x1b]52;c;Y29waWVkIHRleHQ=\x07"
    assert clipboard.through_tmux("copied text") == (
        "\x1bPtmux;\x1b\x1b]52;c;Y29waWVkIHRleHQ=\x07\x1b\\"
    )
    assert clipboard.through_screen("copied text") == ("\x1bP\x1b]52;c;Y29waWVkIHRleHQ=\x07\x1b\\")


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=3_000))
def test_any_text_comes_out_whole_on_every_way(text: str) -> None:
    assert understood(clipboard.direct(text)) == text
    assert understood(tmux_lets_through(clipboard.through_tmux(text))) == text
    assert understood(screen_lets_through(clipboard.through_screen(text))) == text


def test_a_long_text_goes_through_screen_in_pieces() -> None:
    text = "It rained, and it rained. " * 400
    assert clipboard.through_screen(text).count("\x1bP") > 20
    assert understood(screen_lets_through(clipboard.through_screen(text))) == text


def test_half_a_character_keeps_nothing_else_from_being_copied() -> None:
    assert understood(clipboard.direct("a\ud800b")) == "a?b"


def sent(text: str, **environ: str) -> str:
    written: list[str] = []
    clipboard.copy(text, written.append, environ)
    return "".join(written)


def test_a_bare_terminal_and_one_around_screen_are_told_by_a_sequence() -> None:
    assert sent("tea") == clipboard.direct("tea")
    assert sent("tea", STY="1.pts-0") == clipboard.through_screen("tea")


def fake_tmux(folder: Path, status: int) -> str:
    """A tmux that keeps what it is given, and the folder where it is found."""
    program = folder / "tmux"
    kept = f'echo "$TMUX $@" > {folder}/asked\ncat > {folder}/buffer'
    program.write_text(f"#!/bin/sh\n{kept}\nexit {status}\n")
    program.chmod(0o755)
    return f"{folder}{os.pathsep}{os.environ['PATH']}"


def test_tmux_is_given_the_text_and_nothing_is_written_past_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = fake_tmux(tmp_path, 0)
    monkeypatch.setenv("PATH", path)
    assert sent("grün\nund \x1b]52", TMUX="/tmp/tmux,1,0", PATH=path) == ""
    assert (tmp_path / "buffer").read_bytes() == "grün\nund \x1b]52".encode()
    assert (tmp_path / "asked").read_text() == "/tmp/tmux,1,0 load-buffer -w -\n"


def test_a_tmux_that_cannot_is_told_both_ways(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = fake_tmux(tmp_path, 1)  # as one before 3.2, which knows no -w
    monkeypatch.setenv("PATH", path)
    both = clipboard.direct("tea") + clipboard.through_tmux("tea")
    assert sent("tea", TMUX="/tmp/tmux,1,0", PATH=path) == both
    monkeypatch.setenv("PATH", str(tmp_path / "none"))
    assert sent("tea", TMUX="/tmp/tmux,1,0", PATH=str(tmp_path / "none")) == both


async def test_the_last_reply_is_copied_through_tmux(
    lila: FakeLila, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", fake_tmux(tmp_path, 0))
    monkeypatch.setenv("TMUX", "/tmp/tmux,1,0")
    lila.script = [reply("A **bold** answer")]
    async with running(lila) as pilot:
        await say(pilot, "hello")
        await settled(pilot)
        chat(pilot).copy_last_reply()
        await pilot.pause()
        assert "Copied." in notifications(pilot)
        assert pilot.app.clipboard == "A **bold** answer"
    assert (tmp_path / "buffer").read_text() == "A **bold** answer"
