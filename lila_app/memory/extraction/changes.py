"""What the verbs around the main one say: begun, ended, no longer, and of whom a rule speaks."""

from __future__ import annotations

from collections.abc import Callable

from lila_app.memory.extraction.nouns import Mention
from lila_app.memory.extraction.reading import Fact, Reading, When
from lila_app.memory.extraction.words import Words
from lila_app.memory.model import Cue

Rule = Callable[[Reading, Mention], list[Fact]]
"""What a clause states of one of its subjects."""


def change_of(reading: Reading) -> tuple[bool, Cue, When]:
    """Denied, and what the verbs around the main one say: begun, ended, no longer."""
    verbs = reading.clause.verbs
    if reading.ended or (len(verbs) > 1 and verbs[-2] in ("stop", "quit", "finish", "give")):
        return False, "ended", "to"
    if len(verbs) > 1 and verbs[-2] in ("start", "begin"):
        return reading.clause.denied, "update", "from"
    changed = bool(reading.adverbs & {"now", "instead"})
    return reading.clause.denied, "update" if changed else reading.cue, "from"


def is_standing(reading: Reading) -> bool:
    """Is it so, not was it once or will it be?"""
    verbs = reading.clause.verbs
    if "will" in verbs or "'ll" in verbs or "go" in verbs[:-1]:
        return False
    _, cue, _ = change_of(reading)
    return cue in ("ended", "update") or not reading.clause.past or reading.clause.tags[0] != "VBD"


def facts_of(
    reading: Reading, subject: Mention, predicate: str, found: list[str], confidence: int = 8_000
) -> list[Fact]:
    """One fact for each value, with what the verbs say of its beginning and end."""
    denied, cue, when = change_of(reading)
    return [
        Fact(subject.name, predicate, one, denied, cue, when, confidence)
        for one in found
        if one and one != subject.name
    ]


def named_of(reading: Reading, words: Words, *sorts: str) -> list[str]:
    """The names among words: of people and places, unless other sorts are asked for."""
    wanted = sorts or ("name", "me")
    return [m.name for m in reading.names(words) if m.sort in wanted and m.name]


def is_person(subject: Mention) -> bool:
    """Somebody, or an animal."""
    return subject.sort in ("me", "name", "role", "pet", "pronoun")
