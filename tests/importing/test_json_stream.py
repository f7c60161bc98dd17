from __future__ import annotations

import io
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lila_app.errors import DocumentError
from lila_app.importing import json_stream
from lila_app.importing.json_stream import TooLarge, elements

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


class Dripping(io.BytesIO):
    """Gives a few bytes at a time, whatever is asked for."""

    def __init__(self, content: bytes, most: int) -> None:
        super().__init__(content)
        self._most = most

    def read(self, size: int | None = -1, /) -> bytes:
        return super().read(min(self._most, size or self._most))


@settings(max_examples=50)
@given(st.lists(VALUES, max_size=6), st.integers(1, 9), st.sampled_from([None, 2]), st.booleans())
def test_it_reads_what_json_loads_reads_however_it_is_cut(
    values: list[object], most: int, indent: int | None, ascii: bool
) -> None:
    text = json.dumps(values, indent=indent, ensure_ascii=ascii)
    content = text.encode("utf-8", "surrogatepass")
    try:
        content.decode("utf-8")
    except UnicodeDecodeError:
        return
    assert list(elements(Dripping(content, most), "x")) == json.loads(text)


@settings(max_examples=50)
@given(st.lists(VALUES, min_size=1, max_size=5), st.integers(1, 9))
def test_elements_that_are_too_large_are_passed_over_one_by_one(
    values: list[object], most: int
) -> None:
    # A limit of nothing: whatever does not fit the first piece is passed over.
    content = json.dumps(values).encode()
    found = list(elements(Dripping(content, most), "x", largest=0))
    assert len(found) == len(values)
    for got, value in zip(found, values, strict=True):
        assert isinstance(got, TooLarge) or got == value


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "does not begin with a list"),
        (b"7", "does not begin with a list"),
        (b"[", "the file ends in it"),
        (b'[{"a": 1}', "conversation 1 is cut off"),
        (b'[{"a": 1}, {"b": "c', "conversation 2 is cut off"),
        (b'[{"a": 1} {"b": 2}]', "conversation 1 is followed by something"),
        (b'[{"a" 1}' + b" " * 200 + b"]", "conversation 1 is no JSON"),
        (b"[,]", "conversation 1 is no JSON"),
        ("[1]".encode("utf-16"), "does not begin with a list"),
    ],
)
def test_what_is_no_list_says_where_it_ends(content: bytes, says: str) -> None:
    with pytest.raises(DocumentError, match=says) as caught:
        list(elements(io.BytesIO(content), "name.json"))
    assert caught.value.message.startswith("name.json: ")
    assert caught.value.hint


def test_bytes_that_are_no_utf_8_spoil_one_text_alone() -> None:
    found = list(elements(io.BytesIO(b'\xef\xbb\xbf["a\xffb", "ok"]'), "x"))
    assert found == ["a\udcffb", "ok"]


def test_a_nest_too_deep_is_passed_over() -> None:
    deep = b'{"a":' * 100_000 + b"1" + b"}" * 100_000
    found = list(elements(io.BytesIO(b"[" + deep + b', {"b": "]"}]'), "x"))
    assert isinstance(found[0], TooLarge)
    assert found[1:] == [{"b": "]"}]


def test_of_a_long_file_only_a_window_is_held(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_stream, "READ", 1000)
    held: list[int] = []

    class Watched(io.BytesIO):
        def read(self, size: int | None = -1, /) -> bytes:
            held.append(size or 0)
            return super().read(size)

    content = json.dumps([{"text": "x" * 300}] * 1000).encode()
    assert len(list(elements(Watched(content), "x"))) == 1000
    assert max(held) <= 2000


def test_brackets_and_quotes_within_texts_end_nothing() -> None:
    awkward: list[object] = ['a, b]}" \\ \\" {[', {"x": 'c\\\\"]', "y": ["}", ",", '"']}, "end"]
    content = json.dumps(awkward * 5).encode()
    for most in (1, 2, 3, 7):
        found = list(elements(Dripping(content, most), "x", largest=0))
        assert len(found) == 15
        assert any(isinstance(one, TooLarge) for one in found)
        assert all(isinstance(one, TooLarge) or one in awkward for one in found)
