"""Measuring the ranking of passages on a labelled collection of our own."""

from __future__ import annotations

import gzip
import json
import math
from pathlib import Path

import pytest
from click.testing import CliRunner

from lila_app.cli.root import lila
from lila_app.errors import UsageError
from lila_app.evaluation.scifact import evaluate, load, ndcg, recall
from lila_app.paths import Home

CORPUS = [
    ("b1", "Bread", "Sourdough rises slowly because wild yeast is slow. Keep it at 25 degrees."),
    ("b2", "Beans", "Soak dried beans overnight, then simmer them for an hour without salt."),
    ("b3", "Bicycles", "A chain lasts about 3,000 kilometres; measure its stretch with a gauge."),
    ("b4", "Boilers", "E7 on the display means that the water pressure is too low."),
    ("b5", "Bees", "A hive swarms in May when the queen is old and the box is full."),
]
QUERIES = [
    ("1", "Why does sourdough take so long?"),
    ("2", "When must a bicycle chain be replaced?"),
    ("3", "What does error E7 mean?"),
    ("4", "not labelled"),
]


@pytest.fixture
def collection(tmp_path: Path) -> Path:
    folder = tmp_path / "collection"
    folder.mkdir()
    rows = [json.dumps({"id": id, "title": title, "text": text}) for id, title, text in CORPUS]
    (folder / "corpus.jsonl.gz").write_bytes(gzip.compress("\n".join(rows).encode()))
    rows = [json.dumps({"_id": id, "text": text}) for id, text in QUERIES]
    (folder / "queries.jsonl").write_text("\n".join(rows) + "\n", encoding="utf-8")
    (folder / "qrels.tsv").write_text(
        "query-id\tcorpus-id\tscore\n1\tb1\t1\n2\tb3\t2\n3\tb4\t1\n3\tb2\t0\n", encoding="utf-8"
    )
    return folder


def test_discounted_gain_and_recall_are_those_worked_out_by_hand() -> None:
    relevant = {"a": 2, "b": 1}
    assert ndcg(["a", "b"], relevant) == 1
    # Found at ranks 2 and 4: 1/log2(3) + 2/log2(5), of the best 2 + 1/log2(3).
    found = (1 / math.log2(3) + 2 / math.log2(5)) / (2 + 1 / math.log2(3))
    assert ndcg(["x", "b", "y", "a"], relevant) == pytest.approx(found)
    assert ndcg(["x"] * 10 + ["a"], relevant) == 0
    assert (recall(["x", "b"], relevant, 2), recall(["x", "b"], relevant, 1)) == (0.5, 0)


def test_every_ranking_is_measured_on_the_labelled_queries(
    collection: Path, tmp_path: Path
) -> None:
    seen: list[tuple[int, int, str]] = []
    outcome = evaluate(
        load(collection),
        Home.at(tmp_path / "home"),
        progress=lambda done, total, label: seen.append((done, total, label)),
    )
    assert (outcome.documents, outcome.passages, outcome.queries) == (5, 5, 3)
    names = [one.ranking for one in outcome.rankings]
    assert names == ["LILA", "LILA, the 16 it offers", "reciprocal ranks", "full text", "vectors"]
    assert outcome.rankings[0].ndcg == outcome.rankings[0].even == outcome.rankings[0].odd == 1
    assert all(one.far_recall == 1 for one in outcome.rankings[:1])
    assert {label for _, _, label in seen} == {"embedding", "asking"}


def test_the_command_prints_a_table_and_touches_nothing_of_the_person(
    collection: Path, home: Path
) -> None:
    seen = CliRunner().invoke(lila, ["eval", "documents", str(collection)])
    assert seen.exit_code == 0, seen.output
    assert seen.stdout.startswith("5 documents in 5 passages, 3 queries")
    assert len(seen.stdout.splitlines()) == 7
    assert not home.exists()


@pytest.mark.parametrize(
    ("file", "content", "said"),
    [
        ("queries.jsonl", '{"_id": "1", "text": "a"}\nno json\n', "queries.jsonl, line 2"),
        ("queries.jsonl", '{"text": "a"}\n', "queries.jsonl, line 1"),
        ("queries.jsonl", "[]\n", "queries.jsonl, line 1"),
        ("qrels.tsv", "1\tb1\n", "qrels.tsv, line 1"),
        ("qrels.tsv", "query-id\tcorpus-id\tscore\n77\tb1\t1\n", "qrels.tsv, line 2"),
        ("qrels.tsv", "query-id\tcorpus-id\tscore\n", "relevant"),
    ],
)
def test_a_broken_collection_is_refused_with_its_place(
    collection: Path, file: str, content: str, said: str
) -> None:
    (collection / file).write_text(content, encoding="utf-8")
    with pytest.raises(UsageError, match=said):
        load(collection)


def test_a_folder_that_is_no_collection_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"there is no corpus\.jsonl"):
        load(tmp_path)
