"""The list of conversations: found, opened, renamed, forked, deleted."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from textual.pilot import Pilot
from textual.widgets import Input, OptionList

from lila_app.errors import StorageError
from lila_app.events import TextDelta
from lila_app.tui.screens.ask_line import AskLineScreen
from lila_app.tui.screens.chat import ChatScreen
from lila_app.tui.screens.confirm import ConfirmScreen
from lila_app.tui.screens.sessions import SessionsScreen
from lila_app.tui.widgets.title_bar import TitleBar
from lila_app.views import ForgetReport
from tests.tui.driving import (
    chat,
    notes,
    notifications,
    prompt,
    running,
    say,
    settled,
    state,
    turns,
    until,
)
from tests.tui.fake_lila import FakeLila, Hang


def fill(lila: FakeLila) -> None:
    lila.sessions.add("Trip to [Lisbon]", ("where to?", "To **Lisbon**."), ("when?", "In May."))
    lila.sessions.add("Tax", ("what is due?", "A form about the harbour fee."))


async def opened(pilot: Pilot[None]) -> SessionsScreen:
    await pilot.press("f2")
    await until(pilot, lambda: isinstance(pilot.app.screen, SessionsScreen))
    screen = pilot.app.screen
    assert isinstance(screen, SessionsScreen)
    await until(pilot, lambda: screen.query_one("#list", OptionList).option_count > 0)
    return screen


async def closed(pilot: Pilot[None]) -> None:
    await until(pilot, lambda: isinstance(pilot.app.screen, ChatScreen))
    await pilot.pause()


def listed(screen: SessionsScreen) -> list[str]:
    options = screen.query_one("#list", OptionList).options
    return [str(option.prompt) for option in options]


async def test_the_latest_come_first_and_enter_opens(lila: FakeLila) -> None:
    fill(lila)
    async with running(lila) as pilot:
        screen = await opened(pilot)
        assert listed(screen) == [
            "Tax\n1 turn · 2026-11-30 11:58",
            "Trip to [Lisbon]\n2 turns · 2026-11-30 11:58",
        ]
        await pilot.press("down", "enter")
        await closed(pilot)
        assert [turn.exchange.user for turn in turns(pilot)] == ["where to?", "when?"]
        assert chat(pilot).query_one(TitleBar).conversation == "Trip to [Lisbon]"
        await pilot.press("up")
        assert prompt(pilot).text == "when?"
        await say(pilot, "and then?")
        await settled(pilot)
        assert lila.said == ["and then?"]
        assert lila.warm_sessions == [None, "s1"]


async def test_search_finds_titles_and_what_was_said(lila: FakeLila) -> None:
    fill(lila)
    async with running(lila) as pilot:
        screen = await opened(pilot)
        await pilot.press(*"lisb")
        await until(pilot, lambda: len(listed(screen)) == 1)
        assert listed(screen)[0].startswith("Trip to [Lisbon]")
        screen.query_one("#search", Input).value = "harbour"
        await until(pilot, lambda: "what is due?" in listed(screen)[0])
        screen.query_one("#search", Input).value = "zeppelin"
        await until(pilot, lambda: listed(screen) == ["Nothing found"])
        await pilot.press("enter", "ctrl+x", "ctrl+r", "ctrl+f")
        assert pilot.app.screen is screen


async def test_rename_changes_the_list_and_the_title_of_the_open_one(lila: FakeLila) -> None:
    fill(lila)
    async with running(lila, session="s2") as pilot:
        screen = await opened(pilot)
        await pilot.press("ctrl+r")
        await until(pilot, lambda: isinstance(pilot.app.screen, AskLineScreen))
        pilot.app.screen.query_one(Input).value = "Taxes [2026]"
        await pilot.press("enter")
        await until(pilot, lambda: listed(screen)[0].startswith("Taxes [2026]  (open)"))
        await pilot.press("escape")
        await closed(pilot)
        assert chat(pilot).query_one(TitleBar).conversation == "Taxes [2026]"


async def test_fork_goes_on_in_a_copy(lila: FakeLila) -> None:
    fill(lila)
    async with running(lila) as pilot:
        await opened(pilot)
        await pilot.press("ctrl+f")
        await closed(pilot)
        await until(pilot, lambda: len(turns(pilot)) == 1)
        await say(pilot, "another way")
        await settled(pilot)
        assert lila.sessions.details["s3"].info.forked_from == "s2"


async def test_delete_asks_first_and_enter_is_no(lila: FakeLila) -> None:
    fill(lila)
    async with running(lila) as pilot:
        screen = await opened(pilot)
        await pilot.press("ctrl+x")
        await until(pilot, lambda: isinstance(pilot.app.screen, ConfirmScreen))
        await pilot.press("enter")
        await until(pilot, lambda: pilot.app.screen is screen)
        assert list(lila.sessions.details) == ["s1", "s2"]
        await pilot.press("ctrl+x")
        await until(pilot, lambda: isinstance(pilot.app.screen, ConfirmScreen))
        await pilot.press("y")
        await until(pilot, lambda: len(listed(screen)) == 1)
        assert list(lila.sessions.details) == ["s1"]


async def test_deleting_the_open_one_leaves_an_empty_conversation(lila: FakeLila) -> None:
    fill(lila)
    async with running(lila, session="s2") as pilot:
        screen = await opened(pilot)
        await pilot.press("ctrl+x")
        await until(pilot, lambda: isinstance(pilot.app.screen, ConfirmScreen))
        await pilot.press("y")
        await until(pilot, lambda: len(listed(screen)) == 1)
        await pilot.press("escape")
        await closed(pilot)
        await until(pilot, lambda: turns(pilot) == [])
        await say(pilot, "fresh")
        await settled(pilot)
        assert "s2" not in lila.sessions.details or not lila.sessions.details["s2"].turns


async def test_backups_that_still_hold_it_are_named(lila: FakeLila) -> None:
    fill(lila)
    delete = lila.sessions.delete

    def with_backup(id: str) -> ForgetReport:
        return replace(delete(id), backups=(Path("/backups/[old].db"),))

    lila.sessions.delete = with_backup  # type: ignore[method-assign]
    async with running(lila) as pilot:
        await opened(pilot)
        await pilot.press("ctrl+x")
        await until(pilot, lambda: isinstance(pilot.app.screen, ConfirmScreen))
        await pilot.press("y")
        await until(pilot, lambda: bool(notifications(pilot)))
        assert notifications(pilot) == ["It is still in these backups: /backups/[old].db"]


async def test_the_conversation_being_answered_is_neither_deleted_nor_left(
    lila: FakeLila,
) -> None:
    fill(lila)
    lila.script = [[TextDelta("half"), Hang()]]
    async with running(lila, session="s2") as pilot:
        await say(pilot, "go")
        await until(pilot, lambda: state(pilot) == "answering")
        await opened(pilot)
        await pilot.press("ctrl+x")
        await until(pilot, lambda: bool(notifications(pilot)))
        assert "stop it first" in notifications(pilot)[-1]
        await pilot.press("down", "enter")
        await closed(pilot)
        assert chat(pilot).query_one(TitleBar).conversation == "Tax"
        assert "stop it first" in notifications(pilot)[-1]
        assert lila.stopped == []


async def test_new_begins_an_empty_conversation_and_keeps_the_draft(lila: FakeLila) -> None:
    fill(lila)
    async with running(lila, session="s1") as pilot:
        prompt(pilot).put("draft")
        await pilot.press("ctrl+n")
        await until(pilot, lambda: turns(pilot) == [])
        assert prompt(pilot).text == "draft"
        await pilot.press("enter")
        await settled(pilot)
        assert list(lila.sessions.details) == ["s1", "s2", "s3"]


async def test_a_store_that_cannot_be_read_is_told_and_nothing_falls(lila: FakeLila) -> None:
    fill(lila)
    async with running(lila) as pilot:
        lila.sessions.failure = StorageError("the [store] is busy", hint="try again")
        await pilot.press("f2")
        await until(pilot, lambda: bool(notifications(pilot)))
        assert notifications(pilot) == ["the [store] is busy\ntry again"]
        await pilot.press("escape")
        await closed(pilot)


async def test_a_session_that_is_not_there_is_told_and_the_chat_is_open(lila: FakeLila) -> None:
    async with running(lila, session="s9") as pilot:
        await until(pilot, lambda: bool(notes(pilot)))
        assert notes(pilot) == ["Error: there is no session s9\nSee `lila sessions list`"]
        await say(pilot, "hello")
        await settled(pilot)
        assert turns(pilot)[-1].exchange.reply == "yes"
