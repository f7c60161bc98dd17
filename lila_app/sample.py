"""Fills the profile `sample` with the invented life in data/sample, once.

Everything goes in through the surface any program has, and in an order that makes a killed filling
safe to repeat: each step looks at what is there and adds the rest. The goals come last, and a goal
can be finished but never deleted; so when all of them are there everything else has been there too,
and what the person has forgotten or deleted since does not come back.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import sys
from collections.abc import Callable, Generator, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from lila_app.paths import explained, shipped
from lila_app.views import Progress, SessionInfo

if TYPE_CHECKING:
    from lila_app.assistant import Lila

Row = TypeVar("Row")

PROFILE = "sample"
"""The profile that is filled."""

_ALL = 1_000_000


@dataclass(frozen=True, slots=True)
class Memory:
    """A line of memories.jsonl; times here and below are ISO 8601 with zone."""

    id: str
    text: str
    kind: str
    pinned: bool
    at: str


@dataclass(frozen=True, slots=True)
class Relation:
    """A line of relations.jsonl; the interval is in days, open where None."""

    id: str
    subject: str
    predicate: str
    object: str
    valid_from: str | None
    valid_to: str | None


@dataclass(frozen=True, slots=True)
class Alias:
    """A line of aliases.jsonl: another name of an entity."""

    entity: str
    alias: str


@dataclass(frozen=True, slots=True)
class Exchange:
    """A line of conversations.jsonl: one turn of a session, sessions in order of time."""

    session: str
    title: str
    at: str
    user: str
    assistant: str


@dataclass(frozen=True, slots=True)
class Note:
    """A line of notes.jsonl: a working note ("note") or an open thing ("open") of a session."""

    id: str
    session: str
    kind: str
    text: str


@dataclass(frozen=True, slots=True)
class Goal:
    """A line of goals.jsonl."""

    id: str
    text: str


@dataclass(frozen=True, slots=True)
class Life:
    """The sample life as it was shipped; `documents` are the paths to ingest."""

    memories: tuple[Memory, ...]
    relations: tuple[Relation, ...]
    aliases: tuple[Alias, ...]
    exchanges: tuple[Exchange, ...]
    notes: tuple[Note, ...]
    goals: tuple[Goal, ...]
    documents: tuple[Path, ...]


def read_life() -> Life:
    """Read data/sample. Raises StorageError where it cannot be read."""
    folder = shipped("data") / PROFILE
    return Life(
        memories=_rows(folder / "memories.jsonl", Memory),
        relations=_rows(folder / "relations.jsonl", Relation),
        aliases=_rows(folder / "aliases.jsonl", Alias),
        exchanges=_rows(folder / "conversations.jsonl", Exchange),
        notes=_rows(folder / "notes.jsonl", Note),
        goals=_rows(folder / "goals.jsonl", Goal),
        documents=(folder / "documents", folder / "calendar.md"),
    )


def is_filled(lila: Lila, life: Life) -> bool:
    """Whether a filling of this profile was ever completed."""
    return {goal.text for goal in life.goals} <= {
        goal.text for goal in lila.goals.list(include_done=True)
    }


def fill(lila: Lila, *, progress: Progress) -> None:
    """Fill the profile, or complete a filling that was interrupted; else do nothing.

    Two processes may start at once: the second waits and finds the work done.
    """
    life = read_life()
    if is_filled(lila, life):
        return
    with _alone(lila.home.profiles_dir / f"{lila.profile}.filling"):
        if not is_filled(lila, life):
            # What this life remembers is in it; finding it again would only say it twice.
            with lila.memory.as_given():
                _fill(lila, life, progress)


def _fill(lila: Lila, life: Life, progress: Progress) -> None:
    total = len(life.memories) + len(life.relations) + len(life.exchanges)
    counter = itertools.count(1)

    def step(label: str) -> None:
        progress(next(counter), total, label)

    _add_memories(lila, life.memories, step)
    _add_relations(lila, life, step)
    for exchanges in _by_session(life.exchanges):
        _add_session(lila, exchanges, step)
    lila.documents.ingest(life.documents, progress)
    lila.db.catch_up(progress)
    _add_notes(lila, life)
    _set_goals(lila, life.goals)


def _add_memories(lila: Lila, memories: Iterable[Memory], step: Callable[[str], None]) -> None:
    known = {memory.text for memory in lila.memory.list()}
    for memory in memories:
        if memory.text not in known:
            lila.memory.add(
                memory.text,
                kind=memory.kind,
                pinned=memory.pinned,
                now=memory.at,
                external_ids=(memory.id,),
            )
        step("memories")


def _add_relations(lila: Lila, life: Life, step: Callable[[str], None]) -> None:
    known = {(one.subject, one.predicate, one.object) for one in lila.graph.list()}
    for one in life.relations:
        triple = (one.subject, one.predicate, one.object)
        if triple not in known:
            lila.graph.add(*triple, valid_from=one.valid_from, valid_to=one.valid_to)
        step("relations")
    for name in life.aliases:
        lila.graph.alias(name.entity, name.alias)


def _add_session(lila: Lila, exchanges: list[Exchange], step: Callable[[str], None]) -> None:
    first = exchanges[0]
    session = _find(lila, first.title) or lila.sessions.create(first.title, now=first.at)
    turns, append = lila.sessions.show(session.id).turns, lila.sessions.append
    for place, one in enumerate(exchanges):
        name = f"{one.session}/{place + 1}"
        if place >= len(turns):
            append(session.id, "user", one.user, at=one.at, external_id=f"{name}/user")
        if place >= len(turns) or turns[place].reply is None:
            append(session.id, "assistant", one.assistant, at=one.at, external_id=name)
        step("conversations")


def _add_notes(lila: Lila, life: Life) -> None:
    titles = {one.session: one.title for one in life.exchanges}
    for note in life.notes:
        session = _find(lila, titles[note.session])
        if session is None or note.text in {one.text for one in lila.sessions.notes(session.id)}:
            continue
        keep = lila.sessions.open if note.kind == "open" else lila.sessions.note
        keep(note.text, session.id)


def _set_goals(lila: Lila, goals: Iterable[Goal]) -> None:
    known = {goal.text for goal in lila.goals.list(include_done=True)}
    for goal in goals:
        if goal.text not in known:
            lila.goals.set(goal.text)


def _find(lila: Lila, title: str) -> SessionInfo | None:
    return next((one for one in lila.sessions.list(_ALL) if one.title == title), None)


def _by_session(exchanges: Iterable[Exchange]) -> list[list[Exchange]]:
    sessions: dict[str, list[Exchange]] = {}
    for one in exchanges:
        sessions.setdefault(one.session, []).append(one)
    return list(sessions.values())


def _rows(path: Path, kind: Callable[..., Row]) -> tuple[Row, ...]:
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise explained(error, path) from error
    return tuple(kind(**json.loads(line)) for line in lines)


@contextlib.contextmanager
def _alone(path: Path) -> Generator[None]:
    """Hold a lock the system takes back when this process ends, however it ends."""
    try:
        file = path.open("wb")
    except OSError as error:
        raise explained(error, path) from error
    with file:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(file.fileno(), msvcrt.LK_LOCK, 1)
        else:
            import fcntl

            path.chmod(0o600)
            fcntl.flock(file, fcntl.LOCK_EX)
        yield
