"""A turn when models fail: somebody answers, or what came is kept, and all is accounted for."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest

from lila_app.assistant import Lila, open_lila
from lila_app.context import ModelLimits
from lila_app.embedding.port import Embedder
from lila_app.errors import (
    AuthenticationError,
    ContextTooLarge,
    LilaError,
    MissingKeyError,
    RateLimitedError,
    RequestRefusedError,
    SpendLimitError,
    TimedOutError,
    TruncatedReplyError,
    UnavailableError,
    UnreachableError,
    UsageError,
)
from lila_app.events import Done, Notice, Started, TextDelta, TurnEvent
from lila_app.gateway.port import Call
from lila_app.paths import Home
from lila_app.storage import events, ledger
from lila_app.storage.connection import Store
from lila_app.testing import FakeClock, Scripted, ScriptedProvider
from tests.assistant.conftest import collect, say

LARGE = ModelLimits(window=100_000, context_budget=8_000)
SMALL = ModelLimits(window=4_096, context_budget=700)
DOWN = Scripted((), error=UnavailableError("the first is down", hint="wait"))

pytestmark = pytest.mark.usefixtures("impatient")

OpenChain = Callable[..., Lila]


@pytest.fixture
def open_chain(home: Path, clock: FakeClock, embedder: Embedder) -> Iterator[OpenChain]:
    opened: list[Lila] = []

    def open_one(*chain: ScriptedProvider) -> Lila:
        lila = open_lila(home, provider=chain, clock=clock, embedder=embedder)
        opened.append(lila)
        return lila

    yield open_one
    for lila in opened:
        lila.close()


def model(name: str, *replies: str | Scripted, limits: ModelLimits = LARGE) -> ScriptedProvider:
    return ScriptedProvider(*replies, name=name, limits=limits)


def attempts(lila: Lila) -> list[tuple[str, str, str | None]]:
    """Model, outcome and record of every call, in order."""
    with Store.open(lila.home.profile_db("default"), read_only=True) as store:
        return [(row.model, row.finished, row.record_id) for row in ledger.list_usage(store)]


def unhurried(lila: Lila, text: str) -> list[TurnEvent]:
    """A turn that waits for every layer, however busy the machine is."""

    async def run() -> list[TurnEvent]:
        async with aclosing(lila.turn(text, now="2026-11-30T09:00:00+00:00")) as happening:
            return [event async for event in happening]

    return asyncio.run(run())


def notices(happened: Sequence[TurnEvent]) -> list[str]:
    return [event.text for event in happened if isinstance(event, Notice)]


def failing(lila: Lila, text: str, kind: type[LilaError]) -> tuple[LilaError, str]:
    """The error of a turn, and what came of the reply before it."""
    came: list[str] = []

    async def run() -> None:
        async with aclosing(lila.turn(text)) as happening:
            async for event in happening:
                if isinstance(event, TextDelta):
                    came.append(event.text)

    with pytest.raises(kind) as caught:
        asyncio.run(run())
    return caught.value, "".join(came)


@pytest.mark.parametrize(
    ("error", "times"),
    [
        (UnavailableError("it failed on its side"), 2),
        (TruncatedReplyError("it broke off"), 2),
        (TimedOutError("it said nothing"), 1),
        (UnreachableError("nobody is there"), 1),
        (RateLimitedError("it asks to wait", retry_after=900), 1),
        (SpendLimitError("no money is left"), 1),
        (AuthenticationError("it refused the key"), 1),
        (RequestRefusedError("it knows no such model"), 1),
    ],
)
def test_before_the_first_token_the_next_answers_and_everybody_is_told(
    open_chain: OpenChain, error: LilaError, times: int
) -> None:
    first = model("a/one", *[Scripted((), error=error)] * times)
    second = model("b/two", "Good morning.")
    lila = open_chain(first, second)
    happened = asyncio.run(collect(lila, "Good morning"))
    assert happened[-1] == Done("s1", "c1", False, "b/two")
    assert notices(happened) == [f"{error}; b/two answers"]
    (turn,) = lila.sessions.show("s1").turns
    assert (turn.reply, turn.stopped, turn.model) == ("Good morning.", False, "b/two")
    failed = type(error).__name__
    assert [(call.model, call.outcome) for call in lila.contexts.calls("c1")] == [
        *[("a/one", failed)] * times,
        ("b/two", "stop"),
    ]
    assert attempts(lila) == [("one", failed, "c1")] * times + [("two", "stop", "c1")]


def test_equal_limits_give_equal_bytes_whoever_answers_and_whoever_answered_last(
    open_chain: OpenChain,
) -> None:
    first, second = model("a/one", DOWN, DOWN, "Well again."), model("b/two", "Me.")
    lila = open_chain(first, second)
    say(lila, "Who is there?")
    assert second.requests[0].messages == first.requests[0].messages
    preview = lila.preview("And now?", session="s1")
    done = say(lila, "And now?", session="s1")
    assert done.model == "a/one"
    assert lila.contexts.show(done.record_id)["bytes_sha256"] == preview.bytes_sha256
    # The history begins with the same bytes: what the other said is a turn like any other.
    before = [m.content for m in first.requests[0].messages if m.role == "system"]
    assert [m.content for m in first.requests[2].messages if m.role == "system"] == before
    assert {r.cache.epoch for r in (*first.requests, *second.requests)} == {1}


def test_after_the_first_token_the_partial_is_kept_marked_and_offered_to_be_asked_again(
    open_chain: OpenChain,
) -> None:
    first = model("a/one", Scripted(("half ", "a "), error=UnavailableError("reset")))
    second = model("b/two", "Never.")
    lila = open_chain(first, second)
    error, came = failing(lila, "Tell me a story", UnavailableError)
    assert came == "half a "
    assert error.hint.endswith("`lila ask --retry --session s1` asks again")
    assert second.requests == []
    (turn,) = lila.sessions.show("s1").turns
    assert (turn.reply, turn.stopped, turn.model) == ("half a ", True, "a/one")
    assert attempts(lila) == [("one", "UnavailableError", "c1")]


def test_a_stall_after_the_first_token_ends_in_an_honest_partial(open_chain: OpenChain) -> None:
    lila = open_chain(model("a/one", Scripted(("half ",), hangs=True)), model("b/two"))
    error, came = failing(lila, "Tell me a story", TimedOutError)
    assert (came, str(error)) == ("half ", "a/one fell silent for 1 s")
    assert lila.sessions.show("s1").turns[0].stopped


def test_a_model_with_lower_limits_gets_the_same_candidates_in_a_linked_record(
    open_chain: OpenChain,
) -> None:
    first = model("a/one", DOWN, DOWN)
    floor = model("embedded/small", "In short.", limits=SMALL)
    lila = open_chain(first, floor)
    for number in range(60):
        lila.memory.add(f"Note {number} on the ferry says that the ferry leaves at {number} past")
    happened = unhurried(lila, "What do the notes on the ferry say?")
    assert happened[-1] == Done("s1", "c2", False, "embedded/small")
    assert notices(happened) == ["the first is down; embedded/small answers"]
    record, parent = lila.contexts.show("c2"), lila.contexts.show("c1")
    assert record["meta"]["parent_record_id"] == "c1"
    assert (parent["token_budget"]["limit"], record["token_budget"]["limit"]) == (8_000, 700)
    assert record["token_budget"]["used"] <= 700 < parent["token_budget"]["used"]
    assert _offered(record) == _offered(parent)
    assert record["meta"]["epoch"] == parent["meta"]["epoch"]
    assert attempts(lila) == [("one", "UnavailableError", "c1")] * 2 + [("small", "stop", "c2")]
    assert [replay.status for replay in map(lila.contexts.replay, ("c1", "c2"))] == [
        "identical",
        "identical",
    ]


def test_who_steps_in_is_offered_no_tools_that_the_chosen_model_was_not(
    open_chain: OpenChain,
) -> None:
    able = ModelLimits(window=4_096, context_budget=700, tools=True)
    floor = model("embedded/small", "In short.", "Yes.", limits=able)
    lila = open_chain(model("a/one", *[DOWN] * 3), floor)
    for number in range(60):
        lila.memory.add(f"Note {number} on the ferry says that the ferry leaves at {number} past")
    done = unhurried(lila, "What do the notes on the ferry say?")[-1]
    assert isinstance(done, Done) and done.record_id == "c2"
    # The second prompt fits as it is. With tools in one of the two it would be a silent toggle.
    assert say(lila, "Good", session="s1").model == "embedded/small"
    assert [request.tools for request in floor.requests] == [(), ()]


def test_a_model_with_lower_limits_that_can_take_the_prompt_gets_the_same_bytes(
    open_chain: OpenChain,
) -> None:
    first, floor = model("a/one", DOWN, DOWN), model("embedded/small", "Hi.", limits=SMALL)
    lila = open_chain(first, floor)
    done = say(lila, "Hello")
    assert (done.record_id, done.model) == ("c1", "embedded/small")
    assert floor.requests[0].messages == first.requests[0].messages


def test_who_steps_in_for_a_turn_does_not_shorten_the_conversation_for_good(
    open_chain: OpenChain,
) -> None:
    long = "The ferry leaves the island at noon, and the captain tells of it at length. " * 8
    first = model("a/one", *[long] * 6, DOWN, DOWN, "All of it.")
    floor = model("embedded/small", "In short.", limits=SMALL)
    lila = open_chain(first, floor)
    say(lila, "Tell me of the ferry, part 0")
    for number in range(1, 6):
        say(lila, f"Tell me of the ferry, part {number}", session="s1")
    assert say(lila, "What was part 0?", session="s1").model == "embedded/small"
    assert say(lila, "And part 1?", session="s1").model == "a/one"
    said = [message.content for message in first.requests[-1].messages]
    assert any("part 0" in text for text in said), "the conversation was cut for the small model"


def test_the_floor_answers_while_the_first_is_left_alone_and_the_record_says_who(
    open_chain: OpenChain, clock: FakeClock
) -> None:
    first = model("a/one", *[DOWN] * 3, "Back.")
    floor = model("embedded/small", *["Me."] * 5)
    lila = open_chain(first, floor)
    done = [say(lila, "One")]
    done += [say(lila, text, session="s1") for text in ("Two", "Three", "Four")]
    assert [one.model for one in done] == ["embedded/small"] * 4
    assert len(first.requests) == 3
    clock.advance(31)
    assert say(lila, "Five", session="s1").model == "a/one"


def test_another_process_knows_that_a_model_is_left_alone(open_chain: OpenChain) -> None:
    lila = open_chain(model("a/one", *[DOWN] * 3), model("embedded/small", *["Me."] * 2))
    say(lila, "One")
    say(lila, "Two")
    first = model("a/one")
    again = open_chain(first, model("embedded/small", "Me."))
    assert say(again, "Three").model == "embedded/small"
    assert first.requests == []


def test_when_nobody_answers_the_words_are_kept_and_the_last_error_is_told(
    open_chain: OpenChain,
) -> None:
    lila = open_chain(
        model("a/one", DOWN, DOWN), model("b/two", Scripted((), error=AuthenticationError("no")))
    )
    error, came = failing(lila, "Hello?", AuthenticationError)
    assert (str(error), came) == ("no", "")
    (turn,) = lila.sessions.show("s1").turns
    assert (turn.user, turn.reply) == ("Hello?", None)


def test_no_model_of_the_chain_can_take_the_words_and_that_is_said(open_chain: OpenChain) -> None:
    tiny = ModelLimits(window=300, context_budget=64)
    lila = open_chain(model("a/one", DOWN, DOWN), model("embedded/small", limits=tiny))
    error, _ = failing(lila, "Hello? " * 80, LilaError)
    assert error.hint
    assert lila.sessions.show("s1").turns[0].reply is None


def test_a_model_that_takes_less_than_it_says_is_asked_with_less_and_less(
    open_chain: OpenChain,
) -> None:
    refuses = Scripted((), error=ContextTooLarge("too large"))
    first = model("a/one", refuses, refuses, "Now.")
    lila = open_chain(first)
    for number in range(60):
        lila.memory.add(f"Note {number} on the ferry says that the ferry leaves at {number} past")
    done = say(lila, "What do the notes on the ferry say?")
    limits = [lila.contexts.show(id)["token_budget"]["limit"] for id in ("c1", "c2", "c3")]
    assert (done.record_id, limits) == ("c3", [8_000, 6_000, 4_500])


def test_who_steps_in_also_ends_the_turn_that_asks_for_tools(open_chain: OpenChain) -> None:
    able = ModelLimits(window=100_000, context_budget=8_000, tools=True)
    look = Scripted(("Let me see.",), calls=(Call("1", "memory_search", '{"query": "key"}'),))
    first = model("a/one", DOWN, DOWN, limits=able)
    second = model("b/two", look, "Ana has it.", limits=able)
    lila = open_chain(first, second)
    lila.memory.add("The spare key is with Ana")
    happened = asyncio.run(collect(lila, "Who has the spare key?"))
    done = happened[-1]
    assert isinstance(done, Done) and (done.model, done.stopped) == ("b/two", False)
    assert notices(happened) == ["the first is down; b/two answers"]
    assert len(first.requests) == 2
    assert attempts(lila)[2:] == [("two", "tools", "c1"), ("two", "stop", "c2")]


async def again(lila: Lila, session: str) -> list[TurnEvent]:
    async with aclosing(lila.retry(session)) as happening:
        return [event async for event in happening]


def test_an_unanswered_turn_is_asked_again_without_the_words_twice(open_chain: OpenChain) -> None:
    first = model("a/one", DOWN, DOWN, "Here.")
    lila = open_chain(first)
    failing(lila, "Where are you?", UnavailableError)
    happened = asyncio.run(again(lila, "s1"))
    assert happened[0] == Started("s1", "t1")
    assert isinstance(happened[-1], Done)
    (turn,) = lila.sessions.show("s1").turns
    assert (turn.user, turn.reply, turn.stopped) == ("Where are you?", "Here.", False)
    assert first.requests[2].messages == first.requests[1].messages


def test_a_partial_reply_is_asked_again_and_stays_while_that_fails(
    open_chain: OpenChain, clock: FakeClock
) -> None:
    half = Scripted(("half ",), whole=False)
    lila = open_chain(model("a/one", half, DOWN, DOWN, "All of it."))
    failing(lila, "Tell me", TruncatedReplyError)
    with pytest.raises(UnavailableError):
        asyncio.run(again(lila, "s1"))
    assert lila.sessions.show("s1").turns[0].reply == "half "
    clock.advance(31)  # three failures: it is left alone for a while
    asyncio.run(again(lila, "s1"))
    (turn,) = lila.sessions.show("s1").turns
    assert (turn.reply, turn.stopped) == ("All of it.", False)


def test_a_whole_reply_is_not_asked_again(open_chain: OpenChain) -> None:
    lila = open_chain(model("a/one", "Whole."))
    say(lila, "Hello")
    with pytest.raises(UsageError, match="nothing to ask again"):
        asyncio.run(again(lila, "s1"))
    with pytest.raises(UsageError, match="nothing was asked"):
        asyncio.run(again(lila, lila.sessions.create("x").id))


def test_another_model_begins_an_epoch_and_the_log_says_why(
    open_chain: OpenChain, home: Path
) -> None:
    lila = open_chain(model("a/one", "1", "2"))
    say(lila, "One")
    say(lila, "Two", session="s1")
    other = open_chain(model("b/two", "3"))
    say(other, "Three", session="s1")
    narrow = open_chain(model("b/two", "4", limits=SMALL))
    say(narrow, "Four", session="s1")
    path = Home.at(home).profile_db("default")
    with Store.open(path, read_only=True) as store, store.read() as connection:
        began = events.list_events(connection, kind="epoch_began")
    bodies: list[Any] = [event.body for event in began]
    assert [(body["number"], body["reason"]) for body in bodies] == [
        (1, "the session begins"),
        (2, "changed: model"),
        (3, "changed: limits"),
    ]


def test_a_chosen_model_without_its_key_is_passed_over_and_the_person_is_told(
    home: Path, embedder: Embedder, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    for variable in ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("LILA_MODEL", "anthropic/claude-sonnet-5-5")
    folder = Home.at(home).policies_dir
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "gateway.toml").write_text('[jobs]\nreply = ["ollama/other"]\n', encoding="utf-8")
    with open_lila(home, embedder=embedder, clock=clock) as lila:
        roster = lila._resources.roster  # pyright: ignore[reportPrivateUsage]
        chain = roster.chain()
        assert [provider.name for provider in chain] == [
            "anthropic/claude-sonnet-5-5",
            "ollama/other",
        ]
        with pytest.raises(MissingKeyError):
            asyncio.run(anext(chain[0].stream(None)))  # pyright: ignore[reportArgumentType]
        with pytest.raises(MissingKeyError):
            roster.chain("anthropic/claude-sonnet-5-5")
        assert chain[0].limits() == roster.table.limits_of("anthropic/claude-sonnet-5-5")


def _offered(record: dict[str, Any]) -> list[str]:
    """Ids of every candidate, taken or not."""
    taken = [item["id"] for entry in record["layers"] for item in entry["items"]]
    return sorted(taken + [item["id"] for item in record["dropped_items"]])
