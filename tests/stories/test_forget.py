"""Forgetting, looked for in every byte LILA keeps."""

from __future__ import annotations

from pathlib import Path

from lila_app.assistant import Lila
from lila_app.testing import ScriptedProvider
from tests.assistant.conftest import Open, say
from tests.traces import holding

SECRET = "The strongbox opens with Quokka-4711, under the third flagstone."
TELLING = ("quokka", "4711", "flagstone")


def remembered(lila: Lila, provider: ScriptedProvider) -> str:
    """A memory that was recalled, repeated in a reply, and is in records and vectors."""
    memory = lila.memory.add(SECRET)
    lila.memory.add("The ferry leaves at ten past eight.")
    provider.enqueue("It opens with Quokka-4711.", "At ten past eight.")
    say(lila, "How does the strongbox open?")
    say(lila, "When does the ferry leave in the morning, by the way?")
    assert lila.memory.search("strongbox")
    return memory.id


def test_no_byte_of_a_forgotten_memory_is_left_anywhere(
    open_again: Open, provider: ScriptedProvider, home: Path
) -> None:
    lila = open_again()
    id = remembered(lila, provider)
    assert holding(home, TELLING), "the test would find it if it were there"
    report = lila.memory.forget(id)
    assert id in report.erased
    assert report.records == ("c1",) or "c1" in report.records
    assert report.turns == ("t1",)
    assert holding(home, TELLING) == []
    lila.close()
    assert holding(home, TELLING) == [], "after closing, the log of the database is folded in"


def test_after_forgetting_the_chain_verifies_and_the_rest_is_as_it_was(
    open_again: Open, provider: ScriptedProvider
) -> None:
    lila = open_again()
    id = remembered(lila, provider)
    lila.memory.forget(id)
    assert lila.db.check().problems == ()
    assert [memory.text for memory in lila.memory.list()] == ["The ferry leaves at ten past eight."]
    replay = lila.contexts.replay("c1")
    assert (replay.status, replay.reason) == ("unreplayable", "erased")
    assert lila.contexts.show("c1")["bytes_sha256"] is None
    (turn,) = lila.sessions.show("s1").turns
    assert turn.user == "How does the strongbox open?"
    assert turn.reply == "[forgotten]"


def test_the_persons_own_words_that_touch_on_it_are_named_and_left(
    open_again: Open, provider: ScriptedProvider
) -> None:
    lila = open_again()
    memory = lila.memory.add("My xylophone is called Quagmire")
    provider.enqueue("It is called Quagmire.")
    done = say(lila, "What is my xylophone called, I forgot?")
    report = lila.memory.forget(memory.id)
    (turn,) = lila.sessions.show(done.session_id).turns
    assert (turn.user, turn.reply) == ("What is my xylophone called, I forgot?", "[forgotten]")
    assert report.remaining == (turn.id,)


def test_a_forgotten_memory_does_not_come_back_through_background_work(
    open_again: Open, provider: ScriptedProvider, home: Path
) -> None:
    lila = open_again()
    memory = lila.memory.add(SECRET)
    lila.memory.forget(memory.id)
    lila.close()
    lila = open_again()
    lila.memory.search("strongbox")
    lila.close()
    assert holding(home, TELLING) == []
