"""Redact, stream, restore: exactly the text again, whatever it is, was found, and was cut into."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from lila_app.privacy import placeholders
from lila_app.privacy.placeholders import FORM, LABELS, LONGEST
from lila_app.privacy.redaction import Held, Redactor
from lila_app.privacy.spans import KINDS, Kind, Span
from lila_app.privacy.streaming import Restorer
from lila_app.privacy.vault import Vault
from lila_app.storage.connection import Store
from tests.privacy.conftest import AT

KEY = bytes(range(32))
EVERY: frozenset[Kind] = frozenset((*KINDS, "denied", "lookalike"))


@dataclass
class Finds:
    """Finds what it is told to, wherever the text is long enough."""

    spans: list[tuple[int, int, Kind]]

    def find(self, text: str, kinds: frozenset[Kind]) -> Iterable[Span]:
        for start, length, kind in self.spans:
            if start < len(text):
                yield Span(start, min(len(text), start + length), kind)


@pytest.fixture(scope="module")
def kept() -> Iterator[Vault]:
    with tempfile.TemporaryDirectory() as folder, Store.open(Path(folder) / "v.db") as store:
        yield Vault(store, lambda fresh: KEY, lambda: AT)


_LOOKING = st.builds(
    lambda label, number, way: f"[{label}{number}{way}]",
    st.sampled_from(sorted(LABELS.values())),
    st.integers(1, 12),
    st.sampled_from(["", "B", "ZZ"]),
)
_TEXTS = st.lists(
    st.one_of(
        st.text(max_size=12),
        _LOOKING,
        st.sampled_from(["[", "]", "[MAIL", "[MAIL1", "1]", "[[MAIL1]]", "\\", '"', "\n"]),
    ),
    max_size=8,
).map("".join)
_SPANS = st.lists(st.tuples(st.integers(0, 60), st.integers(1, 20), st.sampled_from(KINDS)))


def streamed(text: str, cuts: list[int], values: dict[str, str], *, within_json: bool) -> str:
    restorer = Restorer(values, within_json=within_json)
    places = sorted({min(cut, len(text)) for cut in cuts} | {0, len(text)})
    pieces = [text[a:b] for a, b in pairwise(places)]
    return "".join((*map(restorer.take, pieces), restorer.end()))


@settings(max_examples=60)
@given(st.lists(_TEXTS, min_size=1, max_size=3), _SPANS, st.lists(st.integers(0, 120)))
@example(["[MAIL1] and [MAIL1", "]"], [(0, 3, "mail")], [1, 2, 3, 4, 5])
def test_the_text_comes_back_exactly(
    kept: Vault, texts: list[str], spans: list[tuple[int, int, Kind]], cuts: list[int]
) -> None:
    kept.clear()
    redactor, nothing = Redactor(Finds(spans), kept), Redactor(Finds([]), kept)
    for text in texts:
        held = Held()
        redacted = redactor.redacted(text, EVERY, held)
        assert streamed(redacted, cuts, held.values, within_json=False) == text
        assert redactor.restored(redacted) == text
        # A text that was redacted before, and whose placeholders are ours, stays as it is.
        next_number = kept.next
        assert nothing.redacted(redacted, frozenset({"denied"}), ours=True) == redacted
        assert kept.next == next_number
    held = Held()
    together = redactor.all_redacted(texts, EVERY, held)
    assert [held.restored(one) for one in together] == texts


@settings(max_examples=60)
@given(_TEXTS, _SPANS, st.lists(st.integers(0, 200)))
def test_within_json_it_comes_back_as_the_same_value(
    kept: Vault, text: str, spans: list[tuple[int, int, Kind]], cuts: list[int]
) -> None:
    held = Held()
    redacted = Redactor(Finds(spans), kept).redacted(text, EVERY, held)
    written = json.dumps({"text": redacted}, ensure_ascii=False)
    assert json.loads(streamed(written, cuts, held.values, within_json=True)) == {"text": text}


@given(_TEXTS)
def test_what_is_held_back_is_the_beginning_of_a_placeholder(text: str) -> None:
    at = placeholders.unfinished(text)
    assert len(text) - at < LONGEST
    if at < len(text):
        assert FORM.fullmatch(text[at:]) is None
    for label in ("MAIL", "ORG"):
        whole = f"[{label}12B]"
        for length in range(1, len(whole)):
            assert placeholders.unfinished("x" + whole[:length]) == 1


@given(_TEXTS, st.integers(0, 60))
def test_a_cut_leaves_no_half_of_a_placeholder(text: str, length: int) -> None:
    cut = placeholders.cut(text, length)
    assert len(cut) <= length and text.startswith(cut)
    for match in FORM.finditer(text):
        assert not match.start() < len(cut) < match.end()


def test_a_long_text_is_held_back_for_no_more_than_a_placeholders_length() -> None:
    restorer = Restorer({"[MAIL1]": "a@b.org"})
    assert restorer.take("Write to [MA") == "Write to "
    assert restorer.take("IL1] or [see below") == "a@b.org or [see below"
    assert restorer.take(" [MAIL") == " "
    assert restorer.end() == "[MAIL"


def test_what_a_value_says_is_not_restored_in_its_turn() -> None:
    assert placeholders.restored("[MAIL1]", {"[MAIL1]": "[MAIL2]", "[MAIL2]": "x"}.get) == "[MAIL2]"
