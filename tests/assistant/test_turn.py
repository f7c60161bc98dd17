"""A turn from the person's words to the stored reply, and everything that may end it early."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from typing import Any

import pytest

from lila_app.assistant import Lila
from lila_app.context import ModelLimits
from lila_app.errors import LilaError, TruncatedReplyError, UnavailableError, UsageError
from lila_app.events import Done, Notice, Started, TextDelta, Usage
from lila_app.testing import Scripted, ScriptedProvider
from tests.assistant.conftest import Open, collect, say


def layer(record: dict[str, Any], name: str) -> dict[str, Any]:
    return next(entry for entry in record["layers"] if entry["name"] == name)


def test_a_turn_says_that_the_words_are_kept_then_streams_then_is_stored(
    lila: Lila, provider: ScriptedProvider
) -> None:
    provider.enqueue("Good morning to you.")
    events = asyncio.run(collect(lila, "Good morning"))
    assert isinstance(events[0], Started)
    assert "".join(e.text for e in events if isinstance(e, TextDelta)) == "Good morning to you."
    assert isinstance(events[-2], Usage)
    done = events[-1]
    assert done == Done("s1", "c1", False, "scripted/test")
    (turn,) = lila.sessions.show("s1").turns
    assert (turn.user, turn.reply, turn.stopped, turn.record_id, turn.model) == (
        "Good morning", "Good morning to you.", False, "c1", "scripted/test",
    )  # fmt: skip


def test_the_model_sees_exactly_the_recorded_prompt(lila: Lila, provider: ScriptedProvider) -> None:
    provider.enqueue("Noted.")
    say(lila, "The boat is called Cotovia.")
    sent = provider.requests[0]
    text = lila.contexts.text("c1")
    # The prompt is its messages under role lines, nothing between and nothing after.
    assert text == "".join(f"<|{m.role}|>\n{m.content}\n" for m in sent.messages)
    assert lila.contexts.show("c1")["bytes_sha256"] is not None


@pytest.mark.usefixtures("unhurried")
def test_a_preview_makes_the_bytes_the_turn_then_sends_and_writes_nothing(
    lila: Lila, provider: ScriptedProvider
) -> None:
    session = lila.sessions.create("x").id
    before = lila.db.check().counts
    preview = lila.preview("What is open?", session=session)
    assert lila.db.check().counts == before
    provider.enqueue("Nothing.")
    done = say(lila, "What is open?", session=session)
    assert lila.contexts.show(done.record_id)["bytes_sha256"] == preview.bytes_sha256


@pytest.mark.usefixtures("unhurried")
def test_turns_of_a_session_come_back_as_whole_messages_without_what_was_recalled(
    lila: Lila, provider: ScriptedProvider
) -> None:
    lila.memory.add("My boat is called Cotovia")
    provider.enqueue("Cotovia.", "You are welcome.")
    first = say(lila, "What is my boat called?")
    say(lila, "Thank you, and good night to the both of you down there",
        session=first.session_id)  # fmt: skip
    history = provider.requests[1].messages
    assert [(m.role, m.content) for m in history[1:3]] == [
        ("user", "What is my boat called?"),
        ("assistant", "Cotovia."),
    ]


def test_closing_the_stream_keeps_the_partial_reply_marked(
    lila: Lila, provider: ScriptedProvider
) -> None:
    provider.enqueue(Scripted(("one ", "two ", "three "), delay=0.01))

    async def stop_after_two() -> None:
        async with aclosing(lila.turn("Count")) as events:
            seen = 0
            async for event in events:
                seen += isinstance(event, TextDelta)
                if seen == 2:
                    return

    asyncio.run(stop_after_two())
    (turn,) = lila.sessions.show("s1").turns
    assert (turn.reply, turn.stopped) == ("one two ", True)
    assert provider.stopped == 1


def test_when_the_turn_is_closed_the_models_stream_is_too(
    lila: Lila, provider: ScriptedProvider
) -> None:
    provider.enqueue(Scripted(tuple("abcdef")))

    async def leave() -> int:
        events = lila.turn("Spell")
        async for event in events:
            if isinstance(event, TextDelta):
                break
        await events.aclose()
        return provider.stopped  # not some time later, when the loop may be gone

    assert asyncio.run(leave()) == 1


def test_cancelling_the_task_keeps_the_partial_reply_marked(
    lila: Lila, provider: ScriptedProvider
) -> None:
    provider.enqueue(Scripted(("one ", "two "), delay=0.05))

    async def cancelled() -> None:
        got = asyncio.Event()

        async def read() -> None:
            async with aclosing(lila.turn("Count")) as events:
                async for event in events:
                    if isinstance(event, TextDelta):
                        got.set()
                        await asyncio.sleep(30)

        task = asyncio.create_task(read())
        await got.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancelled())
    (turn,) = lila.sessions.show("s1").turns
    assert (turn.reply, turn.stopped) == ("one ", True)


@pytest.mark.usefixtures("impatient")
def test_a_provider_that_fails_leaves_the_words_and_no_reply(
    lila: Lila, provider: ScriptedProvider
) -> None:
    nobody = Scripted((), error=UnavailableError("nobody there", hint="start it"))
    provider.enqueue(nobody, nobody)
    with pytest.raises(UnavailableError):
        say(lila, "Hello?")
    (turn,) = lila.sessions.show("s1").turns
    assert (turn.user, turn.reply) == ("Hello?", None)


def test_a_stream_that_breaks_off_keeps_what_came_and_is_not_taken_for_whole(
    lila: Lila, provider: ScriptedProvider
) -> None:
    provider.enqueue(Scripted(("half ", "a "), whole=False))
    with pytest.raises(TruncatedReplyError):
        say(lila, "Go on")
    (turn,) = lila.sessions.show("s1").turns
    assert (turn.reply, turn.stopped) == ("half a ", True)


def test_the_turn_after_a_broken_one_is_told_that_the_reply_was_partial(
    lila: Lila, provider: ScriptedProvider
) -> None:
    provider.enqueue(Scripted(("half ",), whole=False), "All of it.")
    with pytest.raises(TruncatedReplyError):
        say(lila, "Go on")
    say(lila, "And now the rest of that story about the ferry please", session="s1")
    assert provider.requests[1].messages[2].content == "half  … (stopped here)"


@pytest.mark.usefixtures("impatient")
def test_every_attempt_is_in_the_ledger_failed_ones_too(
    lila: Lila, provider: ScriptedProvider
) -> None:
    from lila_app.storage import ledger
    from lila_app.storage.connection import Store

    provider.enqueue(
        Scripted((), error=UnavailableError("no")),
        Scripted(("a ", "b"), usage=Usage(9, 4, None, 2)),
    )
    say(lila, "One")
    with Store.open(lila.home.profile_db("default"), read_only=True) as store:
        rows = ledger.list_usage(store)
    assert [(r.finished, r.total, r.read, r.output) for r in rows] == [
        ("UnavailableError", None, None, None),
        ("stop", 9, 4, 2),
    ]


def test_a_prompt_too_large_for_the_model_is_assembled_again_from_the_same_candidates(
    open_again: Open, provider: ScriptedProvider
) -> None:
    # The model needs three tokens for each of LILA's words and admits to fewer than it takes.
    tight = ScriptedProvider(
        limits=ModelLimits(window=1_700, context_budget=1_600, token_ratio=10_500),
        count=lambda text: 3 * len(text.split()),
    )
    from lila_app.assistant import open_lila

    plain = open_again()
    for number in range(60):
        plain.memory.add(f"Note {number} on the ferry says that the ferry leaves at {number} past")
    with open_lila(plain.home.root, provider=tight) as lila:
        tight.enqueue("Done.")
        events = asyncio.run(collect(lila, "What do the notes on the ferry say?"))
        done = events[-1]
        assert isinstance(done, Done)
        notices = [event for event in events if isinstance(event, Notice)]
        record = lila.contexts.show(done.record_id)
        parent = lila.contexts.show(record["meta"]["parent_record_id"])
        first = lila.contexts.show("c1")
    assert notices, "the first prompt should not have fitted"
    assert record["token_budget"]["limit"] == parent["token_budget"]["limit"] * 3 // 4
    offered = [
        sorted(
            [i["id"] for entry in r["layers"] for i in entry["items"]]
            + [d["id"] for d in r["dropped_items"]]
        )
        for r in (record, first)
    ]
    assert offered[0] == offered[1]


@pytest.mark.parametrize(
    ("output", "said", "unsaid"),
    [
        (1_000, "reached its limit", "no more at once"),  # reply_reserve of a chat
        (320, "no more at once", "reply_reserve"),
        (None, "reached its limit", "no more at once"),
    ],
)
def test_a_reply_that_reached_its_limit_says_so_and_whose_limit_it_was(
    lila: Lila, provider: ScriptedProvider, output: int | None, said: str, unsaid: str
) -> None:
    used = Usage(total=100, output=output)
    provider.enqueue(Scripted(("on ", "and ", "on"), ended="length", usage=used))
    events = asyncio.run(collect(lila, "Go on and on"))
    (notice,) = [event for event in events if isinstance(event, Notice)]
    assert said in notice.text and unsaid not in notice.text
    assert not lila.sessions.show("s1").turns[0].stopped


def test_an_empty_message_and_an_unknown_use_case_are_refused_before_anything_is_written(
    lila: Lila,
) -> None:
    for text, use_case in (("  \n", "chat"), ("hello", "chatt")):
        with pytest.raises(UsageError) as caught:
            asyncio.run(collect(lila, text, use_case=use_case))
        assert caught.value.hint
    assert lila.sessions.list() == ()


def test_a_voice_turn_takes_none_of_the_five_layers_and_says_so(
    lila: Lila, provider: ScriptedProvider
) -> None:
    lila.memory.add("I live in Lisbon", kind="core")
    lila.goals.set("Finish the thesis")
    provider.enqueue("Ten past eight.")
    done = say(lila, "What time is it?", use_case="voice")
    record = lila.contexts.show(done.record_id)
    assert [(e["granted"], e["tokens"]) for e in record["layers"]] == [(0, 0)] * 5
    assert [b["name"] for b in record["blocks"]] == ["identity", "clock", "turn"]
    assert provider.requests[0].slot == "voice"


def test_profiles_share_nothing(open_again: Open, provider: ScriptedProvider) -> None:
    one, other = open_again("one"), open_again("other")
    one.memory.add("The password is heron", kind="core")
    one.goals.set("Guard the heron")
    text = other.preview("What is the password with the heron?").text
    assert "heron" not in text.replace("What is the password with the heron?", "")
    assert "Profile: other" in text


def test_an_untitled_session_is_named_after_its_first_message(
    lila: Lila, provider: ScriptedProvider
) -> None:
    provider.enqueue("Sure.")
    say(lila, "  Plan   the\nweek ahead")
    assert lila.sessions.list()[0].title == "Plan the week ahead"


def test_errors_are_sentences_with_a_hint(lila: Lila) -> None:
    for broken in (
        lambda: lila.sessions.show("s99"),
        lambda: lila.contexts.show("c99"),
        lambda: lila.memory.forget("m99"),
        lambda: lila.preview("x", now="2026-11-30T08:00:00"),
        lambda: lila.preview("x" * 1_000_001),
    ):
        with pytest.raises(LilaError) as caught:
            broken()
        assert caught.value.message and caught.value.hint
