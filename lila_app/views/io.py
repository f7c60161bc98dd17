"""What front-ends get of the log of memory's reads and writes."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class IoInfo:
    """One read or write of memory: when, what was done by whom to what, for which turn.

    `way` is "read" or "write"; `ids` are memories (m3), facts (f5) and relations (r2), of which
    those that were forgotten are ids and nothing more; `record` is the prompt they stood in.
    """

    at: str
    way: str
    what: str
    who: str
    ids: tuple[str, ...]
    turn: str | None
    record: str | None
