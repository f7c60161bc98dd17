"""Scenes in which an assistant either knows you or has been introduced to you again.

Each goes through what a person does: they talk, LILA learns in its own time, they ask; what counts
is the prompt the assembler makes of it.
"""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from lila_app.assistant import Lila
from lila_app.context import Context
from lila_app.testing import FakeClock, ScriptedProvider
from tests.assistant.conftest import Open, say

CODE = (
    ("Why does this {0} fail?", "The {0} reads the list while it changes; copy it first."),
    ("Can you make the {0} shorter?", "Move the two branches of the {0} into a helper."),
    ("What does the {0} return when it is empty?", "Then the {0} returns None."),
    ("Add a type to the {0} please.", "Done: the {0} takes a Sequence of str now."),
    ("Is the {0} tested?", "There are two tests of the {0}, neither for an empty input."),
    ("Rename the {0} for me.", "The {0} has a verb in its name now."),
    ("How fast is the {0}?", "The {0} is linear in the number of rows."),
    ("Where is the {0} called from?", "Only the loader calls the {0}."),
    ("Should the {0} be async?", "The {0} waits for nothing, so no."),
    ("Explain the loop in the {0}.", "The {0} walks the queue until it is dry."),
)
THINGS = (
    *("parser", "iterator", "decorator", "migration", "regex"),
    *("scheduler", "serializer", "cache key", "retry", "router"),
)
"""Ten things to say about ten things: a hundred turns about code."""


def talk(
    lila: Lila, clock: FakeClock, lines: list[tuple[str, str]], session: str | None = None
) -> str:
    for said, answered in lines:
        session = lila.sessions.append(session, "user", said, at=clock()).session_id
        lila.sessions.append(session, "assistant", answered, at=clock())
        clock.advance(60)
    assert session is not None
    return session


WHY = (
    "I would look at its callers first, write the failing case down as a test, change one thing, "
    "and run everything again before the next; what is left over after that is most often a name "
    "that says something else than the code does."
)


def a_hundred_turns_of_code() -> list[tuple[str, str]]:
    return [
        (said.format(it), f"{answered.format(it)} {WHY}")
        for it in THINGS
        for said, answered in CODE
    ]


def learned(lila: Lila) -> None:
    lila.db.catch_up()
    lila.memory.learn()
    lila.db.catch_up()


def block(context: Context, name: str) -> str:
    return next((found.text for found in context.blocks if found.name == name), "")


def recalled(context: Context) -> str:
    return "".join(block(context, name) for name in ("profile", "memory", "graph", "documents"))


@pytest.mark.slow
def test_luna_the_cat_is_known_at_turn_102_after_a_hundred_turns_of_code(
    lila: Lila, clock: FakeClock
) -> None:
    opening = [("I own a cat named Luna.", "What a name for a cat.")]
    session = talk(lila, clock, [*opening, *a_hundred_turns_of_code()])
    learned(lila)
    context = lila.preview("What should I feed my pet?", session=session)
    assert "Luna" not in block(context, "conversation")
    assert "Luna" in recalled(context)


@pytest.mark.slow
def test_the_favourite_colour_is_known_six_months_later_in_another_session(
    lila: Lila, clock: FakeClock
) -> None:
    talk(lila, clock, [("My favourite colour is blue.", "Noted.")])
    talk(lila, clock, a_hundred_turns_of_code())
    learned(lila)
    clock.advance(182 * 86_400)
    talk(lila, clock, a_hundred_turns_of_code()[:10])
    learned(lila)
    context = lila.preview("What should I wear tonight, which colour?")
    assert "blue" in recalled(context)


def test_yesterdays_plan_and_todays_come_with_their_days_and_todays_first(
    lila: Lila, clock: FakeClock
) -> None:
    talk(lila, clock, [("My plan is to take the train to Faro on Saturday.", "Have fun.")])
    learned(lila)
    clock.advance(86_400)
    talk(lila, clock, [("Change of plan: my plan is now to drive to Braga on Saturday.", "Good.")])
    learned(lila)
    context = lila.preview("What is my current plan for Saturday?")
    lines = recalled(context).splitlines()
    (old,) = [place for place, line in enumerate(lines) if "Faro" in line]
    (new,) = [place for place, line in enumerate(lines) if "Braga" in line]
    assert "2026-11-30" in lines[old]
    assert "2026-12-01" in lines[new]
    assert new < old


def test_who_alexs_manager_is_follows_from_a_relation(lila: Lila, clock: FakeClock) -> None:
    talk(lila, clock, [("Alex reports to Sarah.", "I see."), ("Alex is an engineer.", "Right.")])
    talk(lila, clock, a_hundred_turns_of_code()[:30])
    learned(lila)
    context = lila.preview("Who is Alex's manager?")
    assert "Sarah" in block(context, "graph")


def test_a_prescription_answers_a_question_about_its_class(
    lila: Lila, clock: FakeClock, tmp_path: Path
) -> None:
    lab = tmp_path / "letter.md"
    lab.write_text("# Letter of March 2022\n\nMetoprolol 50 mg was prescribed in 2022.\n")
    lila.documents.ingest([lab])
    talk(lila, clock, [("Metoprolol is a beta blocker.", "It is.")])
    talk(lila, clock, [("Aspirin is a painkiller.", "It is.")])
    learned(lila)
    context = lila.preview("Has the patient ever taken Metoprolol or another beta blocker?")
    assert "beta blocker" in block(context, "graph").lower()
    assert "prescribed in 2022" in block(context, "documents")


def test_a_goal_set_twenty_turns_ago_stands_above_the_conversation(
    lila: Lila, clock: FakeClock, provider: ScriptedProvider
) -> None:
    session = talk(lila, clock, a_hundred_turns_of_code()[:1])
    lila.goals.set("Learn MLOps by spring", session)
    talk(lila, clock, a_hundred_turns_of_code()[1:21], session)
    provider.enqueue("Begin with the pipeline.")
    done = say(lila, "What should I do next?", session=session)
    (request,) = provider.requests
    sent = "\n".join(message.content for message in request.messages)
    assert sent.index("Learn MLOps by spring") < sent.index("What should I do next?")
    record = lila.contexts.show(done.record_id)
    (session_layer,) = [one for one in record["layers"] if one["name"] == "session"]
    assert [item["id"] for item in session_layer["items"]] == ["g1"]


@pytest.mark.parametrize("days", [1, 200])
def test_what_was_said_keeps_the_day_it_was_said_on(
    lila: Lila, clock: FakeClock, days: int
) -> None:
    said_at = clock()
    talk(lila, clock, [("Yesterday I signed the lease for the flat in Porto.", "Congratulations!")])
    clock.advance(days * 86_400)
    learned(lila)
    shown = recalled(lila.preview("When did I sign the lease for the flat?"))
    assert said_at.date().isoformat() in shown
    assert (said_at + timedelta(days=days)).date().isoformat() not in shown


def test_nothing_of_one_life_is_seen_in_another(open_again: Open, clock: FakeClock) -> None:
    one, other = open_again(), open_again("work")
    talk(one, clock, [("I own a cat named Luna.", "What a name.")])
    learned(one)
    learned(other)
    assert "Luna" not in other.preview("What is my cat called?").text
