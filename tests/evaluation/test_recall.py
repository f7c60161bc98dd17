"""Evidence recall: reading labelled conversations, yardsticks by hand, and the real assembler."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from lila_app.assistant import Lila, open_lila
from lila_app.cli.root import lila as command
from lila_app.errors import UsageError
from lila_app.evaluation import locomo, others, ranking, recall
from lila_app.evaluation.locomo import Asked, Conversation, Message
from lila_app.evaluation.recall import Trial
from lila_app.testing import ScriptedProvider
from tests.evaluation.conversations import written


def test_a_file_is_read_with_captions_and_without_what_was_searched_for(tmp_path: Path) -> None:
    (one,) = locomo.load(written(tmp_path))
    assert [message.id for message in one.messages] == ["D1:1", "D1:2", "D1:3", "D2:1", "D2:2"]
    assert one.messages[2] == Message(
        "D1:3", 1, "2025-04-12T09:15:00+00:00", "Ana", "A loom. [shares a photo of a loom]"
    )
    assert one.messages[3].at == "2025-10-03T12:05:00+00:00"


def test_questions_without_evidence_that_exists_are_left_out(tmp_path: Path) -> None:
    (one,) = locomo.load(written(tmp_path))
    assert [asked.category for asked in one.questions] == [2, 1]
    assert one.questions[1].evidence == {"D1:1", "D1:2"}
    assert one.questions[1].corrected == {"D1:3"}
    assert one.questions[0].corrected == one.questions[0].evidence


@pytest.mark.parametrize(
    ("changes", "place"),
    [
        ({"session_1_date_time": "yesterday"}, "session_1.date_time"),
        ({"session_2": "nothing"}, "session_2"),
        ({"session_2": [{"dia_id": "D2:1", "speaker": "Bo"}]}, "session_2[0].text"),
    ],
)
def test_what_is_wrong_in_a_file_is_named_by_its_place(
    tmp_path: Path, changes: dict[str, object], place: str
) -> None:
    with pytest.raises(UsageError) as refused:
        locomo.load(written(tmp_path, **changes))
    assert f"[0].conversation.{place}" in str(refused.value)


def said(*sessions: int) -> Conversation:
    """Messages named by place; the number is the session each belongs to."""
    messages = [
        Message(f"D1:{place}", session, "2025-04-12T09:15:00+00:00", "Ana", f"word{place}")
        for place, session in enumerate(sessions)
    ]
    return Conversation("own", tuple(messages), ())


ASKED = Asked("?", 4, frozenset(), frozenset())


def test_reciprocal_ranks_are_added_and_a_neighbour_of_the_session_lends_a_share() -> None:
    ways = [lambda _: [2, 0], lambda _: [2, 3]]
    plain = ranking.fused(said(1, 1, 1, 2), ways, neighbours=False)
    # 2: 2/61; 0 and 3: 1/62 each; 1: nothing. Equal ones stand by place.
    assert plain(ASKED) == [2, 0, 3, 1]
    lent = ranking.fused(said(1, 1, 1, 2), ways, neighbours=True)
    # 1 gets .3 · 2/61 = .0098 and 0, beside 1, nothing; 3 is of another session than 2.
    assert lent(ASKED) == [2, 0, 3, 1]
    # With 1 found last by one way it has 1/63 + .0098 and passes both.
    ways = [lambda _: [2, 0, 1], lambda _: [2, 3]]
    assert ranking.fused(said(1, 1, 1, 2), ways, neighbours=True)(ASKED) == [2, 1, 0, 3]


def test_the_nearest_in_meaning_come_first() -> None:
    conversation = said(1, 1)
    vectors = {
        "?": np.array([1, 0], np.float32),
        "Ana: word0": np.array([0, 1], np.float32),
        "Ana: word1": np.array([1, 0], np.float32),
    }
    assert ranking.dense(conversation, vectors)(ASKED) == [1, 0]


def test_full_text_finds_stems_and_no_stop_words() -> None:
    words = ["the sails were mended", "a boat", "the the the"]
    messages = [Message(f"D1:{n}", 1, "2025-04-12", "Ana", text) for n, text in enumerate(words)]
    search = ranking.FullText(Conversation("own", tuple(messages), ()))
    assert list(search(Asked("Who mends the sail?", 4, frozenset(), frozenset()))) == [0]
    search.close()


def test_what_does_not_fit_is_passed_over() -> None:
    assert ranking.packed([2, 0, 1], [5, 3, 9], 12) == ([2, 1], 12)
    assert ranking.packed([], [1], 12) == ([], 0)


@given(st.lists(st.integers(1, 30), max_size=20), st.integers(0, 200))
def test_nothing_that_was_left_out_would_have_fitted(sizes: list[int], budget: int) -> None:
    taken, used = ranking.packed(range(len(sizes)), sizes, budget)
    assert used == sum(sizes[place] for place in taken) <= budget
    assert all(used + sizes[n] > budget for n in range(len(sizes)) if n not in taken)


def test_the_table_is_worked_out_from_its_trials() -> None:
    trials = [
        Trial("LILA", 100, 1, 1.0, 1.0, 90, 4.0),
        Trial("LILA", 100, 4, 0.5, 1.0, 80, 2.0),
        Trial("LILA", 200, 4, 1.0, 1.0, 150, 3.0),
        Trial("RRF", 100, 4, 0.0, 0.5, 70, 1.0),
    ]
    table = recall.rows(trials)
    assert [(row.way, row.budget) for row in table] == [("LILA", 100), ("LILA", 200), ("RRF", 100)]
    first = table[0]
    assert (first.tokens, first.p50_ms, first.p95_ms) == (85.0, 4.0, 4.0)
    assert [(one.category, one.questions, one.mean) for one in first.recalls] == [
        ("all", 2, 0.75),
        ("multi-hop", 1, 1.0),
        ("single-hop", 1, 0.5),
    ]
    assert (first.recalls[0].low, first.recalls[0].high) == (0.5, 1.0)
    assert first.recalls[0].corrected == 1.0


@given(st.lists(st.floats(0, 1), min_size=1, max_size=40))
def test_an_interval_lies_within_what_was_seen_and_is_the_same_each_time(
    values: list[float],
) -> None:
    low, high = recall.interval(values)
    assert min(values) - 1e-9 <= low <= high <= max(values) + 1e-9
    assert recall.interval(values) == (low, high)


def test_half_the_evidence_counts_half() -> None:
    assert recall.share(frozenset("ab"), frozenset("bc")) == 0.5
    assert recall.share(frozenset(), frozenset("a")) == 1.0


def test_items_name_one_external_id_or_several() -> None:
    items = [{"external_id": "a"}, {"external_ids": ["b", "c"]}, {}]
    assert recall.carried({"layers": [{"items": items}, {"items": []}]}) == {"a", "b", "c"}


def test_the_command_imports_asks_and_prints_every_way(tmp_path: Path, home: Path) -> None:
    del home
    path = written(tmp_path)
    done = CliRunner().invoke(command, ["eval", "recall", str(path), "--budget", "200", "--json"])
    assert done.exit_code == 0, done.stderr
    table = json.loads(done.stdout)["recall"]
    assert (table["conversations"], table["messages"], table["questions"]) == (1, 5, 2)
    rows = {row["way"]: row for row in table["rows"]}
    assert set(rows) == {"LILA", "recency", "FTS5", "MiniLM", "RRF", "RRF + neighbours"}
    # Five short messages fit in 200 tokens, whoever chooses.
    assert rows["LILA"]["recalls"][0]["mean"] == rows["RRF"]["recalls"][0]["mean"] == 1.0
    assert rows["LILA"]["tokens"] <= 200


def test_a_budget_is_given_whatever_the_model_may_take(tmp_path: Path) -> None:
    with open_lila(tmp_path, provider=ScriptedProvider()) as lila:
        for budget in (1_024, 500_000):
            context = lila.preview("What now?", use_case="recall", budget=budget)
            assert context.record["token_budget"]["limit"] == budget
        with pytest.raises(UsageError, match="no model answers"):
            asyncio.run(_turned(lila))


def test_what_was_just_imported_is_found_by_meaning_too(tmp_path: Path) -> None:
    lines = [
        {"id": "a", "session": "1", "at": "2025-04-12T09:15:00Z", "speaker": "Ana", "text": text}
        | {"id": text[:3]}
        for text in ("The dog was unwell all night.", "Bread needs salt.", "We hung the curtains.")
    ]
    path = tmp_path / "said.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    with open_lila(tmp_path / "home", provider=ScriptedProvider()) as lila:
        lila.imports.run(path, kind="jsonl", learn=False)
        context = lila.preview("Which pet fell sick?", use_case="recall", budget=400)
    items = [item for layer in context.record["layers"] for item in layer["items"]]
    best = max(items, key=lambda item: item["score"])
    assert best["external_id"] == "The"


async def _turned(lila: Lila) -> None:
    async for _ in lila.turn("What now?", use_case="recall"):
        pass


def test_another_system_is_asked_in_a_process_of_its_own_and_a_failure_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (one,) = locomo.load(written(tmp_path))
    texts = [*map(ranking.spoken, one.messages), *(asked.text for asked in one.questions)]
    vectors = {text: np.zeros(2, np.float32) for text in texts}
    script = tmp_path / "peers.py"
    monkeypatch.setattr(others, "SCRIPT", script)
    script.write_text(
        "import json, sys\ntask = json.load(sys.stdin)\n"
        "print(json.dumps([{'places': [len(task['texts']) - 1], 'ms': 1.5}"
        " for _ in task['questions']]))"
    )
    answers = others.ask(Path(sys.executable), "mem0", one, vectors)
    assert answers == (others.Answer((4,), 1.5),) * 2
    script.write_text("raise SystemExit('no module named mem0')")
    with pytest.raises(UsageError, match="no module named mem0"):
        others.ask(Path(sys.executable), "mem0", one, vectors)
