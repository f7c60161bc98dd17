"""The open form of a store: JSON, a row a line, a file a table.

Every table that is not computed from others is in it, whatever version of the store added it.
Values are JSON's own; bytes are `{"base64": …}`, and where they are packed JSON or text they are
unpacked. No key and no secret is in a store, so none is in its export; what privacy rules put away
(`vault`) stays encrypted, and its key stays where it is.
"""

from __future__ import annotations

import base64
import json
import re
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from lila_app.storage.driver import Connection

FORMAT = 1
"""Version of the form, as `lila_export` in the manifest."""

MANIFEST = "manifest.json"

MESSAGES = "messages.jsonl"
"""What was said, in the form every program that imports conversations can be taught to read."""

LEFT = {
    "record_batches": "its records are in `records`, each by itself",
    "breakers": "it is about providers at this moment",
    "contents": "it is about what providers hold at this moment",
    "backups": "it is about files of this machine",
}
"""Tables that are left out, and why."""

_COMPUTED = re.compile(r".*_fts(_.*)?|.*_terms|(vec|vector|sqlite)_.*")

OWN_COUNTERS = ("incarnation", "scrub_due")
"""Counters that are about the file and not about what is in it."""

Value = str | int | float | bytes | None

Row = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class _Packed:
    out: Callable[[bytes], object]
    back: Callable[[object], bytes]


def packed(value: object) -> bytes:
    """JSON as the event log and the records write it, byte for byte."""
    text = json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return text.encode()


def pack_record(value: object) -> bytes:
    """JSON as `records` keeps it."""
    return zlib.compress(json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode())


_PACKED = {
    ("payloads", "body"): _Packed(json.loads, packed),
    ("records", "body"): _Packed(lambda body: json.loads(zlib.decompress(body)), pack_record),
    ("records", "inputs"): _Packed(lambda body: json.loads(zlib.decompress(body)), pack_record),
    ("policies", "body"): _Packed(
        lambda body: zlib.decompress(body).decode(), lambda text: zlib.compress(str(text).encode())
    ),
}


def tables(connection: Connection) -> list[str]:
    """The tables of the open form, in the order they were added to the store."""
    names = [
        str(row[0])
        for row in connection.execute(
            "select name from sqlite_master where type = 'table' order by rowid"
        )
    ]
    return [name for name in names if name not in LEFT and not _COMPUTED.fullmatch(name)]


def columns(connection: Connection, table: str) -> list[str]:
    """A table's columns, in order."""
    return [str(row[1]) for row in connection.execute(f"pragma table_info({table})")]


def out(table: str, names: Sequence[str], row: Sequence[Value]) -> dict[str, object]:
    """A row as JSON."""
    found: dict[str, object] = {}
    for name, value in zip(names, row, strict=True):
        form = _PACKED.get((table, name))
        if isinstance(value, bytes):
            plain = {"base64": base64.b64encode(value).decode()}
            found[name] = form.out(value) if form else plain
        else:
            found[name] = value
    return found


def back(table: str, name: str, value: object) -> Value:
    """A value as the table keeps it. Raises `ValueError`."""
    form = _PACKED.get((table, name))
    if form is not None and value is not None:
        return form.back(value)
    if value is None or isinstance(value, str | float):
        return value
    if isinstance(value, int):
        return int(value)
    if isinstance(value, dict) and list(cast("dict[str, object]", value)) == ["base64"]:
        encoded = cast("dict[str, object]", value)["base64"]
        return base64.b64decode(str(encoded), validate=True)
    raise ValueError(f"{name} has no such value")
