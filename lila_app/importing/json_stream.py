"""JSON too large to load: the elements of an array one by one, over a sliding window.

Memory is bounded by the largest element, and that by a limit: a larger one is passed over bracket
by bracket without being held. Bytes that are not UTF-8 become lone surrogates, so that they spoil
the message they are in and no other.
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterator
from typing import Protocol

from lila_app.errors import DocumentError

READ = 1 << 18
"""Characters read at once."""

LARGEST_ELEMENT = 128_000_000
"""Characters of one conversation that are held; the largest known exports have some 20 million."""

LARGEST_NUMBER = 64
"""Characters at a window's end that may be half a literal, a number or an escape."""

_SPACE = re.compile(r"[ \t\r\n]*")
_STRUCTURE = re.compile(r'["{}\[\],\\]')


class Readable(Protocol):
    """A stream of bytes."""

    def read(self, size: int, /) -> bytes:
        """The next bytes, none at the end."""
        ...


class TooLarge:
    """Stands for an element that was passed over; `why` says in words."""

    def __init__(self, why: str) -> None:
        self.why = why


def elements(stream: Readable, name: str, *, largest: int = LARGEST_ELEMENT) -> Iterator[object]:
    """The elements of a top-level array, or the one object there is.

    Raises `DocumentError` naming file and element.
    """
    return _Array(stream, name, largest).elements()


class _Array:
    def __init__(self, stream: Readable, name: str, largest: int) -> None:
        self._stream = stream
        self._name = name
        self._largest = largest
        self._decode = codecs.getincrementaldecoder("utf-8-sig")("surrogateescape")
        self._decoder = json.JSONDecoder()
        self._text = ""
        self._at = 0
        self._ended = False
        self._number = 0

    def elements(self) -> Iterator[object]:
        first = self._next()
        if first == "{":  # some tools write a conversation a file
            self._number = 1
            yield self._element()
            return
        if first != "[":
            raise self._error("it does not begin with a list")
        self._at += 1
        if self._next() == "]":
            return
        while True:
            self._number += 1
            yield self._element()
            mark = self._next()
            if mark not in (",", "]"):
                what = "is cut off" if not mark else "is followed by something that is no JSON"
                raise self._error(f"conversation {self._number} {what}")
            self._at += 1
            if mark == "]":
                return

    def _next(self) -> str:
        """The next character that is no blank, "" at the end."""
        while True:
            match = _SPACE.match(self._text, self._at)
            self._at = match.end() if match else self._at
            if self._at < len(self._text):
                return self._text[self._at]
            if not self._more(READ):
                return ""

    def _more(self, size: int) -> bool:
        """Drop what is done and read on; False at the end."""
        if self._ended:
            return False
        chunk = self._stream.read(size)
        self._ended = not chunk
        self._text = self._text[self._at :] + self._decode.decode(chunk, self._ended)
        self._at = 0
        return not self._ended

    def _element(self) -> object:
        self._next()
        size = READ
        while True:
            try:
                found: tuple[object, int] = self._decoder.raw_decode(self._text, self._at)
            except RecursionError:
                return self._pass_over("it is nested too deeply")
            except json.JSONDecodeError as error:
                self._forgive(error)
            else:
                # A number may go on in what was not read yet; nothing else may.
                bare = isinstance(found[0], int | float)
                if not bare or found[1] < len(self._text) or self._ended:
                    self._at = found[1]
                    return found[0]
            if len(self._text) - self._at > self._largest:
                return self._pass_over(f"it has more than {self._largest:,} characters")
            self._more(size)
            # Each attempt begins anew, so the window doubles: twice the work at most.
            size = max(READ, len(self._text))

    def _forgive(self, error: json.JSONDecodeError) -> None:
        """Raise unless the element may be whole once more of it is read."""
        open_string = error.msg.startswith("Unterminated string")
        if not self._ended:
            if open_string or error.pos >= len(self._text) - LARGEST_NUMBER:
                return
        elif open_string or error.pos >= len(self._text.rstrip()):
            raise self._error(f"conversation {self._number} is cut off: the file ends in it")
        raise self._error(f"conversation {self._number} is no JSON: {error.msg}") from None

    def _pass_over(self, why: str) -> TooLarge:
        """Go past the element by its brackets alone."""
        depth, quoted = 0, False
        while True:
            match = _STRUCTURE.search(self._text, self._at)
            if match is None:
                self._at = len(self._text)
                if not self._more(READ):
                    raise self._error(f"conversation {self._number} is cut off")
                continue
            mark, at = match[0], match.start()
            if mark == "\\" and at + 1 >= len(self._text) and not self._ended:
                self._at = at
                self._more(READ)
                continue
            if mark in ",]}" and not quoted and depth == 0:
                self._at = at
                return TooLarge(why)
            self._at = match.end() + (mark == "\\")
            if mark == '"':
                quoted = not quoted
            elif not quoted:
                depth += {"{": 1, "[": 1, "}": -1, "]": -1}.get(mark, 0)

    def _error(self, what: str) -> DocumentError:
        return DocumentError(
            f"{self._name}: {what}",
            hint="what was imported by now stays; get the export again, then import it again",
        )
