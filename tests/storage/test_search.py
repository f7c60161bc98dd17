from __future__ import annotations

from collections import Counter
from contextlib import closing
from math import log

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lila_app.storage import driver, memories, search, sessions, turns, vectors
from lila_app.storage.connection import Store
from lila_app.storage.schema import TOKENIZER
from lila_app.storage.terms import Terms, quoted
from tests.storage.builders import AT, exchange, ingest, session

# Words that Porter stemming leaves as they are, so that the oracle needs no stemmer.
WORDS = ("zork", "blim", "quat", "dorf", "plonk", "vex", "grum", "tilk")


def _bm25(texts: dict[str, list[str]], query: set[str]) -> dict[str, float]:
    """FTS5's own formula, written down again (k1 1.2, b 0.75, idf floored at 1e-6)."""
    average = sum(len(words) for words in texts.values()) / len(texts)
    found: dict[str, float] = {}
    for id, words in texts.items():
        held = Counter(words)
        score = 0.0
        for word in query & set(held):
            having = sum(word in other for other in texts.values())
            idf = max(log((len(texts) - having + 0.5) / (having + 0.5)), 1e-6)
            tf = held[word]
            score += idf * tf * 2.2 / (tf + 1.2 * (0.25 + 0.75 * len(words) / average))
        if query & set(held):
            found[id] = score
    return found


@pytest.mark.usefixtures("copied_stores")
@settings(max_examples=60)
@given(
    rows=st.lists(
        st.lists(st.sampled_from(WORDS), min_size=1, max_size=6), min_size=1, max_size=14
    ),
    query=st.lists(st.sampled_from((*WORDS, "absent")), min_size=1, max_size=4),
    limit=st.integers(1, 6),
)
def test_rare_words_are_searched_as_brute_force_does(
    tmp_path_factory: pytest.TempPathFactory,
    rows: list[list[str]],
    query: list[str],
    limit: int,
) -> None:
    with (
        pytest.MonkeyPatch.context() as patched,
        Store.open(tmp_path_factory.mktemp("search") / "default.db") as store,
    ):
        patched.setattr(search, "COMMON_ROWS", limit)
        patched.setattr(search, "COMMON_SHARE", 10_000)
        with store.write() as connection:
            for words in rows:
                memories.add(connection, " ".join(words), at=AT)
        texts = {f"m{count}": words for count, words in enumerate(rows, 1)}
        counts = {word: sum(word in words for words in rows) for word in set(query)}
        rare = {word for word, count in counts.items() if 0 < count <= limit}
        if rare or not any(counts.values()):
            wanted = _bm25(texts, rare)
        else:
            useful = [word for word in counts if 0 < counts[word] * 4 <= len(rows)]
            chosen = sorted(useful, key=lambda word: (counts[word], word))[:2]
            both = _bm25(texts, set(chosen))
            wanted = {id: both[id] for id in both if set(chosen) <= set(texts[id])}
            wanted = wanted or (_bm25(texts, set(chosen[:1])) if chosen else {})
        hits = search.search_text(store, "memories", " ".join(query), k=50)
        assert {hit.id: hit.bm25 for hit in hits} == pytest.approx(wanted)
        order = [(-hit.bm25, int(hit.id[1:])) for hit in hits]
        assert order == sorted(order)

        def weight(word: str) -> float:
            counted = min(counts[word], limit + 1)
            return log(1 + (max(len(rows) - counted, 0) + 0.5) / (counted + 0.5))

        total = sum(weight(word) for word in counts)
        for hit in hits:
            held = sum(weight(word) for word in counts if word in texts[hit.id])
            assert hit.coverage == pytest.approx(held / total)
        first = search.search_text(store, "memories", " ".join(query), k=2)
        assert [(hit.id, hit.bm25) for hit in first] == [(hit.id, hit.bm25) for hit in hits[:2]]


