"""Stale facts: does anything that is no longer true reach a prompt without a mark?

A case says things on days and asks later. What it names as `stale` may stand in the prompt only
beside a mark (superseded, contradicted); what it names as `holds` must not be marked or retired;
what it names as `nobody` must not have become a fact of anybody. Everything goes the way it goes in
life: turns, learning, promotion, the assembler.

A file is either one JSON object a line, `{"id", "kind", "said", "ask", "day", "stale", "holds",
"nobody"}` with `said` a list of `{"text", "day", "speaker", "add"}`, or the layout of memtrust's
contradiction cases, which are run three ways: as turns of two days, as turns of one, and added as
memories.
"""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, cast

from lila_app.assistant import Lila, open_lila
from lila_app.errors import UsageError
from lila_app.paths import Home, shipped
from lila_app.resources import VOCABULARY
from lila_app.storage import sessions, turns
from lila_app.storage.connection import Store
from lila_app.views.memory import FactInfo

if TYPE_CHECKING:
    from lila_app.embedding.port import Embedder

START = datetime(2026, 1, 5, 9, tzinfo=UTC)
"""The first day of every case, a Monday."""

LATER = 14
"""Days after the last word on which memtrust's questions are asked."""

MARKED = re.compile(r"\[[^\]]*(?:no longer so since|contradicted|in conflict with)[^\]]*\]")
"""A mark stands in brackets, in the head of an entry or at its end."""
_ENTRY = re.compile(r"^(?:\[[mtrd]\d|- )")
_HINT = "one JSON object a line with id, said, ask; or memtrust's contradiction cases"


@dataclass(frozen=True, slots=True)
class Said:
    """One thing that is said (`add`: given as a memory) on a day, at an hour of it."""

    text: str
    day: int
    hour: int = 0
    speaker: str = ""
    add: bool = False


@dataclass(frozen=True, slots=True)
class Case:
    """What is said, what is asked on which day, and what may not, must and must never be."""

    id: str
    kind: str
    said: tuple[Said, ...]
    ask: str
    day: int
    stale: tuple[str, ...] = ()
    holds: tuple[str, ...] = ()
    nobody: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Outcome:
    """What went wrong in one case; `seen` says whether what is new reached the prompt.

    `unmarked` are entries of the prompt with a stale value and no mark; `retired` values that were
    marked or closed though they hold; `believed` facts nobody stated.
    """

    id: str
    kind: str
    unmarked: tuple[str, ...]
    retired: tuple[str, ...]
    believed: tuple[str, ...]

    @property
    def right(self) -> bool:
        """Whether nothing went wrong."""
        return not (self.unmarked or self.retired or self.believed)


def read(path: Path) -> tuple[Case, ...]:
    """The cases of a file. Raises `UsageError` that names the line."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".jsonl":
        rows = enumerate(text.splitlines(), start=1)
        return tuple(_case(path, number, line) for number, line in rows if line.strip())
    try:
        table = cast("Mapping[str, object]", json.loads(text))
        return tuple(_memtrust(cast("Sequence[Mapping[str, str]]", table["cases"])))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise UsageError(f"{path} holds no cases: {error}", hint=_HINT) from error


def measure(cases: Sequence[Case], embedder: Embedder | None = None) -> tuple[Outcome, ...]:
    """Run every case in a home of its own; the embedder's weights are read once."""
    from lila_app.embedding.minilm import MiniLM

    embedder = embedder or MiniLM(shipped("assets") / VOCABULARY)
    return tuple(run(case, embedder) for case in cases)


def run(case: Case, embedder: Embedder | None = None) -> Outcome:
    """Say what a case says, let LILA learn, ask, and look at the prompt."""
    with tempfile.TemporaryDirectory() as folder:
        home = Home.at(Path(folder))
        home.create()
        with Store.open(home.profile_db("default")) as store:
            for one in case.said:
                if not one.add:
                    _say(store, one)
        clock = _at(case.day, 0)
        with open_lila(home.root, embedder=embedder, clock=lambda: clock) as lila:
            for one in case.said:
                if one.add:
                    lila.memory.add(one.text, now=_at(one.day, one.hour))
            lila.memory.learn()
            lila.db.catch_up()
            return _judged(case, lila, clock)


