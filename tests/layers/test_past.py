"""Finding what was said: neighbours, speakers, times, and how it reads."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

from lila_app.context.items import Item
from lila_app.embedding.tokens import Counter
from lila_app.layers.memory import MemoryLayer
from lila_app.storage import memories, sessions, turns
from lila_app.storage.connection import Store
from tests.layers.conftest import NOW, Asker

SPRING, AUTUMN = "2025-04-12T10:00:00+00:00", "2025-10-03T10:00:00+00:00"


def talk(store: Store, at: str, *said: tuple[str, str]) -> list[str]:
    """A session of an imported conversation: (speaker, text) each; the ids of its turns."""
    session = sessions.create(store, at=at, use_case="chat").id
    return [
        turns.append_message(
            store, session, "user", text, at=at, speaker=speaker, origin="import:1",
            external_id=f"{at[:7]}:{number}",
        ).id
        for number, (speaker, text) in enumerate(said, 1)
    ]  # fmt: skip


def offered(store: Store, ask: Asker, count: Counter, text: str, **more: object) -> list[Item]:
    """What the layer offers to a question of the recall use case, best first."""
    ask.embed()
    question = replace(ask(text), past=50, whole=True, **more)  # type: ignore[arg-type]
    items = MemoryLayer(store, ask.finder, count).offer(question)
    return sorted(items, key=lambda item: -item.score)


def test_an_answer_is_found_by_the_question_before_it(
    store: Store, count: Counter, ask: Asker
) -> None:
    ids = talk(
        store, SPRING,
        ("Ana", "The kiln is finally warm."),
        ("Bo", "Which colour did you choose for the bathroom tiles?"),
        ("Ana", "Petrol, with a thin white border."),
        ("Bo", "I fixed my bicycle."),
    )  # fmt: skip
    talk(store, AUTUMN, ("Bo", "The bus was late."), ("Ana", "It rains and rains."))
    best = offered(store, ask, count, "What colour of bathroom tiles did Ana take?")
    assert [item.id for item in best[:2]] == [ids[2], ids[1]] or best[0].id == ids[1]
    scores = {item.id: item.score for item in best}
    assert scores[ids[2]] > scores[ids[0]]
    assert scores[ids[2]] > scores[ids[3]]


def test_whom_the_question_names_is_offered_before_the_other(
    store: Store, count: Counter, ask: Asker
) -> None:
    mine, theirs = talk(
        store, SPRING,
        ("Ana", "My favourite soup is leek and potato."),
        ("Bo", "My favourite soup is leek and potato."),
    )  # fmt: skip
    for name, first in (("Ana", mine), ("Bo", theirs)):
        best = offered(store, ask, count, f"Which soup does {name} like most?")
        assert best[0].id == first


def test_a_month_in_the_question_prefers_what_was_said_then(
    store: Store, count: Counter, ask: Asker
) -> None:
    (spring,) = talk(store, SPRING, ("Ana", "I swam in the lake with the children."))
    (autumn,) = talk(store, AUTUMN, ("Ana", "I swam in the lake with the children!"))
    april = offered(store, ask, count, "Where did Ana swim in April?")
    october = offered(store, ask, count, "Where did Ana swim in October 2025?")
    assert (april[0].id, october[0].id) == (spring, autumn)


def test_a_question_for_a_time_prefers_what_names_one(
    store: Store, count: Counter, ask: Asker
) -> None:
    with_time, without = talk(
        store, SPRING,
        ("Ana", "I sold the old piano last Friday to a school."),
        ("Ana", "I sold the old piano, happily, to a school."),
    )  # fmt: skip
    when = offered(store, ask, count, "When did Ana sell the piano?")
    assert [item.id for item in when[:2]] == [with_time, without]


def test_a_message_stands_whole_under_its_day_and_speaker(
    store: Store, count: Counter, ask: Asker
) -> None:
    long = "The kiln is warm. " * 40
    talk(store, SPRING, ("Ana", long), ("Bo", "ok"))
    best = offered(store, ask, count, "Is the kiln warm?")
    assert best[0].variants[0].text == f"2025-04-12 Ana: {long.strip()}" + " " * 1
    assert [len(item.variants) for item in best] == [1, 1]
    assert best[0].external_ids == ("2025-04:1",)


def test_in_a_chat_a_named_speaker_is_named_and_no_reply_is_missed(
    store: Store, count: Counter, ask: Asker
) -> None:
    (id,) = talk(store, SPRING, ("Ana", "The kiln is warm."))
    ask.embed()
    (item,) = MemoryLayer(store, ask.finder, count).offer(ask("Is the kiln warm?"))
    assert item.variants[0].text == f"[{id}, 2025-04-12] Ana: The kiln is warm."


def test_an_imported_exchange_names_both_and_carries_both_ids(
    store: Store, count: Counter, ask: Asker
) -> None:
    session = sessions.create(store, at=SPRING, use_case="chat").id
    turns.append_message(
        store, session, "user", "What is a kiln?", at=SPRING, external_id="a1", origin="import:1"
    )
    turns.append_message(
        store, session, "assistant", "An oven.", at=SPRING, external_id="a2", origin="import:1"
    )
    (item,) = offered(store, ask, count, "a kiln, was it an oven?")
    assert item.variants[0].text == "2025-04-12 They: What is a kiln?\n> Assistant: An oven."
    assert item.external_ids == ("a1", "a2")


def test_neighbours_in_the_session_that_asks_are_not_offered(
    store: Store, count: Counter, ask: Asker
) -> None:
    talk(store, SPRING, ("Ana", "The kiln is warm."), ("Bo", "Good."))
    session = turns.by_ids(store, ["t1"])[0].session_id
    ask.embed()
    layer = MemoryLayer(store, ask.finder, count)
    assert layer.offer(ask("Is the kiln warm?", session=session)) == ()


def test_a_memory_made_of_a_turn_does_not_stand_beside_it_where_turns_stand_whole(
    store: Store, count: Counter, ask: Asker
) -> None:
    (id,) = talk(store, SPRING, ("Ana", "The kiln is warm."))
    memories.add(store, "Ana's kiln is warm", at=NOW, source_turn=id)
    noted = memories.add(store, "The kiln was expensive", at=NOW)
    found = {item.id for item in offered(store, ask, count, "What of the kiln?")}
    assert found == {id, noted.id}


def test_the_order_and_the_scores_are_the_same_whatever_was_asked_before(
    store: Store, count: Counter, ask: Asker
) -> None:
    talk(store, SPRING, *[("Ana", f"The kiln number {n} is warm.") for n in range(30)])
    first = offered(store, ask, count, "Which kiln is warm?")
    offered(store, ask, count, "something else entirely")
    assert offered(store, ask, count, "Which kiln is warm?") == first
    assert all(a.score >= b.score for a, b in pairwise(first))
