"""What a person says to LILA, from the arguments and from standard input."""

from __future__ import annotations

import sys
import threading
from collections.abc import Sequence
from typing import BinaryIO

from lila_app.cli.output import note
from lila_app.errors import UsageError

LARGEST = 1024 * 1024
"""Bytes of one message; a model's window ends long before, so this only stops accidents."""

_PATIENCE = 2.0
"""Seconds after which waiting for standard input is said aloud."""


def gather(words: Sequence[str]) -> str:
    """The message: the words, then what standard input holds.

    Standard input is read when it is not a terminal, or when one of the words is `-`. Raises
    `UsageError` for a message that is empty, too long or not UTF-8.
    """
    spoken = " ".join(word for word in words if word != "-")
    piped = ""
    if "-" in words or not sys.stdin.isatty():
        piped = read_limited(sys.stdin.buffer)
    return checked("\n\n".join(part for part in (spoken, piped) if part.strip()))


def checked(text: str) -> str:
    """`text` if it can be a message, else a `UsageError`."""
    try:
        size = len(text.encode("utf-8"))
    except UnicodeEncodeError as error:
        raise UsageError(
            "the message is not valid UTF-8", hint="write the argument in UTF-8"
        ) from error
    if size > LARGEST:
        raise too_long()
    if not text.strip():
        raise UsageError(
            "the message is empty", hint='say something, as in lila ask "what is due today?"'
        )
    return text


def read_limited(stream: BinaryIO) -> str:
    """All of a stream as text, without its last line break; stops reading past the limit."""
    waiting = threading.Timer(
        _PATIENCE, note, ("reading standard input until it ends (Ctrl-D; </dev/null for none)",)
    )
    waiting.daemon = True
    waiting.start()
    try:
        data = stream.read(LARGEST + 1)
    finally:
        waiting.cancel()
    return decoded(data).rstrip("\r\n")


def decoded(data: bytes) -> str:
    """Bytes from outside as text; a byte order mark is dropped."""
    if len(data) > LARGEST:
        raise too_long()
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UsageError(
            f"standard input is not valid UTF-8 (byte {error.start})",
            hint="convert it, as in `iconv -f latin1 -t utf-8`, or save it to a file and "
            "`lila ingest` that",
        ) from error


def too_long() -> UsageError:
    """The error for what is a document rather than a message."""
    return UsageError(
        "the message is longer than 1 MiB",
        hint="save it to a file, put it in with `lila ingest FILE`, then ask about it",
    )
