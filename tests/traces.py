"""What LILA keeps of a word: looked for in every byte of its files, and in what is packed there."""

from __future__ import annotations

import lzma
import zlib
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from lila_app.storage.connection import Store

TABLES = "select name from sqlite_master where type = 'table' and name not like 'vec_%'"


def holding(folder: Path, words: Iterable[str]) -> list[tuple[str, str]]:
    """Each place below the folder that holds one of the words, however spelt, with the word."""
    wanted = [(word, word.lower()) for word in words]
    return [
        (place, word)
        for place, content in everything(folder)
        for text in [content.decode("utf-8", "ignore").lower()]
        for word, lower in wanted
        if lower in text
    ]


def everything(folder: Path) -> Iterator[tuple[str, bytes]]:
    """Every file as it lies there (weights of models aside), and every value of every store."""
    for path in sorted(folder.rglob("*")):
        if path.is_file() and "models" not in path.parts:
            place = str(path.relative_to(folder))
            yield place, path.read_bytes()
            if path.suffix == ".db":
                yield from ((f"{place}:{table}", value) for table, value in values(path))


def values(path: Path) -> Iterator[tuple[str, bytes]]:
    """Every text and blob of a store with its table, as it is and, where it is packed, unpacked."""
    with Store.open(path, read_only=True) as store, store.read() as connection:
        for (table,) in connection.execute(TABLES).fetchall():
            for row in connection.execute(f"select * from {table}"):
                for value in row:
                    if isinstance(value, str | bytes):
                        raw = value.encode() if isinstance(value, str) else value
                        yield table, raw
                        yield from ((table, one) for one in _unpacked(raw))


def _unpacked(raw: bytes) -> Iterator[bytes]:
    for unpack in (zlib.decompress, lzma.decompress):
        with suppress(zlib.error, lzma.LZMAError):
            yield unpack(raw)
