"""What is learned after replies: before LILA closes, while nobody asks, in no turn's way."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from contextlib import aclosing

import pytest

from lila_app import afterwards, looking
from lila_app.assistant import Lila
from lila_app.memory.model import Extracted, Utterance
from lila_app.storage import episodes, memories, sessions, turns, vectors
from lila_app.storage.connection import Store
from lila_app.testing import ScriptedProvider
from tests.assistant.conftest import say
from tests.memory.saying import Reader
from tests.waiting import PATIENCE, SOON, until

NUTS = "I am allergic to nuts."


class Slow(Reader):
    """Reads like another, but takes its time for every text."""

    def __init__(self, reading: float = 0.0) -> None:
        self._reading = reading
        self.texts: list[str] = []

    @property
    def read(self) -> int:
        return len(self.texts)

    def extract(self, utterance: Utterance, known: Mapping[str, str]) -> Extracted:
        time.sleep(self._reading)
        self.texts.append(utterance.text)
        return super().extract(utterance, known)


Use = Callable[[Slow], Slow]


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> Use:
    def use(reader: Slow) -> Slow:
        monkeypatch.setattr(looking, "_extractor", lambda _: reader)
        monkeypatch.setattr(looking.Looking, "parses", False)
        return reader

    return use


def imported(store: Store, count: int) -> None:
    session = sessions.create(store, at="2026-01-01T08:00:00+00:00", use_case="chat").id
    for number in range(count):
        turns.append_message(
            store,
            session,
            "user",
            f"I like number{number}.",
            at="2026-01-01T08:00:00+00:00",
            external_id=str(number),
            origin="import:1",
        )


def left(lila: Lila) -> int:
    with Store.open(lila.home.profile_db(lila.profile)) as store:
        return episodes.waiting_count(store)


def known(lila: Lila) -> list[str]:
    with Store.open(lila.home.profile_db(lila.profile)) as store:
        return [row.text for row in memories.list_memories(store)]


def embedded(lila: Lila) -> str:
    return lila._resources.embedder.model_id  # pyright: ignore[reportPrivateUsage]


def of(lila: Lila) -> Store:
    return lila._resources.store  # pyright: ignore[reportPrivateUsage]


def test_what_was_said_is_learned_before_lila_closes(
    lila: Lila, provider: ScriptedProvider, reads: Use
) -> None:
    reads(Slow())
    provider.enqueue("I see.")
    say(lila, NUTS)
    lila.close()
    assert known(lila) == ["the person allergic_to nuts"]


def test_closing_waits_for_no_import_and_not_for_ever(
    lila: Lila, provider: ScriptedProvider, reads: Use, monkeypatch: pytest.MonkeyPatch
) -> None:
    reader = reads(Slow(reading=0.05))
    monkeypatch.setattr(looking, "PAUSE_SECONDS", PATIENCE)  # nothing is read before it closes
    monkeypatch.setattr(afterwards, "GRACE_SECONDS", 0.2)
    monkeypatch.setattr(afterwards, "LEARNING_SECONDS", 4.0)  # in which all would be 80 readings
    imported(of(lila), 100)
    for number in range(25):
        lila.sessions.append(None, "user", f"I like tea{number}.")
    provider.enqueue("I see.", "I see.")
    say(lila, NUTS)
    say(lila, "I like jazz.")
    begun = time.monotonic()
    lila.close()
    assert time.monotonic() - begun < 4 * SOON
    assert reader.read < 40
    assert "the person allergic_to nuts" in known(lila)
    assert left(lila) > 80


def test_a_command_that_says_nothing_learns_nothing_when_it_closes(lila: Lila, reads: Use) -> None:
    reader = reads(Slow())
    session = lila.sessions.append(None, "user", NUTS).session_id
    lila.sessions.append(session, "assistant", "I see.")
    lila.close()
    assert (reader.read, left(lila)) == (0, 1)


def test_an_open_chat_learns_what_waits_before_anything_is_said(
    lila: Lila, provider: ScriptedProvider, reads: Use
) -> None:
    reads(Slow())
    imported(of(lila), 20)
    lila.warm()
    until(lambda: episodes.waiting_count(of(lila)) == 0)
    until(lambda: vectors.pending_count(of(lila), "turns", embedded(lila)) == 0)


def test_while_a_model_answers_its_turn_is_prepared_for_and_no_import_is_read(
    lila: Lila, provider: ScriptedProvider, reads: Use, monkeypatch: pytest.MonkeyPatch
) -> None:
    reader = reads(Slow(reading=0.01))
    monkeypatch.setattr(looking, "PAUSE_SECONDS", 0.0)
    imported(of(lila), 80)
    lila.warm()
    until(lambda: reader.read > 4)
    provider.enqueue("I see.")

    async def answered() -> int:
        """How many texts are read while the reply goes on."""
        async with aclosing(lila.turn(NUTS)) as events:
            await anext(events)
            await anext(events)
            await asyncio.to_thread(until, lambda: NUTS in reader.texts)
            begun = reader.read
            await asyncio.sleep(0.3)
            return reader.read - begun

    assert asyncio.run(answered()) == 0
    until(lambda: episodes.waiting_count(of(lila)) == 0)