def test_a_word_is_found_in_its_other_forms(store: Store) -> None:
    memories.add(store, "She was watering the geraniums", at=AT)
    for query in ("water geranium", "WATERED", "Géraniums"):
        assert [hit.id for hit in search.search_text(store, "memories", query, k=5)] == ["m1"]


def test_a_word_whose_stem_has_a_stem_of_its_own_is_found(store: Store) -> None:
    # Porter: "universities" -> "univers", and "generalizations" -> "gener" in two further steps.
    for text in ("universities", "generalizations", "dies", "oscillators"):
        memories.add(store, text, at=AT)
        hits = search.search_text(store, "memories", text, k=5)
        assert text in [memories.get(store, hit.id).text for hit in hits]
        assert hits[0].coverage == 1.0


@pytest.mark.parametrize(
    "query",
    [
        '"', "'", "a OR", "NEAR(", "text:x", "*", "-", "^zork", "zork*", "{}", "a AND NOT b", "\0",
        "(((", "zork\"zork", "", " ", "?", "🫠", "x" * 100_000, "zork " * 50_000,
    ],
)  # fmt: skip
def test_nothing_in_a_query_is_syntax(store: Store, query: str) -> None:
    memories.add(store, "zork", at=AT)
    hits = search.search_text(store, "memories", query, k=5)
    assert [hit.id for hit in hits] == (["m1"] if "zork" in query else [])


def test_stop_words_do_not_find_what_other_words_do_not(store: Store) -> None:
    memories.add(store, "what is it that you would do with this", at=AT)
    memories.add(store, "zork", at=AT)
    hits = search.search_text(store, "memories", "what would you do with a zork", k=5)
    assert [(hit.id, hit.coverage) for hit in hits] == [("m2", 1.0)]
    assert [hit.id for hit in search.search_text(store, "memories", "what is it", k=5)] == ["m1"]


def test_a_query_about_nothing_that_is_there_covers_less(store: Store) -> None:
    memories.add(store, "the dentist in Graz", at=AT)
    memories.add(store, "a plumber in Linz", at=AT)
    (whole,) = search.search_text(store, "memories", "dentist Graz", k=1)
    (part,) = search.search_text(store, "memories", "dentist Vienna", k=1)
    assert whole.coverage == 1.0
    assert part.coverage < 0.5


def test_an_empty_table_has_no_hits(store: Store) -> None:
    for table in vectors.TABLES:
        assert search.search_text(store, table, "zork", k=5) == []
    memories.add(store, "zork", at=AT)
    assert search.search_text(store, "memories", "zork", k=0) == []


def test_a_session_can_be_left_out_with_what_it_inherited(store: Store) -> None:
    one, other = session(store), session(store)
    exchange(store, one, "the zork broke", "call the plumber")
    fork = sessions.fork(store, one, at=AT)
    exchange(store, one, "zork again", "hm")
    exchange(store, other, "a zork for Ben", "fine")

    def found(left_out: str | None) -> set[str]:
        hits = search.search_text(store, "turns", "zork", k=9, exclude_session=left_out)
        return {hit.id for hit in hits}

    assert found(None) == {"t1", "t2", "t3"}
    assert found(one) == {"t3"}
    assert found(fork.id) == {"t2", "t3"}
    assert found(other) == {"t1", "t2"}


def test_the_persons_words_weigh_more_than_the_reply(store: Store) -> None:
    one = session(store)
    exchange(store, one, "hello there friend", "the zork is blue")
    exchange(store, one, "the zork is blue", "hello there friend")
    hits = search.search_text(store, "turns", "zork", k=2)
    assert [hit.id for hit in hits] == ["t2", "t1"]


def test_an_unanswered_turn_is_found_by_its_words(store: Store) -> None:
    turn = turns.begin(store, session(store), "zork", use_case="chat", at=AT)
    assert [hit.id for hit in search.search_text(store, "turns", "zork", k=2)] == [turn.id]


