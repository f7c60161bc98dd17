"""Rules for what is over, what will be over, and what takes its place: died, sold, expires, joined.

Something is told to be over by the name alone ("Rex died"), so these rules only ever end what was
stated before: where nothing was, nothing is closed.
"""

from __future__ import annotations

from collections.abc import Mapping

from lila_app.memory.extraction.changes import Rule, is_person
from lila_app.memory.extraction.lexicon import JOBS
from lila_app.memory.extraction.nouns import Mention
from lila_app.memory.extraction.reading import Fact, Reading
from lila_app.memory.extraction.words import is_name, listed

UNSURE = 6_000
"""Basis points where the words leave open what it is that has ended."""

_EXPIRING = listed(
    "passport visa licence license card id permit contract lease insurance subscription "
    "certificate membership warranty policy"
)


def _dies(reading: Reading, subject: Mention) -> list[Fact]:
    """Rex died: ends an animal of that name, among the names that are known."""
    clause = reading.clause
    over = clause.past and not clause.denied and len(reading.subjects) == 1
    known = bool(clause.subject) and all(word.entity for word in clause.subject)
    if not over or not known or subject.sort != "name" or subject.implied:
        return []
    me = reading.speaking.speaker
    return [Fact(me, "has_pet", subject.name, False, "ended", "to", UNSURE, passing=True)]


def by_name(fact: Fact) -> bool:
    """Whether it takes a name for an animal's: "Rex died" may be said of anybody called Rex."""
    return fact.predicate == "has_pet" and fact.cue == "ended" and fact.confidence == UNSURE


def _sells(reading: Reading, subject: Mention) -> list[Fact]:
    """I sold the Panda: it is driven and owned no more, if it was."""
    clause, words = reading.clause, reading.part("")
    over = clause.past and not clause.denied and len(clause.verbs) <= 2
    if subject.sort != "me" or not over or len(words) < 2:
        return []
    if words[0].low not in ("the", "my", "our") or not all(is_name(word) for word in words[1:]):
        return []
    found = reading.objects()
    return [
        Fact(subject.name, predicate, one, False, "ended", "to", UNSURE, passing=True)
        for one in found
        for predicate in ("drives", "owns")
    ]


def _expires(reading: Reading, subject: Mention) -> list[Fact]:
    """My passport expires on 4 May 2027. The day is filled in later."""
    clause = reading.clause
    held = subject.sort == "thing" and subject.noun in _EXPIRING and bool(subject.owner)
    if not held or not reading.ahead or clause.past or clause.denied:
        return []
    return [Fact(subject.name, "expires_on", "")]


def _joins(reading: Reading, subject: Mention) -> list[Fact]:
    """Joined Farfetch as a designer."""
    if not is_person(subject) or not reading.clause.past or reading.clause.denied:
        return []
    what = calling_joined(reading)
    where = [one for one in reading.objects() if one[:1].isupper()]
    if not what or len(where) != 1:
        return []
    made = (("works_at", where[0]), ("job", what))
    return [Fact(subject.name, p, v, cue="update", when="from") for p, v in made]


def calling_joined(reading: Reading) -> str:
    """As what somebody joined, where that is a calling: not the choir as a tenor."""
    words = reading.part("as")
    named = len(words) > 1 and words[0].low in ("a", "an", "the") and words[-1].lemma in JOBS
    return reading.whole(words) if named else ""


RULES: Mapping[str, Rule] = {
    "die": _dies,
    "sell": _sells,
    "expire": _expires,
    "join": _joins,
}
"""The rules of this module by the lemma of the verb."""
