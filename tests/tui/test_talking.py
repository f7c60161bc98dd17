from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import pytest
from textual.pilot import Pilot

from lila_app.errors import SoundError
from lila_app.voice.model import Phase
from lila_app.voice.session import View
from tests.tui.driving import (
    chat,
    notes,
    notifications,
    prompt,
    running,
    say,
    settled,
    turns,
    until,
)
from tests.tui.fake_lila import FakeLila, Hang, reply
from tests.tui.fake_talk import FakeTalk
from tests.tui.records import record


def voice(pilot: Pilot[None]) -> str:
    return chat(pilot)._model.status.voice


def view(talk: FakeTalk) -> View:
    assert talk.view is not None
    return talk.view


@asynccontextmanager
async def talking(lila: FakeLila, talk: FakeTalk) -> AsyncGenerator[Pilot[None], None]:
    async with running(lila, voice=talk.voice()) as pilot:
        await pilot.press("f4")
        await until(pilot, lambda: talk.view is not None)
        yield pilot


async def test_what_is_spoken_appears_as_turns_of_the_conversation(lila: FakeLila) -> None:
    talk = FakeTalk()
    lila.contexts.record = record()
    async with talking(lila, talk) as pilot:
        view(talk).heard(1, "What is", False)
        view(talk).heard(1, "What is the capital of Portugal?", True)
        talk.session = "s9"
        view(talk).said(1, "It is Lisbon.")
        view(talk).said(1, "On the Tagus.")
        view(talk).answered(1)
        await until(pilot, lambda: len(turns(pilot)) == 1 and bool(turns(pilot)[0].exchange.reply))
        shown = turns(pilot)[0].exchange
        assert shown.user == "What is the capital of Portugal?"
        assert shown.reply == "It is Lisbon. On the Tagus."
        assert not shown.stopped
        assert chat(pilot)._model.session_id == "s9"
        assert chat(pilot)._model.title == "What is the capital of Portugal?"
        await until(pilot, lambda: ("last", "s9") in lila.contexts.asked)


async def test_an_interrupted_reply_keeps_what_was_heard_and_says_so(lila: FakeLila) -> None:
    talk = FakeTalk()
    async with talking(lila, talk) as pilot:
        view(talk).heard(3, "Tell me about Lisbon.", True)
        view(talk).said(3, "Lisbon lies on the Tagus and is very old.")
        view(talk).interrupted(3, "Lisbon lies on")
        await until(pilot, lambda: bool(turns(pilot)) and turns(pilot)[0].exchange.stopped)
        assert turns(pilot)[0].exchange.reply == "Lisbon lies on"


async def test_who_goes_on_has_one_turn_with_all_their_words(lila: FakeLila) -> None:
    talk = FakeTalk()
    async with talking(lila, talk) as pilot:
        view(talk).heard(1, "I like tea.", True)
        view(talk).said(1, "Tea is")
        view(talk).heard(1, "I like tea.", False)
        view(talk).heard(1, "I like tea. And coffee.", True)
        view(talk).said(1, "Both are hot.")
        view(talk).answered(1)
        await until(pilot, lambda: bool(turns(pilot)) and bool(turns(pilot)[-1].exchange.reply))
        (turn,) = turns(pilot)
        assert turn.exchange.user == "I like tea. And coffee."
        assert turn.exchange.reply == "Both are hot."


