"""`lila memory why`, `conflicts`, `candidates` and `history`: what LILA believes, and why."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

import click

from lila_app.cli import options
from lila_app.cli.opening import opened, zone
from lila_app.cli.output import answer, document, local, note, one_line, table

if TYPE_CHECKING:
    from lila_app.views.memory import ChangeInfo, FactInfo, WhyInfo

REASONS = {
    "explicit": "you asked for it",
    "confirmed": "you confirmed it",
    "days": "it came up on separate days",
    "uses": "it helped replies",
    "at_once": "such a thing is said once",
    "successor": "it took the place of a memory",
    "core": "it is relevant to nearly everything",
    "hand": "by your hand",
    "later": "something else was said later",
    "update": "you said that it changed",
    "correction": "you corrected it",
    "ended": "you said that it is over",
    "negated": "you said that it is not so",
    "earlier": "what followed it was known already",
    "undecided": "nothing says which of them holds",
    "cue": "a sentence says that something changed",
    "repeated": "it was said again",
    "undone": "taken back",
    "forgotten": "the rest of it was forgotten",
}
"""The reasons in the log, in words."""


@click.command()
@click.argument("id", metavar="ID")
@options.as_json
def why(id: str, as_json: bool) -> None:
    """Say where a memory (m12), fact (f12) or relation (r12) is from and what was done to it."""
    with opened() as lila:
        found = lila.memory.why(id)
    if as_json:
        document(why=found)
        return
    for line in _lines(found, zone()):
        answer(one_line(line))


@click.command()
@options.as_json
def conflicts(as_json: bool) -> None:
    """List what contradicts each other; `lila memory resolve ID` decides."""
    with opened() as lila:
        found = lila.memory.conflicts()
    if as_json:
        document(conflicts=found)
        return
    here = zone()
    rows = [
        (number, fact.id, fact.memory_id or "", local(fact.learned_at, here), fact.text)
        for number, conflict in enumerate(found, start=1)
        for fact in conflict.facts
    ]
    if rows:
        table(("", "fact", "memory", "said", "what"), rows)
        note("`lila memory resolve ID` keeps one of them and closes what contradicts it")
    else:
        note("nothing contradicts anything")


@click.command()
@options.at_most(50)
@options.as_json
def candidates(limit: int, as_json: bool) -> None:
    """List facts that wait for their place as a memory, and what they lack."""
    with opened() as lila:
        found = lila.memory.candidates(limit)
    if as_json:
        document(candidates=found)
        return
    here = zone()
    rows = [
        (
            one.fact.id,
            local(one.fact.learned_at, here),
            "put back by hand" if one.fact.stage == "withheld" else _lacks(one.days, one.uses),
            one.fact.text,
        )
        for one in found
    ]
    if rows:
        table(("id", "said", "lacks", "what"), rows)
        note("`lila memory promote ID` makes one a memory now")
    else:
        note("nothing waits")


@click.command()
@options.at_most(20)
@options.as_json
def history(limit: int, as_json: bool) -> None:
    """List what was done to memories lately, the newest last."""
    with opened() as lila:
        found = lila.memory.history(limit)
    if as_json:
        document(changes=found)
        return
    here = zone()
    if found:
        table(("when", "what", "why", "of"), [_row(one, here) for one in found])
    else:
        note("nothing was done yet")


def _lacks(days: int, uses: int) -> str:
    parts = [f"{days} more day{'s' * (days != 1)}", f"{uses} repl{'ies' if uses != 1 else 'y'}"]
    return " or ".join(parts)


def _row(change: ChangeInfo, here: ZoneInfo) -> tuple[str, str, str, str]:
    what = f"{change.what} (taken back)" if change.undone else change.what
    return (
        local(change.at, here),
        what,
        REASONS.get(change.why, change.why),
        ", ".join(change.ids),
    )


def _lines(found: WhyInfo, here: ZoneInfo) -> Iterable[str]:
    if found.memory is not None:
        memory = found.memory
        state = "" if memory.status == "current" else f" ({memory.status})"
        yield f"{memory.id}, {memory.kind}, since {local(memory.at, here)}{state}: {memory.text}"
    for fact in found.facts:
        yield _fact(fact)
    for source in found.sources:
        who = source.speaker or "you"
        yield f"said {local(source.at, here)} by {who} in {source.turn_id}: {source.words}"
    if not found.sources:
        yield "given by hand, not in a conversation"
    for change in found.changes:
        when, what, reason, ids = _row(change, here)
        yield f"{what} {when}: {reason} ({ids})"
    days = {local(one.at, here)[:10] for one in found.sightings}
    if found.sightings:
        yield f"came up in {len(found.sightings)} turns on {len(days)} days"
    for use in found.uses:
        yield f"helped the reply of {use.turn_id}, {local(use.at, here)}"
    if found.supersedes:
        yield f"took the place of {', '.join(found.supersedes)}"
    if found.superseded_by:
        yield f"replaced by {found.superseded_by}"


def _fact(fact: FactInfo) -> str:
    ends = [fact.valid_from or "", fact.valid_to or ""]
    holds = f", {ends[0]} to {ends[1]}" if any(ends) else ""
    return f"{fact.id}, {fact.stage.replace('_', '-')}, {fact.status}{holds}: {fact.text}"


COMMANDS = (why, conflicts, candidates, history)
