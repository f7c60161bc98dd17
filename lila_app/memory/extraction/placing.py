"""Rules for where things and people are: the office, the spare key, the firm, in hospital."""

from __future__ import annotations

from lila_app.memory.extraction.nouns import Mention
from lila_app.memory.extraction.properties import cue_of
from lila_app.memory.extraction.reading import Fact, Reading
from lila_app.memory.extraction.words import listed
from lila_app.memory.model import Cue

PEOPLE = ("me", "name", "role", "pet", "pronoun")


def based_in(reading: Reading) -> list[str]:
    """Where a firm is, in "a company based in Rotterdam"."""
    behind = [w.low for w in reading.clause.rest]
    if "based" not in behind:
        return []
    return [m.name for m in reading.names(reading.part("in")) if m.sort == "name"]


def where(reading: Reading, subject: Mention) -> list[Fact]:
    """The office is in Rotterdam; we're in Ghent now; the key is in the drawer."""
    inside = reading.part("in")
    if (
        reading.clause.main not in ("be", "base", "locate", "keep")
        or not inside
        or reading.clause.past
    ):
        return []
    before = [word.low for word in reading.part("")]
    if before and before != ["based"]:
        return []
    denied, cue = reading.clause.denied, cue_of(reading)
    if subject.sort in PEOPLE and inside[-1].low in ("club", "choir", "band", "team", "orchestra"):
        return [Fact(subject.name, "member_of", reading.whole(inside), denied, cue)]
    found = reading.names(inside)
    place = found[0] if len(found) == 1 else None
    if place and place.sort == "name" and reading.clause.main in ("base", "locate"):
        return [Fact(subject.name, "located_in", place.name, denied, cue)]
    if subject.sort in PEOPLE:
        if place and place.sort == "name" and "now" in reading.adverbs:
            return [Fact(subject.name, "lives_in", place.name, denied, "update", "from")]
        if [w.low for w in inside] == ["hospital"]:
            return [Fact(subject.name, "staying_in", "hospital", denied, "", "from")]
        return []
    if subject.sort not in ("thing", "name") or place is None:
        return []
    if place.sort == "name":
        return [Fact(subject.name, "located_in", place.name, denied, cue)]
    return _kept(reading, subject, denied, cue)


def _kept(reading: Reading, subject: Mention, denied: bool, cue: Cue) -> list[Fact]:
    """A thing one looks for, in a place of the house; not "the problem is in the loop"."""
    if subject.noun not in LOOKED_FOR:
        return []
    at = next(i for i, (preposition, _) in enumerate(reading.parts) if preposition == "in")
    behind = [word for _, words in reading.parts[at:] for word in words]
    span = [w for w in reading.clause.rest if behind[0].start <= w.start <= behind[-1].start]
    where = reading.whole(span)
    return [Fact(subject.name, "kept_in", where, denied, cue)] if where else []


LOOKED_FOR = listed(
    "key passport charger document deed card wallet umbrella torch flashlight toolbox tool ladder "
    "certificate contract manual receipt medicine pill autoinjector inhaler glasses suitcase box "
    "photo album ring will visa licence license ticket cable drill battery blanket present"
)