async def test_what_cannot_be_shown_keeps_nothing_else_from_it_and_talking_ends(
    lila: FakeLila, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken(*_: object) -> None:
        raise ValueError("no room")

    talk = FakeTalk()
    async with talking(lila, talk) as pilot:
        monkeypatch.setattr(chat(pilot)._stage, "tell", broken)
        view(talk).told("the speaker is back", "")
        view(talk).heard(1, "I like tea.", True)
        view(talk).answered(1)
        await until(pilot, lambda: len(turns(pilot)) == 1)
        await pilot.press("f4")
        await until(pilot, lambda: talk.view is None and not voice(pilot))


async def test_words_that_are_taken_back_leave_no_turn(lila: FakeLila) -> None:
    talk = FakeTalk()
    async with talking(lila, talk) as pilot:
        view(talk).heard(1, "I like tea.", True)
        await until(pilot, lambda: len(turns(pilot)) == 1)
        view(talk).heard(1, "", True)
        await until(pilot, lambda: not turns(pilot))


async def test_the_key_ends_talking_and_the_status_says_what_goes_on(lila: FakeLila) -> None:
    talk = FakeTalk()
    async with talking(lila, talk) as pilot:
        assert voice(pilot) == "listening"
        view(talk).phase(Phase.LISTENING, True)
        assert voice(pilot) == "muted"
        view(talk).phase(Phase.HEARING, False)
        assert voice(pilot) == "hearing you"
        view(talk).phase(Phase.NO_MICROPHONE, False)
        assert voice(pilot) == "no microphone"
        view(talk).phase(Phase.LISTENING, False)
        assert voice(pilot) == "listening"
        await pilot.press("f4")
        await until(pilot, lambda: talk.view is None and not voice(pilot))
        assert talk.pressed == ["quit"]


async def test_escape_silences_lila_and_f8_mutes(lila: FakeLila) -> None:
    talk = FakeTalk()
    async with talking(lila, talk) as pilot:
        view(talk).phase(Phase.SPEAKING, False)
        await pilot.press("escape")
        await pilot.press("f8")
        assert talk.pressed == ["stop", "mute"]


async def test_without_a_microphone_the_cure_is_told_and_the_chat_goes_on(lila: FakeLila) -> None:
    talk = FakeTalk(failure=SoundError("there is no microphone", hint="plug one in"))
    lila.script = [reply("Hello.")]
    async with running(lila, voice=talk.voice()) as pilot:
        await pilot.press("f4")
        await until(pilot, lambda: any("no microphone" in one for one in notes(pilot)))
        assert any("Plug one in" in note for note in notes(pilot))
        await say(pilot, "still there?")
        await settled(pilot)
        assert turns(pilot)[-1].exchange.reply == "Hello."


async def test_what_is_typed_while_talking_stays_and_another_conversation_waits(
    lila: FakeLila,
) -> None:
    talk = FakeTalk()
    async with talking(lila, talk) as pilot:
        prompt(pilot).put("half a thought")
        view(talk).heard(1, "Good morning.", True)
        view(talk).answered(1)
        await until(pilot, lambda: len(turns(pilot)) == 1)
        assert prompt(pilot).text == "half a thought"
        await pilot.press("ctrl+n")
        await until(pilot, lambda: any("F4" in one for one in notifications(pilot)))
        assert len(turns(pilot)) == 1


async def test_leaving_ends_talking_first(lila: FakeLila) -> None:
    talk = FakeTalk()
    lila.script = [[Hang()]]
    async with talking(lila, talk) as pilot:
        await pilot.press("ctrl+q")
        await until(pilot, lambda: talk.view is None)
    assert talk.pressed == ["quit"]


async def test_the_model_and_session_of_the_chat_are_those_spoken_to(lila: FakeLila) -> None:
    id = lila.sessions.add("Ferries", ("When?", "At nine."))
    talk = FakeTalk(session=id)
    async with running(lila, session=id, voice=talk.voice()) as pilot:
        await until(pilot, lambda: chat(pilot)._model.session_id == id)
        await pilot.press("f4")
        await until(pilot, lambda: talk.view is not None)
        assert talk.opened[0].session == id


async def test_a_fetch_of_the_recogniser_is_told_and_can_be_stopped(lila: FakeLila) -> None:
    talk = FakeTalk()
    talk.notice = "LILA fetches whisper-base (145 MB)."
    async with running(lila, voice=talk.voice()) as pilot:
        chat(pilot)._talking._stop.set()
        await pilot.press("f4")
        await until(pilot, lambda: talk.view is not None)
        await pilot.press("f4")
        await until(pilot, lambda: not chat(pilot)._talking.active)


async def test_who_ends_it_while_it_is_opened_leaves_nothing_of_it_held(lila: FakeLila) -> None:
    talk = FakeTalk()
    talk.opening.clear()
    async with running(lila, voice=talk.voice()) as pilot:
        await pilot.press("f4")
        await until(pilot, lambda: talk.loaded)
        await pilot.press("f4")
        talk.opening.set()
        await until(pilot, lambda: not chat(pilot)._talking.active)
        assert talk.closed and talk.view is None
