"""Cuts of the conversation window, and whatever else may change a session's prefix.

A cut and its summary are one event. A fork lives with the cuts its ancestors had made when it was
forked, and with its own; what an ancestor cuts later does not reach it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from lila_app.storage import erasure, events, lineage
from lila_app.storage.connection import Source, reading, writing
from lila_app.storage.values import optional_id, storable

EXTRACTIVE = "extractive"
"""Who made a summary that no model wrote: sentences that were said."""

_COLUMNS = "id, upto_sequence, summary, digest, reason, at, made_by"


@dataclass(frozen=True, slots=True)
class CutRow:
    """The window was cut: turns up to `upto_sequence` are now told by `summary`.

    `made_by` is the `provider/model` that wrote it, or `EXTRACTIVE`.
    """

    id: str
    upto_sequence: int
    summary: str
    digest: str
    reason: str
    at: str
    made_by: str


@dataclass(frozen=True, slots=True)
class PrefixBreak:
    """An event after which the prefix may differ from the one before it."""

    sequence: int
    session_id: str | None
    subject: str
    reason: str
    at: str


def cut(
    source: Source,
    session_id: str,
    *,
    upto_sequence: int,
    summary: str,
    reason: str,
    at: str,
    generation: int | None = None,
    made_by: str = EXTRACTIVE,
    why: str = "",
) -> CutRow:
    """Cut the window after a turn and put a summary in its place, as one event.

    A worker that prepared the summary passes the erasure `generation` it started from. `why` says
    why a model's summary was not taken, in words without its content.
    """
    with writing(source) as connection:
        erasure.require(connection, generation)
        session = lineage.require(connection, session_id)
        event = events.append(
            connection,
            "prefix_break",
            subject=session_id,
            session_id=session_id,
            at=at,
            body={
                "reason": reason,
                "upto_sequence": upto_sequence,
                "summary": storable(summary),
                "made_by": made_by,
                **({"why": why} if why else {}),
            },
        )
        row = connection.execute(
            "insert into cuts (session_id, sequence, upto_sequence, summary, digest, reason, at, "
            f"made_by) values (?, ?, ?, ?, ?, ?, ?, ?) returning {_COLUMNS}",
            (
                session,
                event.sequence,
                upto_sequence,
                storable(summary),
                event.digest,
                reason,
                event.at,
                made_by,
            ),
        ).fetchone()
        return _cut(row)


def latest_cut(source: Source, session_id: str) -> CutRow | None:
    """The cut in force: the session's own last one, or one its ancestors made before the fork."""
    with reading(source) as connection:
        wanted = lineage.require(connection, session_id)
        for session, last, before in lineage.cut_segments(connection, wanted):
            row = connection.execute(
                f"select {_COLUMNS} from cuts "
                "where session_id = ? and upto_sequence <= ? and sequence < ? "
                "order by sequence desc limit 1",
                (session, last, before),
            ).fetchone()
            if row is not None:
                return _cut(row)
    return None


def prefix_breaks(source: Source, session_id: str) -> list[PrefixBreak]:
    """What may have changed the prefix since the session began, profile-wide events included."""
    with reading(source) as connection:
        session = lineage.require(connection, session_id)
        started: int = connection.execute(
            "select sequence from sessions where id = ?", (session,)
        ).fetchone()[0]
        rows = connection.execute(
            "select e.sequence, e.session_id, e.subject, "
            "coalesce(json_extract(p.body, '$.reason'), (select reason from cuts c "
            "where c.sequence = e.sequence), 'forgotten'), e.at "
            "from events e left join payloads p using (sequence) "
            "where ((e.session_id = ? and e.kind = 'prefix_break') "
            "or (e.session_id is null and e.kind = 'prefix_break')) and e.sequence > ? "
            "order by e.sequence",
            (session, started),
        )
        return [
            PrefixBreak(row[0], optional_id("s", row[1]), row[2], row[3], row[4]) for row in rows
        ]


def _cut(row: tuple[Any, ...]) -> CutRow:
    return CutRow(f"k{row[0]}", *row[1:])
