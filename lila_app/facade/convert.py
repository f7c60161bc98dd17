"""Rows of the store as views for people."""

from __future__ import annotations

from lila_app.documents import freshness
from lila_app.storage import forget
from lila_app.storage.calls import CallRow
from lila_app.storage.documents import DocumentRow
from lila_app.storage.memories import MemoryRow
from lila_app.storage.relations import RelationRow
from lila_app.storage.sessions import SessionRow
from lila_app.storage.state import GoalRow, NoteRow
from lila_app.storage.turns import TurnRow
from lila_app.views import (
    DocumentInfo,
    ForgetReport,
    GoalInfo,
    MemoryInfo,
    NoteInfo,
    RelationInfo,
    SessionInfo,
    ToolUseInfo,
    TurnInfo,
)


def session(row: SessionRow) -> SessionInfo:
    """A session in a list."""
    return SessionInfo(
        row.id, row.title, row.use_case, row.started_at, row.last_at, row.turns, row.forked_from
    )


def turn(row: TurnRow) -> TurnInfo:
    """A turn."""
    return TurnInfo(
        row.id,
        row.session_id,
        row.at,
        row.user,
        row.reply,
        row.stopped,
        row.record_id,
        row.model,
    )


def tool_use(row: CallRow) -> ToolUseInfo:
    """A call of a tool."""
    returned = row.returned
    return ToolUseInfo(
        row.turn_id,
        row.name,
        row.arguments,
        returned.text if returned else None,
        returned.failed if returned else False,
    )


def goal(row: GoalRow) -> GoalInfo:
    """A goal."""
    return GoalInfo(row.id, row.text, row.session_id, row.status, row.at)


def note(row: NoteRow) -> NoteInfo:
    """A note or an open thing."""
    return NoteInfo(row.id, row.kind, row.text, row.session_id, row.touched_at)


def memory(row: MemoryRow) -> MemoryInfo:
    """A memory."""
    return MemoryInfo(
        row.id,
        row.text,
        row.kind,
        row.pinned,
        row.at,
        row.superseded_by,
        row.status,
        row.retention,
        row.valid_from,
        row.valid_to,
        row.expires_at,
        row.closed_at,
    )


def relation(row: RelationRow) -> RelationInfo:
    """A relation."""
    return RelationInfo(
        *(row.id, row.subject, row.predicate, row.object, row.valid_from, row.valid_to, row.at),
        status=row.status,
        source=row.source,
    )


def document(row: DocumentRow) -> DocumentInfo:
    """A document."""
    return DocumentInfo(
        row.id,
        row.path,
        row.title,
        row.kind,
        row.chunks,
        row.ingested_at,
        freshness.modified(row),
        freshness.state(row),
        row.problem,
    )


def forgotten(report: forget.ForgetReport) -> ForgetReport:
    """What a forgetting erased."""
    return ForgetReport(
        report.erased, report.records, report.turns, report.backups, report.remaining
    )
