"""From turns to facts to memories, over a real store, with a reader of plain sentences."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from lila_app.facade.explaining import why
from lila_app.memory.learning import Kept
from lila_app.storage import (
    changes,
    check,
    entities,
    episodes,
    facts,
    ledger,
    memories,
    merges,
    relations,
    sessions,
    turns,
)
from lila_app.storage.connection import Store
from lila_app.storage.driver import Connection
from lila_app.storage.ledger import UsageRow
from tests.memory.saying import Life, life, when
from tests.storage.builders import answered


@pytest.fixture
def person(tmp_path: Path) -> Iterator[Life]:
    with Store.open(tmp_path / "a.db") as store:
        yield life(store)
        assert check.check(store).problems == ()


def texts(person: Life, status: str = "current") -> list[str]:
    return [row.text for row in memories.list_memories(person.store) if row.status == status]


def elsewhere(person: Life) -> str:
    """Another session."""
    return sessions.create(person.store, at=when(1), use_case="chat", title="").id


def test_what_people_say_once_is_a_memory_at_once_and_the_rest_waits(person: Life) -> None:
    person.say("I am allergic to nuts. I like jazz.")
    assert texts(person) == ["the person allergic_to nuts"]
    waiting = facts.listed(person.store, stages=("candidate",))
    assert [row.value for row in waiting] == ["jazz"]


def test_a_preference_earns_its_place_on_a_second_day_and_not_on_the_same(person: Life) -> None:
    person.say("I like jazz.")
    person.say("I like jazz.", hour=20)
    assert texts(person) == []
    person.say("I like jazz.", 3)
    assert texts(person) == ["the person likes jazz"]
    (fact,) = facts.listed(person.store)
    assert len(facts.sightings(person.store, [fact.id])) == 3


def test_days_are_those_of_the_persons_own_clock(tmp_path: Path) -> None:
    with Store.open(tmp_path / "b.db") as store:
        person = life(store)
        # In June, 23:30 UTC is half past midnight of the next day in Lisbon.
        person.say("I like jazz.", 160, hour=12)
        person.say("I like jazz.", 160, hour=23)
        assert texts(person) == ["the person likes jazz"]


def test_remember_makes_a_memory_at_once(person: Life) -> None:
    person.say("Remember: I like jazz.")
    assert texts(person) == ["the person likes jazz"]


def test_lilas_replies_state_nothing(person: Life) -> None:
    person.say("Hello there.", reply="I live in Paris. I am allergic to nuts.")
    assert facts.listed(person.store) == []


def test_a_named_speakers_words_are_about_the_speaker(person: Life) -> None:
    person.say("I live in Oslo.", speaker="Nora", origin="import:a")
    (fact,) = facts.listed(person.store)
    assert (fact.subject, fact.speaker, fact.stage) == ("Nora", "Nora", "long_term")
    (relation,) = relations.all_relations(person.store)
    assert (relation.subject, relation.predicate, relation.object) == ("Nora", "lives_in", "Oslo")


def test_each_turn_is_looked_at_once(person: Life) -> None:
    turn = person.say("I like jazz.", learn=False)
    assert person.learn().turns == 1
    assert person.learn().turns == 0
    (fact,) = facts.listed(person.store)
    assert fact.source_turn == turn.id
    assert fact.span == (0, 11)


def test_a_turn_that_is_being_answered_waits_and_one_that_never_was_does_not(
    person: Life,
) -> None:
    person.say("Hello.")
    turns.begin(person.store, person.session, "I like tea", use_case="chat", at=when(0))
    assert person.learn().turns == 0
    turns.begin(person.store, person.session, "Hello again", use_case="chat", at=when(1))
    assert person.learn().turns == 1
    assert [row.value for row in facts.listed(person.store)] == ["tea"]


def test_times_are_kept_as_days_beside_the_words(person: Life) -> None:
    turn = person.say("I ran home yesterday.", 4)
    (one,) = episodes.of_turns(person.store, [turn.id])
    assert (turn.user[one.start : one.end], one.day_from) == ("yesterday", "2026-01-04")


def test_a_later_home_closes_the_one_before_and_keeps_it(person: Life) -> None:
    person.say("I live in Lisbon.")
    person.say("I live in Porto.", 40)
    old, new = facts.listed(person.store)
    assert (old.status, old.valid_to, old.superseded_by) == ("closed", "2026-02-10", new.id)
    assert (new.status, new.stage) == ("current", "core")
    first, second = memories.list_memories(person.store)
    assert (first.status, first.superseded_by, first.closed_at) == ("closed", "m2", when(40))
    assert second.kind == "core"
    was, now = relations.all_relations(person.store)
    assert (was.status, was.valid_to, now.status) == (
        "closed",
        "2026-02-10T00:00:00+00:00",
        "current",
    )


def test_two_homes_on_one_day_are_a_conflict_until_one_is_said_again(person: Life) -> None:
    person.say("I live in Lisbon.")
    person.say("I live in Porto.", hour=15)
    assert [row.status for row in facts.listed(person.store)] == ["conflict", "conflict"]
    assert len(texts(person, "conflict")) == 2
    person.say("I live in Porto.", 9)
    assert texts(person) == ["the person lives_in Porto"]
    assert texts(person, "closed") == ["the person lives_in Lisbon"]


def test_a_correction_on_the_same_day_replaces_as_if_never_held(person: Life) -> None:
    person.say("I live in Lisbon.")
    person.say("Correction: I live in Porto.", hour=15)
    old, new = facts.listed(person.store)
    assert (old.status, old.valid_to) == ("closed", "2026-01-01")
    assert new.status == "current"


def test_what_ended_is_closed_without_a_successor_and_known_to_have_ended(person: Life) -> None:
    person.say("I live in Lisbon.")
    person.say("I no longer live in Lisbon.", 8)
    old, new = facts.listed(person.store)
    assert (old.status, old.superseded_by, old.valid_to) == ("closed", None, "2026-01-09")
    assert (new.negated, new.status) == (True, "current")
    assert texts(person) == ["the person not lives_in Lisbon"]


def test_events_and_tastes_never_retire_each_other(person: Life) -> None:
    for day in range(4):
        person.say("I ran home. I like jazz. I like opera.", day)
    assert {row.status for row in facts.listed(person.store)} == {"current"}
    assert sorted(texts(person)) == [
        "the person did home",
        "the person likes jazz",
        "the person likes opera",
    ]


def test_somebody_elses_word_about_the_person_decides_nothing(person: Life) -> None:
    person.say("Nora lives in Oslo.")
    person.say("I live in Bergen.", 30, speaker="Nora", origin="import:a")
    assert [row.status for row in facts.listed(person.store)] == ["conflict", "conflict"]


def test_two_people_of_one_name_are_two(person: Life) -> None:
    person.say("My brother Sam lives far away: Sam lives in Oslo.")
    person.say("My colleague Sam lives far away: Sam lives in Kyiv.", 5)
    one, other = facts.listed(person.store)
    assert (one.subject, other.subject) == ("Sam", "Sam (colleague)")
    assert (one.status, other.status) == ("current", "current")
    person.say("Sam lives in Rome.", 9)
    assert {row.status for row in facts.listed(person.store)} == {"conflict"}


def test_what_comes_in_late_from_long_ago_is_history(person: Life) -> None:
    person.say("I live in Porto.", 100)
    person.say("I live in Lisbon.", 3, origin="import:a")
    now, then = facts.listed(person.store)
    assert (now.status, then.status, then.superseded_by) == ("current", "closed", now.id)
    assert texts(person) == ["the person lives_in Porto"]


def test_a_passing_state_is_said_anew_after_it_is_over(person: Life) -> None:
    person.say("I am tired.")
    person.say("I am tired.", 1)
    person.say("I am tired.", 90)
    assert [row.learned_at for row in facts.listed(person.store)] == [when(0), when(90)]


def test_what_a_reply_really_repeats_is_noted_as_a_use(person: Life) -> None:
    memory = person.keep("The bicycle's combination lock opens with 4711")
    seen = [(memory.id, memory.digest, memory.text)]
    person.say("Hello.")
    answered(person.store, person.session, "how do I open it?", "With 4711, I think.", seen)
    answered(person.store, person.session, "thanks!", "You are welcome.", seen)
    answered(person.store, person.session, "with 4711?", "Yes, with 4711.", seen)
    person.learn()
    assert [turn for turn, _ in facts.uses(person.store, memory.id)] == ["t2"]


def test_a_candidate_whose_turn_helps_replies_becomes_a_memory(person: Life) -> None:
    told = person.say("For dinner I like ceviche.")
    seen = [(told.id, told.digest, told.user)]
    for question in ("What is for dinner?", "and for dinner tomorrow?"):
        answered(person.store, elsewhere(person), question, "How about ceviche?", seen)
    person.learn()
    assert texts(person) == ["the person likes ceviche"]
    with person.store.read() as connection:
        known = why(connection, "m1")
    assert [one.turn_id for one in known.sources] == ["t1"]
    assert [one.turn_id for one in known.sightings] == ["t1"]
    assert [one.turn_id for one in known.uses] == ["t2", "t3"]


def test_what_was_said_in_the_same_conversation_helps_no_reply(person: Life) -> None:
    told = person.say("For dinner I like ceviche. I am allergic to nuts.")
    (nuts,) = memories.list_memories(person.store)
    seen = [(told.id, told.digest, told.user), (nuts.id, nuts.digest, nuts.text)]
    for question in ("What is for dinner?", "An allergy, dinner, ideas?"):
        answered(person.store, person.session, question, "Ceviche, no nuts.", seen)
    person.learn()
    assert (texts(person), facts.uses(person.store, nuts.id)) == ([nuts.text], [])


def test_a_reply_to_something_else_is_not_helped_by_what_it_repeats(person: Life) -> None:
    told = person.say("For dinner I like ceviche. I am allergic to nuts.")
    (nuts,) = memories.list_memories(person.store)
    seen = [(told.id, told.digest, told.user), (nuts.id, nuts.digest, nuts.text)]
    for question in ("Hello!", "Tell me of Tokyo."):
        answered(person.store, elsewhere(person), question, "Ceviche, no nuts.", seen)
    person.learn()
    assert (texts(person), facts.uses(person.store, nuts.id)) == ([nuts.text], [])


@pytest.mark.parametrize("ended", ["stopped", "length"])
def test_a_reply_that_did_not_end_by_itself_is_no_evidence(person: Life, ended: str) -> None:
    told = person.say("For dinner I like ceviche.")
    seen = [(told.id, told.digest, told.user)]
    for question in ("What is for dinner?", "and for dinner tomorrow?"):
        turn, record = answered(
            person.store, elsewhere(person), question, "Ceviche. Ceviche.", seen
        )
        if ended == "length":
            none = (None, None, None, None, None, None)
            call = UsageRow(when(0), record, "fake", "one", *none, "length")
            ledger.add_usage(person.store, call)
        else:
            with person.store.write() as connection:
                connection.execute("update turns set stopped = 1 where id = ?", (turn.id[1:],))
    person.learn()
    assert texts(person) == []


def test_a_given_memory_replaces_the_one_before_on_the_same_day(person: Life) -> None:
    first = person.keep("I live in Lisbon")
    second = person.keep("I live in Porto", hour=15)
    old = memories.get(person.store, first.id)
    assert (old.status, old.superseded_by) == ("closed", second.id)
    assert second.text == "I live in Porto"


def test_what_else_a_replaced_memory_said_lives_on(person: Life) -> None:
    person.keep("I live in Lisbon. I am allergic to nuts.")
    person.keep("I live in Porto", 5)
    assert sorted(texts(person)) == ["I live in Porto", "the person allergic_to nuts"]


def test_a_fact_that_is_given_again_in_other_words_is_told_by_those(person: Life) -> None:
    person.say("I am allergic to nuts.")
    kept = person.keep("I am allergic to nuts and carry a pen for it", 2)
    old, new = memories.list_memories(person.store)
    assert (old.superseded_by, new.id, new.kind) == (kept.id, kept.id, "core")


def test_a_fact_that_is_given_again_and_says_no_more_changes_nothing(person: Life) -> None:
    person.say("I am allergic to nuts.")
    (old,) = memories.list_memories(person.store)
    assert person.keep("Remember that I am allergic to nuts, please", 2) == old
    assert person.keep("the person allergic_to nuts", 3) == old
    assert memories.list_memories(person.store) == [old]


def test_what_is_given_in_the_same_words_twice_is_kept_once(person: Life) -> None:
    first = person.keep("The spare key hangs behind the boiler")
    assert person.keep("the spare key hangs behind the boiler.", 1) == first
    other = person.keep("The spare key hangs behind the blue boiler", 2)
    assert [row.id for row in memories.list_memories(person.store)] == [first.id, other.id]
    changes_ = changes.of(person.store, [first.id])
    assert [one.what for one in changes_] == ["kept"]


def test_what_is_over_or_yet_to_come_is_not_kept_already(person: Life) -> None:
    coming = person.keep("I am meeting Ana tomorrow")
    assert person.keep("Remember: I am meeting Ana tomorrow", 0, hour=15).id == coming.id
    assert person.keep("I am meeting Ana tomorrow", 9).id != coming.id


def test_what_was_replaced_can_be_given_again(person: Life) -> None:
    first = person.keep("I live in Lisbon")
    second = person.keep("I live in Porto", 5)
    third = person.keep("I live in Lisbon", 9)
    assert len({first.id, second.id, third.id}) == 3
    assert texts(person) == ["I live in Lisbon"]


def test_an_edit_and_what_is_read_in_it_later_are_taken_back_together(person: Life) -> None:
    first = person.keep("I live in Lisbon")
    new = Kept("The person lives in Porto", "fact", False, when(3))
    second = person.learner.keep(new, instead_of=first.id, later=True)
    person.learner.understand(second.id)
    done = changes.last(person.store)
    assert done is not None
    with person.store.write() as connection:
        changes.undo(connection, done, at=when(4))
    assert texts(person) == ["I live in Lisbon"]
    assert [one.status for one in facts.listed(person.store)] == ["current", "closed"]
    assert [one.status for one in relations.all_relations(person.store)] == ["current", "closed"]


def test_a_sentence_that_says_something_changed_marks_both_and_retires_none(
    person: Life,
) -> None:
    person.say("The choir rehearsal with the brass section starts at six.")
    person.say("Correction: the brass section choir rehearsal moved to seven.", 2)
    one, other = facts.listed(person.store)
    assert (one.status, other.status, one.predicate) == ("conflict", "conflict", "note")
    assert memories.list_memories(person.store) == []


def test_without_such_words_nothing_is_marked(person: Life) -> None:
    person.say("The choir rehearsal with the brass section was fun.")
    person.say("The choir rehearsal with the brass section was fun again, as every week.", 2)
    person.say("If the choir rehearsal with the brass section is moved to seven, I can't.", 3)
    assert facts.listed(person.store) == []


def test_a_given_memory_is_marked_by_what_says_it_changed(person: Life) -> None:
    memory = person.keep("The locksmith report for the harbour office is due on Monday")
    person.say("The harbour office locksmith report was pushed back to Friday.", 4)
    assert memories.get(person.store, memory.id).status == "conflict"


def test_the_store_says_what_the_log_says(person: Life) -> None:
    person.say("I live in Lisbon. I like jazz.")
    person.say("I live in Porto.", 40)
    connection: Connection
    with person.store.read() as connection:
        rows = connection.execute("select count(*) from events where kind = 'fact_learned'")
        assert rows.fetchone()[0] == 3


def test_what_a_memory_states_can_be_taken_in_later(person: Life) -> None:
    first = person.keep("I live in Lisbon")
    second = person.learner.keep(Kept("I live in Porto", "fact", False, when(3)), later=True)
    assert facts.of_memories(person.store, [second.id]) == []
    person.learner.understand(second.id)
    person.learner.understand(second.id)
    assert len(facts.of_memories(person.store, [second.id])) == 1
    assert memories.get(person.store, first.id).superseded_by == second.id


def test_a_sisters_husband_of_my_fathers_name_is_another(person: Life) -> None:
    person.say("My father Jorge lives far away: Jorge lives in Oslo.")
    person.say("My sister's husband Jorge lives far away: Jorge lives in Kyiv.", 5)
    one, other = facts.listed(person.store)
    assert (one.subject, other.subject) == ("Jorge", "Jorge (sister's husband)")
    assert (one.status, other.status) == ("current", "current")


def test_two_names_that_were_made_one_have_one_history(person: Life) -> None:
    person.say("Bob lives in Oslo.")
    person.say("Robert likes jazz.")
    other = entities.add_entity(person.store, "Robert", at=when(1))
    one = entities.find_entity(person.store, "Bob")
    assert one is not None
    merge = merges.merge(person.store, other.id, one.id, at=when(1))
    person.say("Robert lives in Kyiv.", 5)
    old, _, new = facts.listed(person.store)
    assert (old.status, old.superseded_by, new.status) == ("closed", new.id, "current")
    merges.unmerge(person.store, merge.merge.id, at=when(6))
    person.say("Bob lives in Rome.", 7)
    assert [row.status for row in facts.listed(person.store)[2:]] == ["current", "current"]
