"""Writing a message: keys, history, the order of fast keys, paste."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from textual import events
from textual._xterm_parser import XTermParser
from textual.app import App, ComposeResult

from lila_app.errors import UsageError
from lila_app.tui.editor import edit
from lila_app.tui.history import PromptHistory
from lila_app.tui.terminal_keys import accept_alt_enter
from lila_app.tui.widgets.prompt import Prompt
from tests.tui.driving import notifications, prompt, running, settled
from tests.tui.fake_lila import FakeLila


class Bare(App[None]):
    """A prompt and what it sent."""

    def __init__(self) -> None:
        super().__init__()
        self.sent: list[str] = []

    def compose(self) -> ComposeResult:
        yield Prompt()

    def on_prompt_sent(self, message: Prompt.Sent) -> None:
        self.sent.append(message.text)


@pytest.mark.parametrize("key", ["ctrl+j", "shift+enter", "alt+enter"])
async def test_these_keys_start_a_new_line_and_enter_sends(key: str) -> None:
    app = Bare()
    async with app.run_test() as pilot:
        await pilot.press("a", key, "b", "enter")
        assert app.sent == ["a\nb"]
        assert app.query_one(Prompt).text == ""


async def test_a_backslash_before_enter_starts_a_new_line() -> None:
    app = Bare()
    async with app.run_test() as pilot:
        await pilot.press("a", "backslash", "enter", "b", "enter")
        assert app.sent == ["a\nb"]


async def test_keys_that_come_all_at_once_keep_their_order() -> None:
    app = Bare()
    async with app.run_test() as pilot:
        for key in ("a", "b", "enter", "c", "home", "d", "enter", "e"):
            app.post_message(events.Key(key, key if len(key) == 1 else None))
        await pilot.pause()
        await pilot.pause()
        assert app.sent == ["ab", "dc"]
        assert app.query_one(Prompt).text == "e"


async def test_blank_messages_are_not_sent() -> None:
    app = Bare()
    async with app.run_test() as pilot:
        await pilot.press("enter", "space", "enter")
        assert app.sent == []


async def test_up_and_down_walk_the_history_only_at_the_edges() -> None:
    app = Bare()
    async with app.run_test() as pilot:
        box = app.query_one(Prompt)
        for text in ("one", "two"):
            box.put(text)
            await pilot.press("enter")
        await pilot.press("x", "ctrl+j", "y")
        await pilot.press("up")
        assert box.text == "x\ny"
        await pilot.press("up")
        assert box.text == "two"
        await pilot.press("up", "up")
        assert box.text == "one"
        await pilot.press("down")
        assert box.text == "two"
        await pilot.press("down")
        assert box.text == "x\ny"


async def test_up_in_a_wrapped_line_moves_in_it_first() -> None:
    app = Bare()
    async with app.run_test(size=(20, 10)) as pilot:
        box = app.query_one(Prompt)
        box.put("old")
        await pilot.press("enter")
        box.put("many words that do not fit on one line")
        await pilot.press("up")
        assert box.text.startswith("many words")
        await pilot.press("up", "up", "up", "up")
        assert box.text == "old"


async def test_a_paste_keeps_its_lines_and_loses_what_a_terminal_would_obey() -> None:
    app = Bare()
    async with app.run_test() as pilot:
        app.post_message(events.Paste("a\r\nb\x1b[2Jc\td"))
        await pilot.pause()
        assert app.query_one(Prompt).text == "a\nb\u241b[2Jc\td"


def test_alt_enter_in_an_old_terminal_starts_a_new_line() -> None:
    accept_alt_enter()
    parser = XTermParser(False)
    keys = [event.key for event in parser.feed("\x1b\r") if isinstance(event, events.Key)]
    assert keys == ["ctrl+j"]


def test_history_forgets_nothing_in_the_middle_and_keeps_the_draft() -> None:
    history = PromptHistory()
    assert history.older("draft") is None
    history.add("one")
    history.add("one")
    history.add("two")
    assert [history.older("draft"), history.older("two"), history.older("one")] == [
        "two",
        "one",
        None,
    ]
    assert [history.newer(), history.newer(), history.newer()] == ["two", "draft", None]


def test_the_editor_gets_the_message_and_its_file_is_gone_afterwards(tmp_path: Path) -> None:
    script = tmp_path / "my editor.sh"
    script.write_text('#!/bin/sh\nls -l "$2" > "$1.mode"\nprintf " changed\\n" >> "$2"\n')
    script.chmod(0o755)
    folder = tmp_path / "drafts"
    command = f"'{script}' '{script}'"
    assert edit("text\nof mine", folder, {"VISUAL": command}) == "text\nof mine changed"
    assert list(folder.iterdir()) == []
    assert Path(f"{script}.mode").read_text().startswith("-rw-------")


@pytest.mark.parametrize(
    ("environ", "words"),
    [
        ({}, "no editor is set"),
        ({"EDITOR": "/no/such/editor"}, "cannot be started"),
        ({"EDITOR": "false"}, "ended with 1"),
    ],
)
def test_an_editor_that_does_not_work_is_told(
    tmp_path: Path, environ: dict[str, str], words: str
) -> None:
    with pytest.raises(UsageError, match=words):
        edit("text", tmp_path, environ)
    assert list(tmp_path.iterdir()) == []


async def test_without_a_terminal_to_hand_over_the_text_stays(
    lila: FakeLila, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(os.environ, "VISUAL", "true")
    async with running(lila) as pilot:
        prompt(pilot).put("mine")
        await pilot.press("ctrl+g")
        await settled(pilot)
        assert prompt(pilot).text == "mine"
        assert notifications(pilot) == ["An editor cannot be opened in this terminal."]
