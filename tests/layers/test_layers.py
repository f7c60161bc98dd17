"""Each of the five layers on its own table."""

from __future__ import annotations

import os
from pathlib import Path

from lila_app.context.items import Placement
from lila_app.embedding.tokens import Counter
from lila_app.graph.mirror import Mirror
from lila_app.layers.conversation import STOPPED, UNANSWERED, ConversationLayer
from lila_app.layers.graph import GraphLayer
from lila_app.layers.memory import MemoryLayer
from lila_app.layers.rag import RagLayer
from lila_app.layers.session import SessionLayer
from lila_app.storage import cuts, documents, memories, relations, sessions, state, turns
from lila_app.storage.connection import Store
from lila_app.storage.documents import NewChunk
from tests.layers.conftest import NOW, Asker
from tests.memory.saying import life

E7 = "E7 means that the pressure is low; refill to 1.5 bar."
LONG_AGO = "2026-01-05T08:00:00+00:00"


def start(store: Store) -> str:
    return sessions.create(store, at=NOW, use_case="chat").id


def say(store: Store, session: str, user: str, reply: str | None, *, stopped: bool = False) -> str:
    turn = turns.begin(store, session, user, use_case="chat", at=NOW)
    if reply is not None:
        turns.finish(store, turn.id, reply, stopped=stopped, record_id=None, model="test", at=NOW)
    return turn.id


def test_goals_of_the_profile_stand_in_every_session_and_others_in_their_own(
    store: Store, count: Counter, ask: Asker
) -> None:
    one, other = start(store), start(store)
    everywhere = state.set_goal(store, "Finish the thesis", at=NOW)
    here = state.set_goal(store, "Fix the build", session_id=one, at=NOW)
    layer = SessionLayer(store, count)
    assert [i.id for i in layer.offer(ask("hello", session=one))] == [everywhere.id, here.id]
    assert [i.id for i in layer.offer(ask("hello", session=other))] == [everywhere.id]
    assert all(
        i.pinned and i.placement is Placement.GOAL for i in layer.offer(ask("", session=one))
    )


def test_a_finished_goal_is_no_longer_offered(store: Store, count: Counter, ask: Asker) -> None:
    goal = state.set_goal(store, "Finish the thesis", at=NOW)
    state.finish_goal(store, goal.id, at=NOW)
    assert SessionLayer(store, count).offer(ask("hello")) == ()


def test_working_notes_expire_when_nobody_touches_them(
    store: Store, count: Counter, ask: Asker, policy: object
) -> None:
    session = start(store)
    note = state.add_note(store, "the kettle is on", session_id=session, at=NOW)
    layer = SessionLayer(store, count)
    soon, late = "2026-11-30T11:59:00+00:00", "2026-11-30T12:01:00+00:00"
    assert [i.id for i in layer.offer(ask("hi", session=session, now=soon))] == [note.id]
    assert layer.offer(ask("hi", session=session, now=late)) == ()
    state.touch(store, note.id, at="2026-11-30T10:00:00+00:00")
    assert [i.id for i in layer.offer(ask("hi", session=session, now=late))] == [note.id]


def test_the_conversation_offers_turns_after_the_last_cut_and_before_the_one_being_answered(
    store: Store, count: Counter, ask: Asker
) -> None:
    session = start(store)
    first = turns.get(store, say(store, session, "one", "eins"))
    say(store, session, "two", "zwei")
    now = turns.get(store, say(store, session, "three", None))
    cuts.cut(store, session, upto_sequence=first.sequence, summary="- one", reason="window", at=NOW)
    layer = ConversationLayer(store, count)
    offered = layer.offer(ask("three", session=session, before=now.sequence))
    assert [(i.variants[0].text, i.variants[0].reply) for i in offered] == [("two", "zwei")]
    kept = layer.summary(session)
    assert kept is not None
    assert (kept.upto_sequence, kept.text) == (first.sequence, "- one")


def test_a_stopped_and_an_unanswered_turn_say_so(store: Store, count: Counter, ask: Asker) -> None:
    session = start(store)
    say(store, session, "one", "half a", stopped=True)
    say(store, session, "two", None)
    replies = [
        item.variants[0].reply
        for item in ConversationLayer(store, count).offer(ask("x", session=session))
    ]
    assert replies == ["half a" + STOPPED, UNANSWERED]


def test_two_sessions_in_one_process_never_see_each_others_state(
    store: Store, count: Counter, ask: Asker
) -> None:
    one, other = start(store), start(store)
    say(store, one, "the password is heron", "noted")
    state.add_note(store, "heron note", session_id=one, at=NOW)
    state.set_goal(store, "heron goal", session_id=one, at=NOW)
    for layer in (SessionLayer(store, count), ConversationLayer(store, count)):
        offered = layer.offer(ask("heron", session=other))
        assert offered == (), layer.name


