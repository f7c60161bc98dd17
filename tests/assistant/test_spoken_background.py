"""What the background leaves alone while somebody speaks, and does afterwards."""

from __future__ import annotations

import asyncio
import threading
from contextlib import aclosing

import pytest

from lila_app import looking
from lila_app.assistant import Lila
from lila_app.events import Started, Uttered
from lila_app.storage import episodes, vectors
from lila_app.testing import FakeClock, Scripted, ScriptedProvider
from tests.assistant.test_afterwards import NUTS, Slow, embedded, known, left, of
from tests.waiting import PATIENCE, until


class Loaded(Slow):
    """Counts how often it is asked for, which is when a real one is loaded."""

    def __init__(self) -> None:
        super().__init__()
        self.loads = 0

    def load(self, said: object) -> Loaded:
        del said
        self.loads += 1
        return self


@pytest.fixture
def reader(monkeypatch: pytest.MonkeyPatch) -> Loaded:
    reader = Loaded()
    monkeypatch.setattr(looking, "_extractor", reader.load)
    monkeypatch.setattr(looking.Looking, "parses", True)
    return reader


def drained(lila: Lila) -> None:
    """Wait until all that waits in the background had its turn."""
    done = threading.Event()
    lila._resources.later(done.set)  # pyright: ignore[reportPrivateUsage]
    assert done.wait(PATIENCE)


def pending(lila: Lila) -> int:
    return vectors.pending_count(of(lila), "turns", embedded(lila))


def test_while_somebody_speaks_nothing_is_learned_and_nothing_embedded(
    lila: Lila, reader: Loaded
) -> None:
    with lila.spoken.quiet():
        session = lila.sessions.append(None, "user", NUTS).session_id
        lila.sessions.append(session, "assistant", "I see.")
        drained(lila)
        assert (reader.loads, reader.read, pending(lila), left(lila)) == (0, 0, 1, 1)
    until(lambda: left(lila) == 0 and pending(lila) == 0)


def test_two_who_are_quiet_are_waited_for_both(lila: Lila, reader: Loaded) -> None:
    with lila.spoken.quiet():
        with lila.spoken.quiet():
            session = lila.sessions.append(None, "user", NUTS).session_id
            lila.sessions.append(session, "assistant", "I see.")
        drained(lila)
        assert (reader.read, pending(lila)) == (0, 1)
    until(lambda: left(lila) == 0 and pending(lila) == 0)


def test_a_spoken_turn_is_not_prepared_for_while_it_is_answered(
    lila: Lila, reader: Loaded, provider: ScriptedProvider, clock: FakeClock
) -> None:
    provider.enqueue(Scripted(("I ", "see."), hangs=True))

    async def answered() -> str:
        uttered = Uttered(clock())
        async with aclosing(lila.turn(NUTS, use_case="voice", uttered=uttered)) as events:
            begun = await anext(events)
            assert isinstance(begun, Started)
            await anext(events)
            await asyncio.to_thread(drained, lila)
            assert (reader.loads, reader.read) == (0, 0)
        return begun.turn_id

    turn = asyncio.run(answered())
    drained(lila)
    assert known(lila) == [], "its words may still change"
    lila.spoken.settle(turn)
    until(lambda: known(lila) == ["the person allergic_to nuts"])


def test_what_was_said_last_is_learned_before_lila_closes(
    lila: Lila, reader: Loaded, provider: ScriptedProvider, clock: FakeClock
) -> None:
    provider.enqueue("I see.")

    async def answered() -> str:
        async with aclosing(lila.turn(NUTS, use_case="voice", uttered=Uttered(clock()))) as events:
            found = [event async for event in events]
        assert isinstance(found[0], Started)
        return found[0].turn_id

    lila.spoken.settle(asyncio.run(answered()))
    lila.close()
    assert known(lila) == ["the person allergic_to nuts"]


def test_nothing_of_a_turn_that_was_revised_is_learned_but_its_last_words(
    lila: Lila, reader: Loaded, provider: ScriptedProvider, clock: FakeClock
) -> None:
    provider.enqueue("What?", "I see.")

    async def say(text: str, revises: str = "") -> str:
        uttered = Uttered(clock(), revises)
        async with aclosing(lila.turn(text, use_case="voice", uttered=uttered)) as events:
            begun = await anext(events)
            async for _ in events:
                pass
        assert isinstance(begun, Started)
        return begun.turn_id

    turn = asyncio.run(say("I am allergic to cats."))
    drained(lila)
    assert asyncio.run(say(NUTS, turn)) == turn
    lila.spoken.settle(turn)
    until(lambda: episodes.waiting_count(of(lila)) == 0)
    assert known(lila) == ["the person allergic_to nuts"]
