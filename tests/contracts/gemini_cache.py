"""Gemini's caches, as they promise to behave, over what arrives.

A prompt is a row of units: the tools, the system instruction, then one unit per content. A cached
content holds a row, and a request that names it goes on where that row ends. Tokens are four
characters each, rounded up per unit, so that a test can work them out by hand.

Rules: cachedContents of google-genai 3.6.1; minimum and error wording as reported for
BerriAI/litellm#17696 and others (2026); storage is billed by token and hour (ai.google.dev,
2026-10).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import takewhile
from typing import Any, Literal

CHARACTERS = 4
MINIMUM = 4_096

Row = tuple[str, ...]


def tokens(row: Sequence[str]) -> int:
    return sum(-(-len(unit) // CHARACTERS) for unit in row)


def row(body: dict[str, Any]) -> Row:
    """The units of a body: the tools, the system instruction, each content."""
    head = [body[key] for key in ("tools", "systemInstruction") if key in body]
    return tuple(text(unit) for unit in (*head, *body.get("contents", [])))


def text(unit: Any) -> str:
    """A unit as characters: the texts of a content, whatever else as JSON."""
    parts = unit.get("parts") if isinstance(unit, dict) else None
    if parts and all(part.keys() == {"text"} for part in parts):
        return str(unit.get("role", "")) + "".join(part["text"] for part in parts)
    return json.dumps(unit)


@dataclass
class Content:
    """One cachedContents object; `ended` when it was deleted."""

    name: str
    model: str
    key: str
    row: Row
    made: datetime
    updated: datetime
    expires: datetime
    ended: datetime | None = None

    @property
    def tokens(self) -> int:
        return tokens(self.row)

    def alive(self, now: datetime) -> bool:
        return self.ended is None and now < self.expires

    def wire(self) -> dict[str, object]:
        return {
            "name": self.name,
            "model": self.model,
            "createTime": rfc3339(self.made),
            "updateTime": rfc3339(self.updated),
            "expireTime": rfc3339(self.expires),
            "displayName": "",
            "usageMetadata": {"totalTokenCount": self.tokens},
        }


@dataclass(frozen=True)
class Served:
    """What one request read, and what it could have read at best; in tokens.

    `shared` is what it had in common with any request before it: what a client could have read
    that appends only and pays nothing for writing.
    """

    row: Row
    model: str
    key: str
    read: int
    shared: int

    @property
    def total(self) -> int:
        return tokens(self.row)


class Refused(Exception):
    """An error of the API."""

    def __init__(self, code: int, status: str, message: str) -> None:
        super().__init__(message)
        self.code, self.status, self.message = code, status, message


@dataclass
class Caches:
    """All cached contents of all keys, on a clock that is set by hand."""

    clock: Callable[[], datetime]
    minimum: int = MINIMUM
    implicit: Literal["off", "exact"] = "off"
    contents: list[Content] = field(default_factory=list[Content])
    served: list[Served] = field(default_factory=list[Served])

    def create(self, key: str, model: str, held: Row, life: timedelta) -> Content:
        if tokens(held) < self.minimum:
            raise Refused(
                400,
                "INVALID_ARGUMENT",
                f"Cached content is too small. total_token_count={tokens(held)}, "
                f"min_total_token_count={self.minimum}",
            )
        now = self.clock()
        name = f"cachedContents/c{len(self.contents) + 1}"
        made = Content(name, model, key, held, now, now, now + life)
        self.contents.append(made)
        return made

    def find(self, key: str, name: str) -> Content:
        """Raises as Google does for what is not there, has expired or is somebody else's."""
        for content in self.contents:
            if content.name == name and content.key == key and content.alive(self.clock()):
                return content
        raise Refused(403, "PERMISSION_DENIED", "CachedContent not found (or permission denied)")

    def extend(self, content: Content, life: timedelta) -> None:
        content.updated = self.clock()
        content.expires = content.updated + life

    def delete(self, content: Content) -> None:
        content.ended = self.clock()

    def serve(self, key: str, model: str, sent: Row, name: str | None) -> Served:
        """One request; `sent` is what stood in it beside the name of a cache."""
        held: Row = ()
        if name is not None:
            content = self.find(key, name)
            if content.model != model:
                raise Refused(
                    400,
                    "INVALID_ARGUMENT",
                    f"Model used by GenerateContent request ({model}) and CachedContent "
                    f"({content.model}) has to be the same.",
                )
            held = content.row
        whole = held + sent
        shared = max(
            (
                common(whole, before.row)
                for before in self.served
                if (before.key, before.model) == (key, model)
            ),
            default=0,
        )
        shared = shared if shared >= self.minimum else 0
        read = tokens(held) or (shared if self.implicit == "exact" else 0)
        served = Served(whole, model, key, read, shared)
        self.served.append(served)
        return served

    @property
    def read(self) -> int:
        return sum(one.read for one in self.served)

    @property
    def written(self) -> int:
        return sum(content.tokens for content in self.contents)

    @property
    def ideal_read(self) -> int:
        """What a client could have read that holds, of each row ever cached, one cache all along.

        It looks ahead: it has a cache before the first request that could use it.
        """
        rows = [(content.key, content.model, content.row) for content in self.contents]
        return sum(
            max(
                (
                    tokens(held)
                    for key, model, held in rows
                    if (key, model) == (one.key, one.model) and one.row[: len(held)] == held
                ),
                default=0,
            )
            for one in self.served
        )

    @property
    def ideal_written(self) -> int:
        """The tokens of that client: each row once."""
        rows = {(content.key, content.model, content.row) for content in self.contents}
        return sum(tokens(held) for _, _, held in rows)

    @property
    def shared(self) -> int:
        """What an append-only client could have read for whom writing is free."""
        return sum(one.shared for one in self.served)

    def token_hours(self) -> float:
        """What storage is billed for, up to now."""
        now = self.clock()
        return sum(
            content.tokens
            * (min(now, content.expires, content.ended or now) - content.made).total_seconds()
            / 3_600
            for content in self.contents
        )


def common(a: Row, b: Row) -> int:
    """Tokens of the units two rows begin with alike."""
    same = list(takewhile(lambda pair: pair[0] == pair[1], zip(a, b, strict=False)))
    return tokens([left for left, _ in same])


def rfc3339(at: datetime) -> str:
    return at.isoformat().replace("+00:00", "Z")