def _judged(case: Case, lila: Lila, now: datetime) -> Outcome:
    context = lila.preview(case.ask, now=now)
    blocks = [block for block in context.blocks if block.name != "turn"]
    shown = [entry for block in blocks for entry in _entries(block.text)]
    facts = lila.memory.facts()
    unmarked = [
        entry
        for entry in shown
        for value in case.stale
        if _holds(entry, value) and not MARKED.search(entry)
    ]
    plain = [entry for entry in shown if not MARKED.search(entry)]
    retired = [
        entry
        for entry in shown
        for value in case.holds
        if _holds(MARKED.sub("", entry), value)
        and not any(_holds(one, value) for one in plain)
        and _about(entry, value)
    ]
    retired += [
        f"{fact.id}: {fact.text}"
        for fact in facts
        for value in case.holds
        if _holds(fact.value, value) and not fact.negated and fact.status != "current"
    ]
    return Outcome(
        case.id,
        case.kind,
        tuple(dict.fromkeys(unmarked)),
        tuple(dict.fromkeys(retired)),
        tuple(_believed(case, facts)),
    )


def _about(entry: str, value: str) -> bool:
    """Whether the mark of an entry can be about a value: it names no other part of the entry."""
    part = re.search(r"“([^”]*)”", entry)
    return part is None or _holds(part[1], value)


def _believed(case: Case, facts: Sequence[FactInfo]) -> Iterator[str]:
    for fact in facts:
        if any(_holds(fact.value, value) and not fact.negated for value in case.nobody):
            yield f"{fact.id}: {fact.text}"


def _entries(text: str) -> list[str]:
    """The entries of a block: what begins with an id in brackets or a dash, up to the next."""
    found: list[str] = []
    for line in text.splitlines():
        if _ENTRY.match(line) or not found:
            found.append(line)
        else:
            found[-1] += "\n" + line
    return found


def _holds(text: str, value: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(value)}(?!\w)", text, re.IGNORECASE) is not None


def _say(store: Store, said: Said) -> None:
    at = _at(said.day, said.hour).isoformat()
    with store.write() as connection:
        session = sessions.create(connection, at=at, use_case="chat", title="").id
        turn = turns.begin(
            connection,
            session,
            said.text,
            use_case="chat",
            at=at,
            speaker=said.speaker,
            origin="import:case" if said.speaker else "",
        )
        turns.finish(
            connection, turn.id, "All right.", stopped=False, record_id=None, model=None, at=at
        )


def _at(day: int, hour: int) -> datetime:
    return START + timedelta(days=day, hours=hour)


def _memtrust(rows: Sequence[Mapping[str, str]]) -> Iterator[Case]:
    for row in rows:
        before, after = row["initial_fact"], row["contradicting_fact"]
        days = Case(
            row["case_id"],
            "two days",
            (Said(before, 0), Said(after, 8)),
            row["query"],
            8 + LATER,
            (row["initial_value"],),
        )
        yield days
        yield replace(days, kind="one day", said=(Said(before, 0), Said(after, 0, 3)))
        added = (Said(before, 0, add=True), Said(after, 8, add=True))
        yield replace(days, kind="added", said=added)


def _case(path: Path, number: int, line: str) -> Case:
    try:
        row = cast("dict[str, object]", json.loads(line))
        said = cast("Sequence[Mapping[str, object]]", row["said"])
        return Case(
            id=str(row["id"]),
            kind=str(row["kind"]),
            said=tuple(
                Said(
                    str(one["text"]),
                    int(str(one.get("day", 0))),
                    place,
                    str(one.get("speaker", "")),
                    bool(one.get("add", False)),
                )
                for place, one in enumerate(said)
            ),
            ask=str(row["ask"]),
            day=int(str(row.get("day", 60))),
            stale=_texts(row.get("stale")),
            holds=_texts(row.get("holds")),
            nobody=_texts(row.get("nobody")),
        )
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise UsageError(f"{path}, line {number}: no case: {error}", hint=_HINT) from error


def _texts(found: object) -> tuple[str, ...]:
    return tuple(str(one) for one in cast("Sequence[object]", found or ()))
