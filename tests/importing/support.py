"""Exports as services write them, and importing them without an assistant."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from lila_app.importing.model import Format, Skip
from lila_app.importing.running import Choice, Outcome, Watch, run
from lila_app.storage.connection import Store

NOW = "2026-11-30T08:00:00+00:00"
BERLIN = ZoneInfo("Europe/Berlin")


@dataclass(frozen=True, slots=True)
class Done:
    outcome: Outcome
    skips: tuple[Skip, ...]

    @property
    def reasons(self) -> list[str]:
        return [skip.reason for skip in self.skips]


def bring(
    store: Store | None,
    path: Path,
    *,
    kind: Format | None = None,
    source: str = "",
    zone: ZoneInfo | None = None,
    learn: bool = True,
    dry: bool = False,
    stopped: Callable[[], bool] = lambda: False,
) -> Done:
    """Import a path."""
    skips: list[Skip] = []
    choice = Choice(BERLIN, kind, source, zone, learn, dry)
    watch = Watch(lambda *_: None, skips.append, stopped, lambda: NOW)
    return Done(run(store, path, choice, watch), tuple(skips))


def said(store: Store) -> list[tuple[str, str | None]]:
    """Every turn's words and reply, in order."""
    with store.read() as connection:
        return connection.execute("select user, reply from turns order by sequence").fetchall()


def rows(store: Store, query: str) -> list[tuple[Any, ...]]:
    with store.read() as connection:
        return connection.execute(query).fetchall()


def node(
    id: str,
    parent: str | None,
    role: str = "user",
    text: str | None = "",
    at: object = 1_700_000_000,
    **message: Any,
) -> dict[str, Any]:
    """A node of ChatGPT's mapping."""
    content = {"content_type": "text", "parts": [text]}
    body = {"id": id, "author": {"role": role}, "create_time": at, "content": content, **message}
    return {"id": id, "parent": parent, "children": [], "message": body}


def chat(*nodes: dict[str, Any], current: str | None = None, **fields: Any) -> dict[str, Any]:
    """A conversation of ChatGPT's export."""
    return {
        "title": "Bees",
        "create_time": 1_700_000_000.5,
        "update_time": 1_700_009_000,
        "conversation_id": "c-1",
        "current_node": nodes[-1]["id"] if current is None else current,
        "mapping": {one["id"]: one for one in nodes},
        **fields,
    }


def claude(*messages: dict[str, Any], **fields: Any) -> dict[str, Any]:
    """A conversation of Claude's export."""
    return {
        "uuid": "k-1",
        "name": "Bread",
        "created_at": "2025-02-01T09:00:00.123456Z",
        "updated_at": "2025-02-01T10:00:00Z",
        "chat_messages": list(messages),
        **fields,
    }


def message(uuid: str, sender: str, text: str, **fields: Any) -> dict[str, Any]:
    """A message of Claude's export."""
    return {
        "uuid": uuid,
        "sender": sender,
        "text": text,
        "created_at": "2025-02-01T09:01:00Z",
        "attachments": [],
        "files": [],
        **fields,
    }


def written(path: Path, value: object) -> Path:
    path.write_text(json.dumps(value), encoding="utf-8")
    return path


def lines(path: Path, *records: object) -> Path:
    path.write_text("".join(json.dumps(one) + "\n" for one in records), encoding="utf-8")
    return path


def zipped(path: Path, members: Sequence[tuple[str, bytes]]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members:
            archive.writestr(name, content)
    return path