def test_chunks_are_found_by_heading_and_text(store: Store) -> None:
    ingest(store, ["about zork", "about plonk"])
    assert [hit.id for hit in search.search_text(store, "chunks", "plonk", k=5)] == ["d1.2"]
    assert {hit.id for hit in search.search_text(store, "chunks", "kinds", k=5)} == {"d1.1", "d1.2"}


def test_the_same_query_is_weighed_anew_when_the_table_changed(store: Store) -> None:
    memories.add(store, "zork blim", at=AT)
    memories.add(store, "quat", at=AT)

    def covered() -> dict[str, float]:
        found = search.search_text(store, "memories", "zork quat", k=9)
        return {hit.id: round(hit.coverage, 3) for hit in found}

    before = covered()
    assert covered() == before == {"m1": 0.5, "m2": 0.5}
    memories.add(store, "quat dorf", at=AT)
    # ln(1 + 2.5/1.5) and ln(1 + 1.5/2.5), as shares of their sum.
    assert covered() == {"m1": 0.676, "m2": 0.324, "m3": 0.324}


def test_what_is_looked_up_in_memory_leaves_nothing_there() -> None:
    terms = Terms()
    try:
        assert terms.stems("Watering the Zürich geraniums", 3) == {
            "watering": "water",
            "the": "the",
            "zurich": "zurich",
        }
        assert terms.matches({7: "watered plants", 9: "dry"}, ["watering", "dry"]) == {
            7: {"watering"},
            9: {"dry"},
        }
        assert terms.matches({}, ["dry"]) == {}
        assert terms.stems("", 5) == {}
    finally:
        terms.close()


SYLLABLES = st.lists(
    st.sampled_from(
        [
            *("a", "e", "i", "o", "u", "y", "b", "d", "l", "s", "t", "x", "z", "ies", "ing", "ed"),
            *("eed", "ational", "biliti", "es", "ly", "ss", "er", "ment", "é", "ß", "日", "ﬁ", "7"),
        ]
    ),
    min_size=1,
    max_size=5,
).map("".join)
SPOKEN = st.lists(
    st.one_of(SYLLABLES, st.sampled_from([" ", "-", "\n", "’", "'", "🫠", "\u0301", "_", "\0"])),
    max_size=12,
)


def _agrees(one: str, other: str, query: str) -> None:
    with closing(driver.memory()) as memory:
        memory.execute(f"create virtual table plain using fts5(text, tokenize='{TOKENIZER}')")
        memory.executemany("insert into plain (rowid, text) values (?, ?)", [(1, one), (2, other)])
        with closing(Terms()) as terms:
            for _ in range(2):
                words = terms.stems(query, 9)
                held = terms.matches({1: one, 2: other}, words)
                for word in words:
                    rows = memory.execute(
                        "select rowid from plain where plain match ?", (quoted(word),)
                    )
                    assert {row[0] for row in rows} == {row for row in held if word in held[row]}


THREE = (SPOKEN.map("".join), SPOKEN.map(" ".join), st.lists(SYLLABLES, max_size=5).map(" ".join))


@settings(max_examples=100)
@given(*THREE)
def test_which_words_a_text_holds_is_what_the_index_says(one: str, other: str, query: str) -> None:
    _agrees(one, other, query)


@pytest.mark.slow
@settings(max_examples=600)
@given(*THREE)
def test_which_words_many_texts_hold_is_what_the_index_says(
    one: str, other: str, query: str
) -> None:
    _agrees(one, other, query)


def test_a_query_gives_its_first_words_once_and_in_order() -> None:
    with closing(Terms()) as terms:
        assert list(terms.stems("b a b c-a d", 3)) == ["b", "a", "c"]
        assert list(terms.stems("日本 e\u0301tude x²", 9)) == ["日本", "etude", "x²"]
        assert terms.stems("🫠 ... \u0301", 9).keys() <= {"🫠"}
        assert len(terms.stems("word " * 9 + "x" * 100_000, 9)) == 2