def test_core_memories_stand_in_the_profile_and_are_not_recalled_twice(
    store: Store, count: Counter, ask: Asker
) -> None:
    core = memories.add(store, "I live in Lisbon", kind="core", at=NOW)
    fact = memories.add(store, "My boat in Lisbon is called Cotovia", at=NOW)
    ask.embed()
    offered = MemoryLayer(store, ask.finder, count).offer(ask("Where in Lisbon is my boat?"))
    assert [(i.id, i.placement) for i in offered] == [
        (core.id, Placement.PROFILE),
        (fact.id, Placement.RECALLED),
    ]


def test_a_core_memory_added_within_an_epoch_is_recalled_and_waits_for_the_next_pack(
    store: Store, count: Counter, ask: Asker
) -> None:
    memories.add(store, "I live in Lisbon", kind="core", at=NOW)
    late = memories.add(store, "I am allergic to nuts", kind="core", at=NOW)
    ask.embed()
    offered = MemoryLayer(store, ask.finder, count).offer(
        ask("what nuts can I eat with my allergic reaction?", pack=("m1",))
    )
    assert [(i.id, i.placement) for i in offered][:2] == [
        ("m1", Placement.PROFILE),
        (late.id, Placement.RECALLED),
    ]


def test_an_old_memory_scores_below_the_same_memory_made_today(
    store: Store, count: Counter, ask: Asker
) -> None:
    old = memories.add(store, "The plan is to paint the hull in white", at=LONG_AGO)
    new = memories.add(store, "The plan is to paint the hull in green", at=NOW)
    ask.embed()
    offered = MemoryLayer(store, ask.finder, count).offer(ask("how will I paint the hull?"))
    scores = {item.id: item.score for item in offered}
    assert scores[new.id] > scores[old.id]


def test_a_superseded_memory_is_offered_as_superseded(
    store: Store, count: Counter, ask: Asker
) -> None:
    old = memories.add(store, "The plan is to paint the hull in white", at=LONG_AGO)
    new = memories.add(store, "The plan is to paint the hull in green", at=NOW)
    memories.supersede(store, old.id, new.id, at=NOW)
    ask.embed()
    offered = MemoryLayer(store, ask.finder, count).offer(ask("how will I paint the hull?"))
    assert {item.id: item.superseded for item in offered} == {old.id: True, new.id: False}


def test_a_pinned_memory_is_offered_whatever_is_asked(
    store: Store, count: Counter, ask: Asker
) -> None:
    pinned = memories.add(store, "I am allergic to nuts", pinned=True, at=NOW)
    offered = MemoryLayer(store, ask.finder, count).offer(ask("compile the kernel"))
    assert [(item.id, item.pinned) for item in offered] == [(pinned.id, True)]


def test_turns_of_other_sessions_belong_to_memory_and_turns_of_this_one_do_not(
    store: Store, count: Counter, ask: Asker
) -> None:
    earlier, this = start(store), start(store)
    past = say(store, earlier, "My cat Luna only eats wet food", "Good to know.")
    say(store, this, "My cat Luna is grey", "Lovely.")
    ask.embed()
    layer = MemoryLayer(store, ask.finder, count)
    offered = layer.offer(ask("what does the cat Luna eat?", session=this))
    assert [item.id for item in offered] == [past]
    assert "They: My cat Luna only eats wet food" in offered[0].variants[0].text
    assert offered[0].variants[0].text.startswith(f"[{past}, 2026-11-30]")


def test_an_earlier_turn_that_only_asked_the_same_is_not_recalled_as_an_answer(
    store: Store, count: Counter, ask: Asker
) -> None:
    earlier, this = start(store), start(store)
    say(store, earlier, "What does the cat Luna eat?", "Probably fish, I made that up.")
    ask.embed()
    layer = MemoryLayer(store, ask.finder, count)
    assert layer.offer(ask("what does the cat Luna eat", session=this)) == ()


def test_a_fork_does_not_recall_the_turns_it_shows_in_its_window(
    store: Store, count: Counter, ask: Asker
) -> None:
    parent = start(store)
    say(store, parent, "My cat Luna only eats wet food", "Good to know.")
    fork = sessions.fork(store, parent, at=NOW).id
    ask.embed()
    offered = MemoryLayer(store, ask.finder, count).offer(
        ask("what does the cat Luna eat?", session=fork)
    )
    assert offered == ()


def test_the_graph_finds_a_manager_by_one_step_and_a_connection_by_the_shortest_path(
    store: Store, count: Counter, ask: Asker
) -> None:
    direct = relations.add(store, "Alex", "reports_to", "Sarah", at=NOW)
    above = relations.add(store, "Sarah", "reports_to", "Teresa", at=NOW)
    relations.add(store, "Teresa", "likes", "Opera", at=NOW)
    layer = GraphLayer(Mirror(store), count)
    manager = layer.offer(ask("Who is Alex's manager?"))
    assert [item.id for item in manager] == [direct.id, above.id]
    assert manager[0].variants[0].text == f"[{direct.id}, 2026-11-30] Alex reports to Sarah"
    path = layer.offer(ask("How is Alex connected to Teresa?"))
    assert {direct.id, above.id} <= {item.id for item in path if item.score >= 8_000}


