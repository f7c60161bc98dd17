"""The screen over the real assistant and a real store; only the model follows a script."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager
from datetime import UTC
from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import OptionList

from lila_app.assistant import Lila, open_lila
from lila_app.errors import UnreachableError
from lila_app.paths import Home
from lila_app.testing import FakeClock, Scripted, ScriptedProvider
from lila_app.tui.app import LilaApp
from lila_app.tui.facade import Assistant
from lila_app.tui.screens.sessions import SessionsScreen
from lila_app.tui.widgets.status_line import StatusLine
from lila_app.tui.widgets.title_bar import TitleBar
from lila_app.tui.widgets.welcome import Welcome
from tests.memory.conftest import CAPABLE
from tests.tui.driving import (
    chat,
    notes,
    prompt,
    say,
    screen_text,
    settled,
    state,
    text_of,
    turns,
    until,
)


@pytest.fixture
def provider() -> ScriptedProvider:
    return ScriptedProvider()


@pytest.fixture
def lila(home: Path, provider: ScriptedProvider) -> Iterator[Lila]:
    with open_lila(home, provider=provider, clock=FakeClock()) as opened:
        yield opened


@asynccontextmanager
async def talking(
    lila: Assistant, *, session: str | None = None, size: tuple[int, int] = (120, 40)
) -> AsyncGenerator[Pilot[None], None]:
    # A model is named so that nothing is fetched: the scripted one answers whatever the name.
    app = LilaApp(lila, session=session, model="scripted/test", zone=UTC)
    async with app.run_test(size=size) as pilot:
        await until(pilot, lambda: len(chat(pilot).query(Welcome)) == 1)
        yield pilot


async def test_a_turn_is_stored_and_its_record_shown(
    lila: Lila, provider: ScriptedProvider
) -> None:
    provider.enqueue("A **bold** answer [/INST].")
    async with talking(lila) as pilot:
        await say(pilot, "hello [there]")
        await until(pilot, lambda: "context" in text_of(chat(pilot).query_one(StatusLine)))
        await settled(pilot)
        assert turns(pilot)[0].exchange.reply == "A **bold** answer [/INST]."
        assert "What the model saw" in screen_text(pilot)
    (session,) = lila.sessions.list()
    (turn,) = lila.sessions.show(session.id).turns
    assert (turn.user, turn.reply, turn.stopped) == (
        "hello [there]",
        "A **bold** answer [/INST].",
        False,
    )
    assert session.title == "hello [there]"


async def test_a_name_a_model_gives_is_shown_and_listed_while_the_chat_is_open(
    home: Path, provider: ScriptedProvider
) -> None:
    place = Home.at(home)
    place.policies_dir.mkdir(parents=True, exist_ok=True)
    (place.policies_dir / "gateway.toml").write_text(CAPABLE)
    place.settings_file.write_text("[memory]\nuse_model = true\nlearn = false\n")
    provider.enqueue("Dry it.", '{"title": "A leak [/INST] in the hull", "names": []}')
    with open_lila(home, provider=provider, clock=FakeClock()) as lila:
        async with talking(lila) as pilot:
            await say(pilot, "What do I do about water in the hull?")
            bar = chat(pilot).query_one(TitleBar)
            await until(pilot, lambda: bar.conversation == "A leak (/INST) in the hull")
            await pilot.press("f2")
            await until(pilot, lambda: isinstance(pilot.app.screen, SessionsScreen))
            listed = pilot.app.screen.query_one("#list", OptionList)
            await until(pilot, lambda: listed.option_count == 1)
            assert str(listed.options[0].prompt).startswith("A leak (/INST) in the hull  (open)")


async def test_escape_keeps_the_partial_reply_in_the_store(
    lila: Lila, provider: ScriptedProvider
) -> None:
    provider.enqueue(Scripted(tuple("abcdefghij"), delay=0.15))
    async with talking(lila) as pilot:
        await say(pilot, "go on")
        await until(pilot, lambda: state(pilot) == "answering")
        await pilot.press("escape")
        await until(pilot, lambda: state(pilot) == "stopped", 0.5)
        shown = turns(pilot)[0].exchange
    assert shown.stopped
    (session,) = lila.sessions.list()
    (turn,) = lila.sessions.show(session.id).turns
    assert turn.stopped
    assert turn.reply == shown.reply
    assert provider.stopped == 1


async def test_quitting_in_the_middle_keeps_the_partial_reply_in_the_store(
    lila: Lila, provider: ScriptedProvider
) -> None:
    provider.enqueue(Scripted(tuple("abcdefghij"), delay=0.15))
    async with talking(lila) as pilot:
        await say(pilot, "go on")
        await until(pilot, lambda: state(pilot) == "answering")
        await pilot.press("ctrl+q")
    (session,) = lila.sessions.list()
    (turn,) = lila.sessions.show(session.id).turns
    assert turn.stopped
    assert turn.reply


async def test_a_model_that_fails_leaves_the_words_in_the_store_and_the_prompt(
    lila: Lila, provider: ScriptedProvider
) -> None:
    provider.enqueue(Scripted((), error=UnreachableError("nothing answered", hint="start it")))
    async with talking(lila) as pilot:
        await say(pilot, "are you there?")
        await until(pilot, lambda: bool(notes(pilot)))
        assert notes(pilot) == ["Error: nothing answered\nStart it."]
        assert prompt(pilot).text == "are you there?"
    (session,) = lila.sessions.list()
    assert [turn.user for turn in lila.sessions.show(session.id).turns] == ["are you there?"]


async def test_while_the_model_reads_the_panel_shows_what_it_reads(
    lila: Lila, provider: ScriptedProvider
) -> None:
    provider.enqueue(Scripted(("late",), delay=3.0))
    async with talking(lila) as pilot:
        await say(pilot, "slowly please")
        await until(pilot, lambda: "all layers: slowly please" in screen_text(pilot))
        assert state(pilot) == "reading"
        await pilot.press("escape")


async def test_an_earlier_conversation_is_found_by_what_was_said_and_goes_on(
    lila: Lila, provider: ScriptedProvider
) -> None:
    provider.enqueue("To the harbour.", "In May.")
    async with talking(lila) as pilot:
        await say(pilot, "where shall we go?")
        await until(pilot, lambda: len(lila.sessions.list()) == 1)
        await settled(pilot)
        await pilot.press("ctrl+n")
        await until(pilot, lambda: turns(pilot) == [])
        await pilot.press("f2")
        await until(pilot, lambda: isinstance(pilot.app.screen, SessionsScreen))
        await pilot.press(*"harbour")
        shown = pilot.app.screen.query_one("#list", OptionList)
        await until(pilot, lambda: "“where shall we go?”" in str(shown.options[0].prompt))
        await pilot.press("enter")
        await until(pilot, lambda: len(turns(pilot)) == 1)
        await say(pilot, "and when?")
        await until(pilot, lambda: len(turns(pilot)) == 2)
        await settled(pilot)
    (session,) = lila.sessions.list()
    assert [turn.reply for turn in lila.sessions.show(session.id).turns] == [
        "To the harbour.",
        "In May.",
    ]
