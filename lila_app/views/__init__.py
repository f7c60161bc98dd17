"""Plain data the assistant shows to its front-ends; nothing here can reach the store."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

Progress = Callable[[int, int, str], None]
"""Called with (done, total, label); total 0 means not known."""


NOTHING_RETRIEVED = "no layer has a share in this use case: none was asked, nothing was retrieved"
"""What is said of a prompt like that of a spoken turn, which waits for no search."""


@dataclass(frozen=True, slots=True)
class SessionInfo:
    """One session in a list; times are ISO 8601 with zone."""

    id: str
    title: str
    use_case: str
    started_at: str
    last_at: str
    turns: int
    forked_from: str | None


@dataclass(frozen=True, slots=True)
class TurnInfo:
    """One exchange; `reply` is None while it is not answered, `stopped` marks a partial one.

    `session_id` is where it was said: a fork shows turns of the session it came from.
    """

    id: str
    session_id: str
    at: str
    user: str
    reply: str | None
    stopped: bool
    record_id: str | None
    model: str | None


@dataclass(frozen=True, slots=True)
class ToolUseInfo:
    """A tool a model called within a turn; `result` is None where the turn ended first."""

    turn_id: str
    name: str
    arguments: str
    result: str | None
    failed: bool


@dataclass(frozen=True, slots=True)
class SessionDetail:
    """A session with its turns in order, and the tools that were called in them."""

    info: SessionInfo
    turns: tuple[TurnInfo, ...]
    tools: tuple[ToolUseInfo, ...] = ()


@dataclass(frozen=True, slots=True)
class TurnHit:
    """A past turn found by a search, scored 0..10,000."""

    session_id: str
    turn: TurnInfo
    score: int


@dataclass(frozen=True, slots=True)
class GoalInfo:
    """A pinned goal; `session_id` None means it stands in every session of the profile."""

    id: str
    text: str
    session_id: str | None
    status: str
    at: str


@dataclass(frozen=True, slots=True)
class NoteInfo:
    """A working note or an open thing of one session (`kind` is "note" or "open")."""

    id: str
    kind: str
    text: str
    session_id: str
    touched_at: str


@dataclass(frozen=True, slots=True)
class MemoryInfo:
    """One memory; `kind` is "fact" or "core", `status` current, closed or conflict.

    `valid_from` to `valid_to` is when it holds, `closed_at` when LILA stopped believing it.
    """

    id: str
    text: str
    kind: str
    pinned: bool
    at: str
    superseded_by: str | None
    status: str = "current"
    retention: str = "durable"
    valid_from: str | None = None
    valid_to: str | None = None
    expires_at: str | None = None
    closed_at: str | None = None


@dataclass(frozen=True, slots=True)
class MemoryHit:
    """A memory found by a search, scored 0..10,000."""

    memory: MemoryInfo
    score: int


@dataclass(frozen=True, slots=True)
class RelationInfo:
    """A typed relation with the interval in which it holds (open ends are None).

    `status` is current, conflict or closed; `source` the fact, memory or turn it comes from; `also`
    are other rows that say the very same.
    """

    id: str
    subject: str
    predicate: str
    object: str
    valid_from: str | None
    valid_to: str | None
    at: str
    status: str = "current"
    source: str = ""
    also: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class DocumentInfo:
    """One ingested document; `problem` says what of it could not be read.

    `modified` is when the file was last written, as it was when read ("" where not known), `state`
    whether it still is what was read: "current", "changed" or "gone" (cannot be looked at).
    """

    id: str
    path: str
    title: str
    kind: str
    chunks: int
    ingested_at: str
    modified: str = ""
    state: str = "current"
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Passage:
    """A chunk of a document; `place` says where it stands, `score` (0..10,000) how well it fits."""

    id: str
    place: str
    text: str
    score: int


@dataclass(frozen=True, slots=True)
class DocumentProblem:
    """A file that was left out, and why."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class IngestReport:
    """What an ingest did; counts are documents."""

    added: int
    changed: int
    unchanged: int
    removed: int
    chunks: int
    problems: tuple[DocumentProblem, ...]


@dataclass(frozen=True, slots=True)
class ForgetReport:
    """What a forgetting erased: ids of the things, and backups that still hold them.

    `remaining` are things that say the same of their own accord, and turns in which the person's
    own words still touch on it, for the person to decide about.
    """

    erased: tuple[str, ...]
    records: tuple[str, ...]
    turns: tuple[str, ...]
    backups: tuple[Path, ...]
    remaining: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Replay:
    """The outcome of assembling a recorded turn again.

    `status` is "identical", "differs" or "unreplayable"; `differences` names what differs
    ("bytes_sha256", "policy_hash abc… → def…", "block L4.turn", "code_version 0.1.0 → 0.2.0").
    """

    record_id: str
    status: str
    reason: str
    differences: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CallInfo:
    """One call made with a record's prompt, in the order they were made.

    `outcome` is "stop", "length", "tools", "stopped" or the kind of error. Milliseconds of wall
    time; tokens as the provider reported them, None where it did not.
    """

    model: str
    outcome: str
    at: str
    first_token_ms: int | None
    total_ms: int | None
    tokens: int | None
    read: int | None
    output: int | None


@dataclass(frozen=True, slots=True)
class ContextDiff:
    """What changed between two records, one sentence a line."""

    a: str
    b: str
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """A model LILA can talk to; `note` says plainly what it is good for."""

    name: str
    kind: str
    installed: bool
    default: bool
    note: str


@dataclass(frozen=True, slots=True)
class BoundaryInfo:
    """A place where a model's answer feeds code: its schema, who does the job, what is checked."""

    name: str
    schema: str
    job: str
    model: str
    feeds: str
    checks: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Stage:
    """One stage of `lila models test`."""

    name: str
    ok: bool
    detail: str


@dataclass(frozen=True, slots=True)
class Check:
    """One line of `lila doctor`; `ok` False carries a `hint` that says what to do.

    What is not `needed` (sound, a keyring) may be missing without anything being wrong.
    """

    name: str
    ok: bool
    detail: str
    hint: str = ""
    needed: bool = True


@dataclass(frozen=True, slots=True)
class StoreProblem:
    """One thing `lila db check` found."""

    kind: str
    where: str
    detail: str


@dataclass(frozen=True, slots=True)
class StoreReport:
    """The outcome of `lila db check`; `counts` are rows a table, `pending` vectors to compute."""

    problems: tuple[StoreProblem, ...]
    counts: tuple[tuple[str, int], ...]
    pending: int
