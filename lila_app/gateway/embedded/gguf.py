"""Reading the header of a GGUF file: what it is, and which of its tokens are control tokens.

Only the header is read, never the weights. Format: ggml's `docs/gguf.md`, versions 2 and 3,
little-endian (read 2026-11-30).
"""

from __future__ import annotations

import mmap
import struct
from dataclasses import dataclass
from pathlib import Path

from lila_app.errors import MissingWeightsError, WeightsError

MAGIC = b"GGUF"

_STRING, _ARRAY = 8, 9
_FIXED = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
"""Value types of one fixed size, as `struct` codes."""

_TOKENS = "tokenizer.ggml.tokens"
_TOKEN_TYPES = "tokenizer.ggml.token_type"
_CONTROL_TYPES = frozenset({2, 3})
"""Unknown and control tokens: what a template's own markers are made of."""
_USER_DEFINED = 4
_KEPT_ARRAYS = frozenset({_TOKENS, _TOKEN_TYPES})

_LONGEST_KEY = 65_535
_MOST_DIMENSIONS = 4

_LENGTH = struct.Struct("<Q")

Value = int | float | bool | str | list[str] | list[int]


@dataclass(frozen=True, slots=True)
class Header:
    """What a GGUF file says about itself.

    `context_length` is the window the model was trained with, in tokens (0: not said).
    `control_tokens` are the texts its tokenizer turns into markers, longest first.
    """

    architecture: str
    name: str
    context_length: int
    control_tokens: tuple[str, ...]


def read_header(path: Path) -> Header:
    """Read the header of the model file at `path` (about 0.1 s for 50,000 tokens).

    Raises `MissingWeightsError` where there is no file and `WeightsError` where it is not a GGUF
    file, or one that was cut short.
    """
    try:
        with path.open("rb") as file:
            if file.read(len(MAGIC)) != MAGIC:
                raise _not_gguf(path)
            with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as view:
                return _parse(_Reader(view, path))
    except FileNotFoundError as error:
        raise MissingWeightsError(
            f"there is no file {path}", hint="give the path of a .gguf file"
        ) from error
    except IsADirectoryError as error:
        raise WeightsError(
            f"{path} is a folder", hint="give the path of a .gguf file in it"
        ) from error
    except OSError as error:
        raise WeightsError(
            f"{path} cannot be read: {error.strerror}", hint="make the file readable for you"
        ) from error


def _not_gguf(path: Path) -> WeightsError:
    return WeightsError(
        f"{path} is not a GGUF model file",
        hint="adopt a file that ends in .gguf, as llama.cpp and Ollama models are published",
    )


class _Reader:
    """A cursor over the mapped file; a read past the end is a file cut short."""

    def __init__(self, view: mmap.mmap, path: Path) -> None:
        self._view = view
        self._path = path
        self._at = len(MAGIC)

    @property
    def size(self) -> int:
        return len(self._view)

    def at(self) -> int:
        return self._at

    def damaged(self) -> WeightsError:
        return WeightsError(
            f"{self._path} is damaged or was not downloaded whole",
            hint="fetch the file again",
        )

    def number(self, code: str) -> int | float | bool:
        try:
            (value,) = struct.unpack_from(f"<{code}", self._view, self._at)
        except struct.error as error:
            raise self.damaged() from error
        self._at += struct.calcsize(f"<{code}")
        return value

    def count(self, code: str = "Q") -> int:
        value = int(self.number(code))
        if value > self.size:  # every counted thing takes a byte at the least
            raise self.damaged()
        return value

    def string(self) -> str:
        length = self.count()
        data = self._view[self._at : self._at + length]
        if len(data) < length:
            raise self.damaged()
        self._at += length
        return data.decode("utf-8", errors="replace")

    def strings(self, length: int, *, keep: bool) -> list[str] | None:
        """An array of strings; written out, for vocabularies of 250,000 of them."""
        view, at, size, read = self._view, self._at, len(self._view), _LENGTH.unpack_from
        kept: list[str] = []
        for _ in range(length):
            if at + _LENGTH.size > size:
                raise self.damaged()
            start = at + _LENGTH.size
            at = start + read(view, at)[0]
            if keep:
                kept.append(view[start:at].decode("utf-8", errors="replace"))
        if at > size:
            raise self.damaged()
        self._at = at
        return kept if keep else None

    def skip(self, length: int) -> None:
        if self._at + length > self.size:
            raise self.damaged()
        self._at += length


def _parse(reader: _Reader) -> Header:
    if reader.number("I") not in (2, 3):
        raise reader.damaged()
    tensors, keys = reader.count(), reader.count()
    found: dict[str, Value] = {}
    for _ in range(keys):
        key = reader.string()
        if len(key) > _LONGEST_KEY:
            raise reader.damaged()
        value = _value(reader, int(reader.number("I")), key in _KEPT_ARRAYS)
        if value is not None:
            found[key] = value
    _check_tensors(reader, tensors)
    architecture = _text(found, "general.architecture")
    length = found.get(f"{architecture}.context_length", 0)
    return Header(
        architecture=architecture,
        name=_text(found, "general.name"),
        context_length=length if isinstance(length, int) else 0,
        control_tokens=_control_tokens(found),
    )


def _value(reader: _Reader, kind: int, keep_array: bool) -> Value | None:
    if kind in _FIXED:
        return reader.number(_FIXED[kind])
    if kind == _STRING:
        return reader.string()
    if kind != _ARRAY:
        raise reader.damaged()
    kind, length = int(reader.number("I")), reader.count()
    if kind == _STRING:
        return reader.strings(length, keep=keep_array)
    if kind not in _FIXED:
        raise reader.damaged()
    if not keep_array:
        reader.skip(length * struct.calcsize(f"<{_FIXED[kind]}"))
        return None
    return [int(reader.number(_FIXED[kind])) for _ in range(length)]


def _check_tensors(reader: _Reader, tensors: int) -> None:
    """Refuse a file that ends before its last tensor begins; half a download mostly does."""
    furthest = 0
    for _ in range(tensors):
        reader.string()
        dimensions = reader.count("I")
        if dimensions > _MOST_DIMENSIONS:
            raise reader.damaged()
        reader.skip(8 * dimensions + 4)
        furthest = max(furthest, int(reader.number("Q")))
    if tensors and reader.at() + furthest >= reader.size:
        raise reader.damaged()


def _text(found: dict[str, Value], key: str) -> str:
    value = found.get(key, "")
    return value if isinstance(value, str) else ""


def _control_tokens(found: dict[str, Value]) -> tuple[str, ...]:
    tokens, types = found.get(_TOKENS, []), found.get(_TOKEN_TYPES, [])
    if not isinstance(tokens, list) or not isinstance(types, list):
        return ()
    chosen = {
        str(token)
        for token, kind in zip(tokens, types, strict=False)
        if kind in _CONTROL_TYPES or (kind == _USER_DEFINED and _looks_like_marker(str(token)))
    }
    return tuple(sorted((t for t in chosen if len(t) > 1), key=lambda text: (-len(text), text)))


def _looks_like_marker(token: str) -> bool:
    """User-defined tokens are also plain words and runs of spaces; those are left alone."""
    return (token[:1], token[-1:]) in {("<", ">"), ("[", "]")}
