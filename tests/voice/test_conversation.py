"""The assistant as the loop sees it: words that change, replies that are cut, clocks that stand."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest

from lila_app import beginning
from lila_app import turn as answering
from lila_app.afterwards import Afterwards
from lila_app.assistant import Lila, open_lila
from lila_app.errors import LilaError, UnavailableError
from lila_app.gateway.port import merged
from lila_app.testing import FakeClock, Scripted, ScriptedProvider
from lila_app.views import TurnInfo
from lila_app.voice import conversation as voice_conversation
from lila_app.voice.conversation import SpokenConversation
from tests.waiting import PATIENCE, until

AT = "2026-11-30T08:00:00+00:00"
Converse = Callable[..., SpokenConversation]


@pytest.fixture
def provider() -> ScriptedProvider:
    return ScriptedProvider()


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock(AT)


@pytest.fixture
def lila(
    home: Path, provider: ScriptedProvider, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Lila]:
    # The parser and the vectors take seconds, and are other tests'.
    monkeypatch.setattr(Afterwards, "_embed", lambda *_: None)
    with open_lila(home, provider=provider, clock=clock) as opened:
        opened._resources.learns = False
        yield opened


async def ask(conversation: SpokenConversation, turn: int, text: str, most: int = 99) -> str:
    """The reply, or its first pieces."""
    pieces: list[str] = []
    async with aclosing(conversation.ask(turn, text)) as reply:
        async for piece in reply:
            pieces.append(piece)
            if len(pieces) == most:
                break
    return "".join(pieces)


def kept(lila: Lila, conversation: SpokenConversation) -> tuple[TurnInfo, ...]:
    return lila.sessions.show(conversation.session or "").turns


def learnable(lila: Lila) -> list[int]:
    with lila._resources.store.read() as connection:
        return [row[0] for row in connection.execute("select learned from turns order by id")]


async def read_ahead(conversation: SpokenConversation) -> None:
    assert conversation._warming is not None
    await asyncio.wait_for(conversation._warming, PATIENCE)


async def test_a_spoken_turn_is_kept_like_any_other(lila: Lila, provider: ScriptedProvider) -> None:
    provider.enqueue("Paris.")
    conversation = SpokenConversation(lila)
    conversation.open(1)
    assert await ask(conversation, 1, "What is the capital of France?") == "Paris."
    await conversation.settle(1)
    await conversation.close()
    (turn,) = kept(lila, conversation)
    assert (turn.user, turn.reply, turn.stopped) == (
        "What is the capital of France?",
        "Paris.",
        False,
    )
    assert lila.sessions.list()[0].title == "What is the capital of France?"


async def test_asked_again_the_words_take_the_place_of_those_before(
    lila: Lila, provider: ScriptedProvider
) -> None:
    provider.enqueue(Scripted(("It ",), hangs=True), "Eight.")
    conversation = SpokenConversation(lila)
    conversation.open(1)
    await ask(conversation, 1, "What time is it", most=1)
    assert await ask(conversation, 1, "What time is it in Lisbon?") == "Eight."
    await conversation.close()
    (turn,) = kept(lila, conversation)
    assert (turn.user, turn.reply) == ("What time is it in Lisbon?", "Eight.")
    assert lila.sessions.list()[0].title == "What time is it in Lisbon?"
    assert provider.stopped == 1
    assert lila.db.check().problems == ()


async def test_asking_stops_the_reply_that_is_under_way(
    lila: Lila, provider: ScriptedProvider
) -> None:
    provider.enqueue(Scripted(("It ",), hangs=True), "Eight.")
    conversation = SpokenConversation(lila)
    conversation.open(1)
    first = conversation.ask(1, "What time")
    assert await anext(first) == "It "
    assert await ask(conversation, 1, "What time is it?") == "Eight."
    assert [piece async for piece in first] == [], "the earlier reply is over, without an error"
    await conversation.close()
    assert provider.stopped == 1
    assert [turn.reply for turn in kept(lila, conversation)] == ["Eight."]


async def test_a_reply_that_is_dropped_while_its_words_are_stored_leaves_no_second_turn(
    lila: Lila, provider: ScriptedProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    storing, go_on = threading.Event(), threading.Event()

    def slowly(*given: Any) -> object:
        storing.set()
        assert go_on.wait(PATIENCE)
        return beginning.begin(*given)

    monkeypatch.setattr(answering, "begin", slowly)
    provider.enqueue("Eight.", "Nine.")
    conversation = SpokenConversation(lila)
    conversation.open(1)
    early = asyncio.ensure_future(ask(conversation, 1, "What"))
    await asyncio.to_thread(storing.wait, PATIENCE)
    early.cancel()
    await asyncio.sleep(0)
    go_on.set()
    await asyncio.gather(early, return_exceptions=True)
    assert await ask(conversation, 1, "What time is it?")
    await conversation.close()
    assert [one.user for one in kept(lila, conversation)] == ["What time is it?"]
    assert len(lila.sessions.list()) == 1


async def test_what_nobody_said_is_taken_back(lila: Lila, provider: ScriptedProvider) -> None:
    provider.enqueue("Pardon?", "Paris.")
    conversation = SpokenConversation(lila)
    conversation.open(1)
    await ask(conversation, 1, "Thank you for watching")
    await conversation.withdraw(1)
    assert kept(lila, conversation) == ()
    conversation.open(2)
    await ask(conversation, 2, "The capital of France?")
    await conversation.close()
    assert [turn.user for turn in kept(lila, conversation)] == ["The capital of France?"]
    (session,) = lila.sessions.list()
    assert session.title == "The capital of France?", "it is not named after what nobody said"
    assert lila.db.check().problems == ()


async def test_withdrawing_what_was_never_asked_does_nothing(lila: Lila) -> None:
    conversation = SpokenConversation(lila)
    conversation.open(1)
    await conversation.withdraw(1)
    await conversation.withdraw(2)
    await conversation.close()
    assert conversation.session is None and lila.sessions.list() == ()


@pytest.mark.parametrize("heard", ["It is eight", ""])
async def test_of_an_interrupted_reply_what_was_heard_is_kept_and_marked(
    lila: Lila, provider: ScriptedProvider, heard: str
) -> None:
    provider.enqueue("It is eight o'clock in Lisbon.")
    conversation = SpokenConversation(lila)
    conversation.open(1)
    await ask(conversation, 1, "What time is it?", most=4)
    conversation.open(2)  # the next turn began while it was being spoken
    await conversation.heard(1, heard)
    await conversation.close()
    (turn,) = kept(lila, conversation)
    assert (turn.reply, turn.stopped) == (heard, True)


@pytest.mark.parametrize(
    ("heard", "seen"),
    [("It is eight", "It is eight … (stopped here)"), ("", "(no reply was given)")],
)
async def test_later_prompts_read_what_was_heard_and_that_it_broke_off(
    lila: Lila, provider: ScriptedProvider, heard: str, seen: str
) -> None:
    provider.enqueue("It is eight o'clock in Lisbon.", "Yes.")
    conversation = SpokenConversation(lila, continuity=True)
    conversation.open(1)
    await ask(conversation, 1, "What time is it?")
    await conversation.heard(1, heard)
    conversation.open(2)
    await ask(conversation, 2, "And in Porto?")
    await conversation.close()
    messages = merged(provider.requests[-1].messages)
    assert [message.content for message in messages if message.role == "assistant"] == [seen]


async def test_nothing_is_learned_before_the_next_turn_begins(
    lila: Lila, provider: ScriptedProvider
) -> None:
    provider.enqueue("Hm?", "Fine.")
    conversation = SpokenConversation(lila)
    conversation.open(1)
    await ask(conversation, 1, "My cat is called")
    await conversation.settle(1)
    assert learnable(lila) == [3], "the person may still go on"
    conversation.open(2)
    await asyncio.gather(*conversation._settling)
    assert learnable(lila) == [0]
    await ask(conversation, 2, "It is cold.")
    await conversation.close()
    assert learnable(lila) == [0, 0]


async def test_when_nobody_has_spoken_for_a_while_the_last_words_are_final(
    lila: Lila, provider: ScriptedProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(voice_conversation, "SPEAKING_SECONDS", 0.0)
    provider.enqueue("Fine.")
    conversation = SpokenConversation(lila)
    conversation.open(1)
    await ask(conversation, 1, "My cat is called Zuzu.")
    await conversation.settle(1)
    await asyncio.to_thread(until, lambda: learnable(lila) == [0])
    assert not lila._resources.afterwards._gives_way()
    await conversation.heard(1, "Fi")
    await conversation.close()
    assert [turn.reply for turn in kept(lila, conversation)] == ["Fi"]


async def test_who_speaks_on_for_long_after_an_early_reply_says_one_turn(
    lila: Lila, provider: ScriptedProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(voice_conversation, "SPEAKING_SECONDS", 0.0)
    provider.enqueue(Scripted(("I am sorry",), hangs=True), "Good.")
    conversation = SpokenConversation(lila)
    conversation.open(1)
    early = conversation.ask(1, "The vet says Zuzu")
    assert await anext(early) == "I am sorry"
    await early.aclose()
    await asyncio.sleep(0.05)  # time for what must not happen
    assert learnable(lila) == [3]
    await conversation.settle(1)
    await asyncio.to_thread(until, lambda: learnable(lila) == [0])
    conversation.open(2)
    provider.enqueue("Indeed.")
    await ask(conversation, 2, "Is it raining?")
    await conversation.settle(2)
    conversation.open(2)  # they go on
    await ask(conversation, 2, "Is it raining in Graz?")
    await conversation.close()
    assert [turn.user for turn in kept(lila, conversation)] == [
        "The vet says Zuzu", "Is it raining in Graz?"
    ]  # fmt: skip


async def test_what_a_killed_conversation_left_open_is_settled_by_the_next(
    lila: Lila, provider: ScriptedProvider, clock: FakeClock
) -> None:
    provider.enqueue("Hm?")
    killed = SpokenConversation(lila)
    killed.open(1)
    await ask(killed, 1, "My cat is called Zuzu.")
    clock.advance(300)
    following = SpokenConversation(lila)
    await following.start()
    assert learnable(lila) == [0]
    await following.close()
    await killed.close()


async def test_a_turns_clock_is_when_the_person_began_to_speak(
    lila: Lila, provider: ScriptedProvider, clock: FakeClock
) -> None:
    provider.enqueue("Hm?", "Eight.")
    conversation = SpokenConversation(lila)
    conversation.open(1)
    clock.advance(90)
    await ask(conversation, 1, "What")
    conversation.open(1)
    clock.advance(90)
    await ask(conversation, 1, "What time is it?")
    await conversation.close()
    assert kept(lila, conversation)[0].at == AT
    for request in provider.requests:
        assert request.messages[-1].content.startswith("Now: Monday 30 November 2026, 08:00")


@pytest.mark.parametrize("continuity", [False, True])
async def test_while_somebody_speaks_the_model_reads_everything_before_the_words(
    lila: Lila, provider: ScriptedProvider, clock: FakeClock, continuity: bool
) -> None:
    provider.enqueue("Eight.", "Nine.")
    conversation = SpokenConversation(lila, continuity=continuity)
    for turn, words in enumerate(("What time is it?", "And now?"), 1):
        clock.advance(61)  # the clock line is another one
        conversation.open(turn)
        await read_ahead(conversation)
        warmed, before = provider.warmed[-1], len(provider.requests)
        await ask(conversation, turn, words)
        (asked,) = provider.requests[before:]
        assert warmed.slot == asked.slot == "voice"
        assert [m.content for m in warmed.messages[:-1]] == [m.content for m in asked.messages[:-1]]
        assert asked.messages[-1].content == warmed.messages[-1].content + words
    await conversation.close()


async def test_reading_ahead_ends_when_the_words_are_there(
    lila: Lila, provider: ScriptedProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun = asyncio.Event()

    async def forever(request: object) -> None:
        begun.set()
        await asyncio.Event().wait()

    monkeypatch.setattr(provider, "warm", forever)
    provider.enqueue("Eight.")
    conversation = SpokenConversation(lila)
    conversation.open(1)
    await asyncio.wait_for(begun.wait(), PATIENCE)
    assert await ask(conversation, 1, "What time is it?") == "Eight."
    assert conversation._warming is not None and conversation._warming.cancelled()
    await conversation.close()


@pytest.mark.parametrize("continuity", [False, True])
async def test_the_record_says_what_a_spoken_turn_may_see(
    lila: Lila, provider: ScriptedProvider, continuity: bool
) -> None:
    provider.enqueue("Paris.", "Two million.")
    conversation = SpokenConversation(lila, continuity=continuity)
    for turn, words in enumerate(("The capital of France?", "How many live there?"), 1):
        conversation.open(turn)
        await ask(conversation, turn, words)
    await conversation.close()
    record = lila.contexts.show(kept(lila, conversation)[1].record_id or "")
    granted = {layer["name"]: layer["granted"] for layer in record["layers"]}
    assert list(granted) == ["session", "conversation", "memory", "graph", "rag"]
    assert (granted.pop("conversation") > 0) == continuity
    assert set(granted.values()) == {0}
    prompt = json.dumps([message.content for message in provider.requests[-1].messages])
    assert ("capital of France" in prompt) == continuity


async def test_a_failure_is_raised_the_words_are_kept_and_the_conversation_goes_on(
    lila: Lila, provider: ScriptedProvider
) -> None:
    gone = UnavailableError("the model is away", hint="wait")
    provider.enqueue(Scripted(("It ",), error=gone), "Eight.")
    conversation = SpokenConversation(lila)
    conversation.open(1)
    with pytest.raises(LilaError):
        await ask(conversation, 1, "What time is it?")
    conversation.open(2)
    assert await ask(conversation, 2, "And now?")
    await conversation.close()
    assert [turn.user for turn in kept(lila, conversation)] == ["What time is it?", "And now?"]


async def test_words_that_come_after_the_next_turn_began_are_a_turn_of_their_own(
    lila: Lila, provider: ScriptedProvider
) -> None:
    provider.enqueue("Hm?", "Eight.")
    conversation = SpokenConversation(lila)
    conversation.open(1)
    await ask(conversation, 1, "What time")
    conversation.open(2)
    await asyncio.gather(*conversation._settling)
    await ask(conversation, 1, "What time is it?")
    await conversation.close()
    assert [turn.user for turn in kept(lila, conversation)] == ["What time", "What time is it?"]


async def test_it_goes_on_with_a_session_and_leaves_its_window_alone(
    lila: Lila, provider: ScriptedProvider
) -> None:
    """A chat that somebody also speaks in keeps its window, which is larger than that of voice."""
    session = lila.sessions.append(None, "user", "Let us talk about bread.").session_id
    for number in range(30):
        lila.sessions.append(session, "user", f"{number}: " + "flour water salt yeast " * 12)
        lila.sessions.append(session, "assistant", "Knead it well. " * 12)
    provider.enqueue("Rye.")
    conversation = SpokenConversation(lila, session=session, continuity=True)
    conversation.open(1)
    assert await ask(conversation, 1, "Which flour?") == "Rye."
    await conversation.close()
    assert conversation.session == session
    with lila._resources.store.read() as connection:
        assert connection.execute("select count(*) from cuts").fetchone()[0] == 0


async def test_what_is_told_beside_a_reply_is_told_and_not_spoken(
    lila: Lila, provider: ScriptedProvider
) -> None:
    told: list[str] = []
    provider.enqueue(Scripted(("It is",), ended="length"))
    conversation = SpokenConversation(lila, told=told.append)
    conversation.open(1)
    assert await ask(conversation, 1, "What time is it?") == "It is"
    await conversation.close()
    assert len(told) == 1 and "ends here" in told[0]


async def test_background_work_waits_until_the_conversation_is_over(
    lila: Lila, provider: ScriptedProvider
) -> None:
    afterwards = lila._resources.afterwards
    provider.enqueue("Eight.")
    conversation = SpokenConversation(lila)
    assert not afterwards._gives_way()
    conversation.open(1)
    assert afterwards._gives_way(), "somebody speaks"
    await ask(conversation, 1, "What time is it?")
    assert afterwards._gives_way(), "the reply is being spoken"
    await conversation.close()
    assert not afterwards._gives_way()


async def test_a_reply_that_is_given_up_late_does_not_keep_the_background_waiting(
    lila: Lila, provider: ScriptedProvider
) -> None:
    provider.enqueue(Scripted(("It ",), hangs=True))
    conversation = SpokenConversation(lila)
    conversation.open(1)
    reply = conversation.ask(1, "What time is it?")
    assert await anext(reply) == "It "
    await conversation.close()
    await reply.aclose()
    assert not lila._resources.afterwards._gives_way()


async def test_closing_twice_is_safe_and_stops_a_reply(
    lila: Lila, provider: ScriptedProvider
) -> None:
    provider.enqueue(Scripted(("It ",), hangs=True))
    conversation = SpokenConversation(lila)
    conversation.open(1)
    reply = conversation.ask(1, "What time is it?")
    assert await anext(reply) == "It "
    await conversation.close()
    await conversation.close()
    assert provider.stopped == 1
    assert [(turn.reply, turn.stopped) for turn in kept(lila, conversation)] == [("It ", True)]
