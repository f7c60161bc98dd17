"""Sixty turns, and what `context replay` says of them whatever happens afterwards."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from pathlib import Path

import pytest

from lila_app.assistant import Lila
from lila_app.testing import FakeClock, ScriptedProvider
from tests.assistant.conftest import Open, say

TOPICS = (
    "the ferry to the hospital pier", "the wet wall in the kitchen", "the larch planks",
    "the school letter", "the vet and the right elbow", "the tide service",
)  # fmt: skip
OVERRIDE = "[chat]\nmemory = { cap = 900 }\n"


def talked(
    lila: Lila, provider: ScriptedProvider, clock: FakeClock, notes: Path, times: int = 60
) -> str:
    lila.documents.ingest([notes])
    session = lila.sessions.create("Sixty").id
    for number in range(times):
        topic = TOPICS[number % len(TOPICS)]
        if number % 5 == 0:
            lila.memory.add(f"Number {number}: {topic} was settled on day {number}.")
        if number == 30:
            lila.goals.set("Have the boat in the water by Easter")
        provider.enqueue(f"About {topic}: that was settled, as far as I know. " * 3)
        say(lila, f"Question {number}: what do we know about {topic} by now?", session=session)
        clock.advance(90)
    return session


def statuses(lila: Lila) -> dict[str, str]:
    return {f"c{n}": lila.contexts.replay(f"c{n}").status for n in range(1, 61)}


@pytest.mark.slow
def test_every_turn_replays_identically_until_something_in_it_is_forgotten(
    open_again: Open, provider: ScriptedProvider, clock: FakeClock, tmp_path: Path
) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "pier.md").write_text("# Pier\n\nThe hospital pier has a ferry every 20 minutes.\n")
    lila = open_again()
    session = talked(lila, provider, clock, notes)
    assert set(statuses(lila).values()) == {"identical"}

    lila.close()
    lila = open_again()
    assert set(statuses(lila).values()) == {"identical"}, "after a restart"

    (notes / "pier.md").write_text("# Pier\n\nThe hospital pier is closed.\n")
    report = lila.documents.ingest([notes])
    assert report.changed == 1
    assert set(statuses(lila).values()) == {"identical"}, "after a re-ingest"

    other = lila.memory.add("A secret about the lighthouse keeper of Cabo Raso")
    lila.memory.forget(other.id)
    assert set(statuses(lila).values()) == {"identical"}, "after forgetting something else"

    lila.home.policies_dir.joinpath("allocation.toml").write_text(OVERRIDE)
    old = str(lila.contexts.show("c60")["policy_hash"])
    new = str(lila.policy.show()["policy_hash"])
    replay = lila.contexts.replay("c60")
    assert (replay.status, replay.differences) == ("identical", (f"policy_hash {old} → {new}",))
    provider.enqueue("Under the new table.")
    done = say(lila, "And under the new table, what of the larch planks?", session=session)
    assert lila.contexts.show(done.record_id)["policy_hash"] == new
    assert lila.contexts.show(done.record_id)["meta"]["epoch"] == 2

    seen = [
        record
        for record in (lila.contexts.show(f"c{n}") for n in range(1, 61))
        if any(i["id"] == "m2" for entry in record["layers"] for i in entry["items"])
        or any(d["id"] == "m2" for d in record["dropped_items"])
    ]
    assert seen
    lila.memory.forget("m2")
    for record in seen:
        replay = lila.contexts.replay(record["meta"]["record_id"])
        assert (replay.status, replay.reason) == ("unreplayable", "erased")


def test_a_cut_is_one_event_and_between_cuts_the_prefix_only_grows(
    open_again: Open, provider: ScriptedProvider, clock: FakeClock, tmp_path: Path
) -> None:
    lila = open_again()
    lila.home.policies_dir.joinpath("allocation.toml").write_text(
        "[chat]\nconversation = { cap = 700 }\n"
    )
    (tmp_path / "notes").mkdir()
    session = talked(lila, provider, clock, tmp_path / "notes", times=40)
    breaks = 0
    previous = ""
    for request in provider.requests:
        # Everything but the last message is the prefix up to the last whole turn.
        prefix = "".join(f"<|{m.role}|>\n{m.content}\n" for m in request.messages[:-1])
        if previous and not prefix.startswith(previous):
            breaks += 1
        previous = prefix
    from lila_app.storage import cuts
    from lila_app.storage.connection import Store

    with Store.open(lila.home.profile_db("default"), read_only=True) as store:
        recorded = cuts.prefix_breaks(store, session)
    reasons = [entry.reason for entry in recorded]
    assert reasons.count("goal set") == 1
    # A cut is due after the turn; one that comes before it was made is forced ("overrun").
    assert reasons.count("window") + reasons.count("overrun") >= 3
    assert breaks == len(recorded)


def test_recalled_material_changes_between_turns_while_the_prefix_stands(
    open_again: Open, provider: ScriptedProvider, clock: FakeClock, tmp_path: Path
) -> None:
    (tmp_path / "notes").mkdir()
    lila = open_again()
    talked(lila, provider, clock, tmp_path / "notes", times=26)
    last = [request.messages[-1].content for request in provider.requests[20:26]]
    recalled = [content.partition("\nNow: ")[0] for content in last]
    assert len(set(recalled)) == len(recalled)


async def _half(lila: Lila, session: str) -> None:
    async with aclosing(lila.turn("Another question entirely", session=session)) as events:
        async for event in events:
            if type(event).__name__ == "TextDelta":
                return


def test_a_stopped_turn_replays_too(open_again: Open, provider: ScriptedProvider) -> None:
    lila = open_again()
    session = lila.sessions.create("Stopped").id
    provider.enqueue("one two three")
    asyncio.run(_half(lila, session))
    assert lila.contexts.replay("c1").status == "identical"
