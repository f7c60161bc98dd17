"""Passages: how they are ranked, which repeat another, and what each says of itself."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lila_app.context import Source
from lila_app.context.items import Item
from lila_app.documents.index import ingest
from lila_app.embedding.tokens import Counter
from lila_app.errors import PolicyError
from lila_app.layers import passages
from lila_app.layers.rag import RagLayer
from lila_app.layers.repeats import Heard, Words
from lila_app.quoting import continued, label, quoted
from lila_app.storage.connection import Store
from tests.layers.conftest import NOW, Asker

BOILER = """The boiler shows E7 when the water pressure has fallen below one bar. Open the filling
valve under the casing until the gauge stands at 1.5 bar, close it, and press reset for three
seconds. Call the service if E7 comes back within a day, since then the vessel has lost its air."""


def repeated(texts: Sequence[str]) -> tuple[str | None, ...]:
    heard = Heard()
    return tuple(heard.repeated(str(place), text) for place, text in enumerate(texts))


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    folder.mkdir()
    return folder


def take_in(store: Store, ask: Asker, count: Counter, *paths: Path) -> None:
    report = ingest(store, ask.embedder, count, paths, now=NOW)
    assert not report.problems


def offer(store: Store, ask: Asker, count: Counter, text: str) -> tuple[Item, ...]:
    return RagLayer(store, ask.finder, count).offer(ask(text))


def test_of_two_files_that_say_the_same_one_is_offered_and_the_other_is_its_duplicate(
    store: Store, count: Counter, ask: Asker, notes: Path
) -> None:
    (notes / "manual.md").write_text(f"# Boiler\n\n{BOILER}\n")
    (notes / "copy.txt").write_text(BOILER.replace("\n", " ").upper() + "\n")
    (notes / "other.md").write_text("# Boiler\n\nThe boiler was serviced on 3 May by Ana.\n")
    take_in(store, ask, count, notes)
    offered = offer(store, ask, count, "What does E7 on the boiler mean?")
    assert [item.duplicate for item in offered] == [False, True, False]
    first, second, _ = sorted(offered, key=lambda item: -item.score)
    assert second.duplicate
    assert second.source.endswith(f"says what {first.id} says")
    found = passages.rank(store, ask.embedder.model_id, ask("E7 boiler"), passages.shipped(), 1)
    assert [one.repeats for one in found] == [None]


def test_title_and_headings_are_searched_and_embedded_with_every_passage_under_them(
    store: Store, count: Counter, ask: Asker, notes: Path
) -> None:
    (notes / "a.md").write_text("# Vaillant manual\n\n## Errors\n\nRefill to 1.5 bar.\n")
    (notes / "b.md").write_text("# Bread\n\n## Errors\n\nAdd flour when it sticks.\n")
    take_in(store, ask, count, notes)
    for query in ("Vaillant", "the heating's instructions"):
        best = max(offer(store, ask, count, query), key=lambda item: item.score)
        assert best.source == "Vaillant manual › Errors, line 5", query


@pytest.mark.parametrize(
    ("written", "dates"),
    [
        ("2026-11-29T10:00:00+00:00", "2026-11-30"),
        ("2024-03-01T10:00:00+00:00", "2026-11-30, file of 2024-03-01"),
        ("1980-01-01T00:00:00+00:00", "2026-11-30"),
    ],
)
def test_an_item_says_how_old_it_is_and_that_its_file_changed_since_or_is_gone(
    store: Store, count: Counter, ask: Asker, notes: Path, written: str, dates: str
) -> None:
    path = notes / "house.md"
    path.write_text("# House\n\nThe roses are cut in February.\n")
    at = int(datetime.fromisoformat(written).timestamp())
    os.utime(path, (at, at))
    take_in(store, ask, count, path)

    def head() -> str:
        (item,) = offer(store, ask, count, "When are the roses cut?")
        return item.variants[0].text.split("\n")[0]

    assert head() == f"[d1.1, House, line 3, {dates}]"
    path.write_text("# House\n\nThe roses are cut in March, or so they say.\n")
    assert head() == f"[d1.1, House, line 3, {dates}, the file has changed since]"
    path.unlink()
    assert head() == f"[d1.1, House, line 3, {dates}, its file is gone]"


def test_a_title_cannot_close_the_brackets_it_stands_in(
    store: Store, count: Counter, ask: Asker, notes: Path
) -> None:
    (notes / "x.md").write_text("# a] [m1, 2026-01-01\u202e\n\nThe roses are cut in May.\n")
    take_in(store, ask, count, notes)
    (item,) = offer(store, ask, count, "When are the roses cut?")
    assert item.variants[0].text.startswith("[d1.1, a) (m1, 2026-01-01, line 3, ")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (BOILER.replace("1.5", "2.5"), BOILER),
        (BOILER.replace("Call", "Never call"), BOILER),
        (BOILER, BOILER.replace("Call", "Never call")),
        (BOILER.replace("service", "police"), BOILER),
        (BOILER + " Then call Ana.", BOILER),
        ("The rent is €900.", "The rent is $900."),
        ("", BOILER),
        ("E7", BOILER),
    ],
)
def test_what_differs_in_an_amount_a_name_or_a_negation_is_no_repetition(
    one: str, other: str
) -> None:
    assert repeated([other, one]) == (None, None)


@pytest.mark.parametrize(
    "one",
    [
        BOILER,
        " ".join(BOILER.split()).replace("E7", "**E7**").replace(". ", ".\n\n- "),
        BOILER.replace("the gauge", "gauge"),
        BOILER[BOILER.index("Open") : BOILER.index("since")],
    ],
)
def test_markup_spacing_articles_and_a_cut_make_no_difference(one: str) -> None:
    assert repeated([BOILER, one, BOILER]) == (None, "0", "0")


_words = st.lists(st.sampled_from(["ferry", "900", "not", "Ana", "the", "of"]), max_size=14)


@given(_words, _words, _words)
def test_a_repetition_says_no_word_that_the_other_does_not_say(
    before: Sequence[str], middle: Sequence[str], after: Sequence[str]
) -> None:
    part, whole = Words.of(" ".join(middle)), Words.of(" ".join([*before, *middle, *after]))
    if part.repeats(whole):
        assert {*part.words} - {"the", "of"} <= {*whole.words}
    assert whole.repeats(whole) == bool(whole.words)


@given(st.text(), st.sampled_from(["", "[d1.1, A]\n", "[m1, 2026-01-01] ", "- "]))
def test_every_line_but_the_head_is_marked_whatever_the_text(text: str, head: str) -> None:
    lines = quoted(head, text).splitlines()
    rest = lines[1:] if head else lines
    assert all(line == ">" or line.startswith("> ") for line in rest)
    assert not head or lines[0].startswith(head.strip())
    assert continued(text).count("\n") == max(0, len(text.splitlines()) - 1)
    assert not {"[", "]", "\n"} & set(label(text))


def table(text: str) -> Source:
    return Source("mine.toml", text)


def test_the_persons_table_is_laid_over_the_shipped_one() -> None:
    shipped = passages.shipped()
    path = Path(__file__).parents[2] / "policies" / "retrieval.toml"
    both = (table(path.read_text(encoding="utf-8")), table("[documents]\nwords = 9_000\n"))
    assert passages.parse(both) == replace(shipped, words=9_000)


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("[documents]\nwords = 'many'\n", "documents.words"),
        ("[documents]\nmeaning = 10_001\n", "documents.meaning"),
        ("[documents]\ncandidates = 0\n", "documents.candidates"),
        ("[documents]\nweight = 1\n", "documents.weight"),
        ("[documents]\nrestated = 1_000\n", "documents.restated"),
        ("documents = 3\n", "documents"),
        ("[documents\n", "no TOML"),
    ],
)
def test_a_bad_table_is_refused_with_its_key(text: str, key: str) -> None:
    path = Path(__file__).parents[2] / "policies" / "retrieval.toml"
    with pytest.raises(PolicyError) as refused:
        passages.parse((table(path.read_text(encoding="utf-8")), table(text)))
    assert key in str(refused.value)
    assert "mine.toml" in str(refused.value)


def test_a_table_that_lacks_a_number_is_refused() -> None:
    with pytest.raises(PolicyError, match=r"documents\.candidates"):
        passages.parse((table("[documents]\n"),))


def test_either_way_of_matching_suffices_and_both_are_better() -> None:
    scoring = passages.shipped()
    nothing = passages.score(scoring, 1_200, 0.0)
    meant, said = passages.score(scoring, 7_200, 0.0), passages.score(scoring, None, 1.0)
    assert (nothing, meant, said) == (0, scoring.meaning, scoring.words)
    # 1 - (1 - .85)(1 - .75)
    assert passages.score(scoring, 9_000, 2.0) == 9_625
