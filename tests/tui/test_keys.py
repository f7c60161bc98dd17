"""Keys that work everywhere: ids, help, Ctrl+C, Ctrl+D, the panel."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Iterator

import pytest
from textual.binding import Binding
from textual.dom import DOMNode
from textual.widgets import Markdown

import lila_app.tui
from lila_app.tui.app import LilaApp, sections
from lila_app.tui.screens.chat import ChatScreen
from lila_app.tui.screens.confirm import ConfirmScreen
from lila_app.tui.screens.help import HelpScreen, help_content, key_name
from lila_app.tui.widgets.context_panel import ContextPanel
from lila_app.tui.widgets.reply import Reply
from lila_app.tui.widgets.transcript import Transcript
from tests.tui.driving import (
    Clock,
    chat,
    make_app,
    notes,
    notifications,
    prompt,
    running,
    say,
    screen_text,
    settled,
    until,
)
from tests.tui.fake_lila import FakeLila, reply
from tests.tui.records import record


def own_classes() -> Iterator[type[DOMNode]]:
    """Every widget, screen and app of the front-end."""
    for module in pkgutil.walk_packages(lila_app.tui.__path__, "lila_app.tui."):
        for _, found in inspect.getmembers(importlib.import_module(module.name), inspect.isclass):
            if issubclass(found, DOMNode) and found.__module__ == module.name:
                yield found


def own_bindings() -> list[Binding]:
    found: list[Binding] = []
    for owner in own_classes():
        for binding in owner.__dict__.get("BINDINGS", []):
            assert isinstance(binding, Binding), owner
            found.append(binding)
    return found


def test_every_binding_has_an_id_of_its_own() -> None:
    ids = [binding.id for binding in own_bindings()]
    assert len(ids) > 20
    assert None not in ids
    assert len(set(ids)) == len(ids)


def test_help_names_every_key_that_says_what_it_does_outside_dialogs() -> None:
    shown = str(help_content(sections()))
    dialogs = ("confirm.", "line.", "models.", "help.")
    for binding in own_bindings():
        if binding.description and not str(binding.id).startswith(dialogs):
            assert str(binding.id) in shown
            assert binding.description in shown


@pytest.mark.parametrize(
    ("key", "name"), [("ctrl+j", "Ctrl+J"), ("f1", "F1"), ("escape", "Esc"), ("pageup", "PgUp")]
)
def test_keys_are_named_as_a_person_says_them(key: str, name: str) -> None:
    assert key_name(key) == name


async def test_f1_opens_help_and_closes_it(lila: FakeLila) -> None:
    async with running(lila) as pilot:
        await pilot.press("f1")
        assert isinstance(pilot.app.screen, HelpScreen)
        await pilot.press("f1")
        assert isinstance(pilot.app.screen, ChatScreen)


async def test_a_key_can_be_assigned_anew_by_its_id(lila: FakeLila) -> None:
    async with running(lila, size=(90, 24)) as pilot:
        pilot.app.set_keymap({"chat.context": "f8", "prompt.send": "f9"})
        await pilot.press("f8")
        assert chat(pilot).query_one(ContextPanel).display
        await pilot.press("f8", "h", "i", "f9")
        await until(pilot, lambda: lila.said == ["hi"])


async def test_ctrl_c_copies_then_clears_then_asks_then_quits(lila: FakeLila) -> None:
    clock = Clock()
    async with running(lila, clock=clock) as pilot:
        prompt(pilot).put("some words")
        prompt(pilot).select_all()
        await pilot.press("ctrl+c")
        assert pilot.app.clipboard == "some words"
        assert prompt(pilot).text == "some words"
        prompt(pilot).move_cursor((0, 0))
        await pilot.press("ctrl+c")
        assert prompt(pilot).text == ""
        await pilot.press("up")
        assert prompt(pilot).text == "some words"
        await pilot.press("ctrl+c")
        await pilot.press("ctrl+c")
        assert notifications(pilot)[-1] == "Press Ctrl+C again to quit."
        clock.now += 2.5
        await pilot.press("ctrl+c")
        assert pilot.app.is_running
        clock.now += 1.0
        await pilot.press("ctrl+c")
        await until(pilot, lambda: not pilot.app.is_running)


async def test_ctrl_c_copies_text_selected_in_the_transcript(lila: FakeLila) -> None:
    lila.script = [reply("some reply")]
    async with running(lila) as pilot:
        await say(pilot, "hello")
        await settled(pilot)
        chat(pilot).query_one(Transcript).text_select_all()
        await pilot.pause()
        await pilot.press("ctrl+c")
        assert "some reply" in pilot.app.clipboard
        assert pilot.app.is_running


async def test_ctrl_d_deletes_to_the_right_and_quits_only_when_empty(lila: FakeLila) -> None:
    async with running(lila) as pilot:
        prompt(pilot).put("ab")
        prompt(pilot).move_cursor((0, 0))
        await pilot.press("ctrl+d")
        assert prompt(pilot).text == "b"
        await pilot.press("ctrl+d", "ctrl+d")
        await until(pilot, lambda: not pilot.app.is_running)


async def test_the_panel_opens_by_itself_where_there_is_room(lila: FakeLila) -> None:
    async with running(lila, size=(120, 30)) as pilot:
        panel = chat(pilot).query_one(ContextPanel)
        assert panel.display
        await pilot.resize_terminal(100, 30)
        await pilot.pause()
        assert not panel.display
        await pilot.press("f3")
        assert panel.display
        assert chat(pilot).query_one(Transcript).size.width > 40
        await pilot.press("f3")
        await pilot.resize_terminal(140, 30)
        await pilot.pause()
        assert not panel.display


async def test_in_a_narrow_terminal_the_panel_covers_and_escape_only_closes_it(
    lila: FakeLila,
) -> None:
    lila.contexts.record = record()
    async with running(lila, size=(60, 20)) as pilot:
        await say(pilot, "hello")
        await settled(pilot)
        await pilot.press("f3")
        await pilot.pause()
        assert "1,512 of 2,048 tokens" in screen_text(pilot)
        assert "hello" not in screen_text(pilot).split("\n", 1)[1]
        await pilot.press("escape")
        await pilot.pause()
        assert not chat(pilot).query_one(ContextPanel).display
        assert notes(pilot) == []


async def test_the_palette_offers_what_the_keys_do(lila: FakeLila) -> None:
    lila.script = [reply("the **reply**")]
    async with running(lila) as pilot:
        app = pilot.app
        assert isinstance(app, LilaApp)
        commands = {command.title: command for command in app.get_system_commands(app.screen)}
        assert set(commands) == {
            "New conversation", "Talk", "Conversations", "Context", "Copy", "Help", "Theme", "Quit",
        }  # fmt: skip
        commands["Copy"].callback()
        await say(pilot, "hello")
        await settled(pilot)
        commands["Copy"].callback()
        assert app.clipboard == "the **reply**"


async def test_a_notification_is_never_read_as_markup(lila: FakeLila) -> None:
    async with make_app(lila).run_test(notifications=True) as pilot:
        pilot.app.notify("[/INST]", title="[b", markup=True)
        await pilot.pause()
        await until(pilot, lambda: "[/INST]" in screen_text(pilot))


async def test_a_link_of_the_model_is_opened_only_after_it_was_read(
    lila: FakeLila, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []
    lila.script = [reply("[click me](https://example.org/[x]) and [this](file:///etc/passwd)")]
    async with running(lila) as pilot:
        monkeypatch.setattr(pilot.app, "open_url", opened.append)
        await say(pilot, "hello")
        await settled(pilot)
        written = chat(pilot).query_one(Reply)
        written.post_message(Markdown.LinkClicked(written, "file:///etc/passwd"))
        await until(
            pilot, lambda: notifications(pilot) == ["LILA does not open file:///etc/passwd"]
        )
        for key in ("enter", "y"):
            assert opened == []
            written.post_message(Markdown.LinkClicked(written, "https://example.org/[x]"))
            await until(pilot, lambda: isinstance(pilot.app.screen, ConfirmScreen))
            await pilot.pause()
            assert "https://example.org/[x]" in screen_text(pilot)
            await pilot.press(key)
            await pilot.pause()
        assert opened == ["https://example.org/[x]"]
