"""What is no longer true does not reach a prompt unmarked; what is nothing is not remembered.

Through everything: turns, extraction, learning, promotion, the assembler.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from lila_app import policies
from lila_app.embedding.port import Embedder
from lila_app.errors import UsageError
from lila_app.evaluation import stale
from lila_app.memory import predicates
from lila_app.memory.extraction import Extractor
from lila_app.memory.learning import Learner, Means
from lila_app.paths import Home
from lila_app.storage import facts, memories
from lila_app.storage.connection import Store
from tests.memory import smalltalk
from tests.memory.saying import ZONE, Life, rules

CASES = stale.read(Path(__file__).parent / "stale_cases.jsonl")


@pytest.fixture(scope="module")
def extractor() -> Extractor:
    home = Home.at(Path("/nowhere"))
    return Extractor(predicates.load(tuple(policies.sources(home, "predicates"))))


@pytest.fixture
def person(tmp_path: Path, extractor: Extractor) -> Iterator[Life]:
    with Store.open(tmp_path / "a.db") as store:
        table = predicates.load(tuple(policies.sources(Home.at(tmp_path), "predicates")))
        yield Life(store, Learner(Means(store, extractor, table, rules(), ZONE, dict[str, str])))


def test_there_are_sixty_cases_of_every_kind() -> None:
    assert len({case.id for case in CASES}) == len(CASES) >= 60
    assert {case.kind for case in CASES} == {
        *("update", "correction", "recurring", "namesake", "negation", "hypothetical", "joke"),
        *("quoted", "third party"),
    }


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=[case.id for case in CASES])
def test_no_stale_fact_is_unmarked_and_none_that_holds_retired(
    case: stale.Case, embedder: Embedder
) -> None:
    outcome = stale.run(case, embedder)
    assert (outcome.unmarked, outcome.retired, outcome.believed) == ((), (), ())


@pytest.mark.slow
def test_a_published_set_has_none_either(embedder: Embedder) -> None:
    """Only where somebody has it: LILA_MEMTRUST names the file, which is not LILA's to ship."""
    path = os.environ.get("LILA_MEMTRUST", "")
    for case in stale.read(Path(path)) if path else ():
        assert stale.run(case, embedder).unmarked == (), case.id


@pytest.mark.slow
def test_the_measure_sees_a_stale_value_and_a_retired_one(embedder: Embedder) -> None:
    said = (stale.Said("The spare key of the boat hangs in the shed.", 0),)
    ask = "Where is the spare key of the boat?"
    case = stale.Case("x", "made up", said, ask, 3, stale=("shed",), nobody=("shed",))
    assert stale.run(case, embedder).unmarked
    both = (stale.Said("I live in Ghent.", 0), stale.Said("I live in Graz now.", 5))
    case = stale.Case("y", "made up", both, "Where do I live?", 9, (), ("Ghent",), ("Graz",))
    outcome = stale.run(case, embedder)
    assert outcome.retired
    assert outcome.believed


def test_two_hundred_turns_of_small_talk_promote_nothing(person: Life) -> None:
    lines = smalltalk.lines()
    assert len(lines) == 200
    assert len(set(lines)) >= 120
    for place, line in enumerate(lines):
        person.say(line, day=place // 20, hour=8 + place % 12, reply="Ha.", learn=False)
    assert person.learn().turns == 200
    assert [row.text for row in memories.list_memories(person.store)] == []
    assert [row.text for row in facts.listed(person.store, status="conflict")] == []


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ('{"id": "a"}', "line 1"),
        ('{"id": "a", "kind": "k", "said": [], "ask": "?"}\nnonsense', "line 2"),
    ],
)
def test_a_file_that_holds_no_cases_is_refused(tmp_path: Path, text: str, named: str) -> None:
    file = tmp_path / "cases.jsonl"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(UsageError, match=named):
        stale.read(file)