def test_a_relation_holds_from_its_beginning_up_to_but_not_at_its_end(
    store: Store, count: Counter, ask: Asker
) -> None:
    row = relations.add(
        store, "Celeste", "has", "spare key", at=LONG_AGO,
        valid_from="2026-02-01T00:00:00+00:00", valid_to="2026-10-01T00:00:00+00:00",
    )  # fmt: skip
    layer = GraphLayer(Mirror(store), count)
    when = {
        "2026-01-31T23:59:59+00:00": False,
        "2026-02-01T00:00:00+00:00": True,
        "2026-09-30T23:59:59+00:00": True,
        "2026-10-01T00:00:00+00:00": False,
    }
    for now, holds in when.items():
        offered = layer.offer(ask("What does Celeste have?", now=now))
        assert bool(offered) is holds, now
    inside = layer.offer(ask("What does Celeste have?", now="2026-03-01T00:00:00+00:00"))
    assert inside[0].variants[0].text == (
        f"[{row.id}, 2026-01-05] Celeste has spare key (2026-02-01 to 2026-10-01)"
    )


def test_the_mirror_follows_what_another_connection_adds(
    store: Store, count: Counter, ask: Asker
) -> None:
    relations.add(store, "Alex", "reports_to", "Sarah", at=NOW)
    layer = GraphLayer(Mirror(store), count)
    assert len(layer.offer(ask("Alex?"))) == 1
    with Store.open(store.path) as other:
        relations.add(other, "Alex", "plays", "Cello", at=NOW)
    assert len(layer.offer(ask("Alex?"))) == 2


def test_almost_every_relation_touches_the_person_so_naming_oneself_finds_little(
    store: Store, count: Counter, ask: Asker
) -> None:
    sister = relations.add(store, "me", "sister_of", "Ana", at=NOW)
    boat = relations.add(store, "me", "owns", "Cotovia", at=NOW)
    offered = GraphLayer(Mirror(store), count).offer(ask("What is my sister called?"))
    scores = {item.id: item.score for item in offered}
    assert scores[sister.id] > 3_000 > scores[boat.id]


def test_a_chunk_says_which_document_heading_and_line_it_stands_at(
    store: Store, count: Counter, ask: Asker, tmp_path: Path
) -> None:
    path = tmp_path / "house.md"
    path.write_text("x")
    os.utime(path, ns=(1, 1))
    documents.upsert_document(
        store, path=str(path), title="House", kind="markdown", sha256="0" * 64, size=1,
        mtime=1, at=NOW,
        chunks=[
            NewChunk("House › Boiler", E7, 16, 12),
            NewChunk("House › Garden", "The roses are cut in February.", 9, 40),
        ],
    )  # fmt: skip
    ask.embed()
    offered = RagLayer(store, ask.finder, count).offer(ask("what does E7 on the boiler mean?"))
    best = max(offered, key=lambda item: item.score)
    assert best.variants[0].text == ("[d1.1, House › Boiler, line 12, 2026-11-30]\n> " + E7)
    assert best.source == "House › Boiler, line 12"
    assert best.external_ids == (str(path),)


def test_both_sides_of_what_contradicts_a_core_memory_stand_in_every_prompt(
    store: Store, count: Counter, ask: Asker
) -> None:
    person = life(store)
    allergy = person.keep("I am allergic to shellfish", core=True)
    other = person.keep("Penicillin is fine, allergic to shellfish no longer", 3)
    ask.embed()
    offered = MemoryLayer(store, ask.finder, count).offer(ask("What time is it in Tokyo?"))
    shown = {item.id: item for item in offered}
    floor = ask.policy.use_case("chat")
    assert floor is not None
    for id, day, against in (
        (allergy.id, "2026-01-01", "2026-01-04: Penicillin is fine"),
        (other.id, "2026-01-04", "2026-01-01: the person allergic_to shellfish"),
    ):
        assert shown[id].score >= floor.layer("memory").floor
        head = shown[id].variants[0].text
        assert head.startswith(f"[{id}, {day}; contradicted on ")
        assert against in head


def test_a_turn_that_contradicts_a_core_memory_is_told_beside_it(
    store: Store, count: Counter, ask: Asker
) -> None:
    person = life(store)
    allergy = person.keep("I am allergic to shellfish", core=True)
    person.say("Good news: allergic to shellfish no longer.", 3)
    ask.embed()
    offered = MemoryLayer(store, ask.finder, count).offer(ask("What time is it in Tokyo?"))
    (head,) = [item.variants[0].text for item in offered if item.id == allergy.id]
    assert "contradicted on 2026-01-04: Good news: allergic to shellfish no longer" in head
