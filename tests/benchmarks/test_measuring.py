"""The benchmark itself runs, on a store small enough for a test."""

from __future__ import annotations

from pathlib import Path

import pytest

from lila_app import policies
from lila_app.paths import Home
from lila_app.storage import check
from lila_app.storage.connection import Store
from tests.benchmarks import measuring, pure, words
from tests.benchmarks.synthetic import Size, fill

SMALL = Size(turns=104, memories=40, relations=60, chunks=220)


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("benchmark")
    place = Home.at(home)
    place.create()
    fill(place.profile_db("default"), SMALL, lambda name, done, total: None)
    return home


def test_a_filled_store_is_whole_and_of_its_size(filled: Path) -> None:
    with Store.open(Home.at(filled).profile_db("default")) as store:
        report = check.check(store)
    assert report.problems == ()
    for table, rows in (("turns", 104), ("memories", 40), ("relations", 60), ("chunks", 220)):
        assert dict(report.counts)[table] == rows


def test_every_part_of_a_turn_is_measured(filled: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measuring, "WARMING", 1)
    monkeypatch.setattr(measuring, "QUESTIONS", 5)
    result = measuring.measure(filled)
    assert result.plain.parts["embedding"].p50 == 0 < result.embedded.parts["embedding"].p50
    for turned in (result.plain, result.embedded):
        assert all(turned.parts[name].p50 > 0 for name in measuring.LAYERS)
        assert 0 < turned.parts["assemble"].p50 < turned.total.p50
        assert turned.used_tokens > 2_000
        assert turned.candidates > 40
    assert result.opened.load_mb > result.before_mb > 10


def test_a_quiet_moment_is_one_with_a_good_pace_before_and_after() -> None:
    paces = [1.0, 1.2, 1.3, 1.0, 1.1, 1.0]
    assert measuring.undisturbed([10, 20, 30, 40, 50], paces) == [10, 40, 50]


def test_the_fixed_specification_fills_its_budget(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pure, "ROUNDS", 2)
    alone = pure.measure(policies.load(Home.at(home)).policy)
    assert 0.95 * pure.TOKENS < alone.tokens <= pure.TOKENS
    assert 0 < alone.turn.p50 < 1_000
    assert 0 < alone.bare.p50 < 1_000


def test_text_has_the_skew_of_text_and_topics_of_their_own() -> None:
    write = words.writer(3)
    spoken = write.text(400, 7).lower().replace(".", "").split()
    commonest = max(set(spoken), key=spoken.count)
    assert commonest == "the"
    assert 0.015 < spoken.count("the") / len(spoken) < 0.05
    made = words.vectors([7, 7, 8], 1)
    assert made[0] @ made[1] > 0.2 > abs(made[0] @ made[2])
    assert (words.vectors([7, 7, 8], 1) == made).all()
    assert words.writer(3).text(2, 7) == words.writer(3).text(2, 7) != words.writer(4).text(2, 7)
