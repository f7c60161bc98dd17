"""Rules for what is planned and what happened: trips, appointments, deadlines, purchases."""

from __future__ import annotations

import re
from collections.abc import Mapping

from lila_app.memory.extraction.ending import calling_joined
from lila_app.memory.extraction.lexicon import MEETINGS, ROLES, VAGUE
from lila_app.memory.extraction.nouns import Mention
from lila_app.memory.extraction.reading import Fact, Reading
from lila_app.memory.extraction.templates import scheduled
from lila_app.memory.extraction.words import Words, listed, said

_SCHEDULED = MEETINGS | listed(
    "report essay paper thesis work delivery project release launch bill rent invoice payment "
    "application renovation course semester term school holiday vacation visit dentist doctor "
    "anniversary surgery move opening ceremony birthday-party election season show festival"
)
# Who "plans" by saying "I'm ...ing" on a day to come: verbs of going, meeting, beginning.
_PLANNED = listed(
    "fly travel go drive move visit come arrive leave open start begin marry run meet host launch "
    "return sail take get have see throw attend perform buy sell hike camp join play move "
    "graduate celebrate finish retire present teach"
)
# Said of a day to come in the plain present too: "we fly to Tokyo on Friday".
_TRAVELLED = listed("fly travel leave arrive return sail")
_WANTED = listed(
    "learn become run write travel visit lose build start study quit save climb finish publish "
    "retire adopt master"
)
_HAPPENED: Mapping[str, str] = {
    "buy": "bought",
    "sell": "sold",
    "visit": "visited",
    "meet": "met",
    "finish": "finished",
    "complete": "finished",
    "start": "started",
    "begin": "started",
}


_LEISURE = re.compile(r"\bin (?:my|our) (?:free|spare) time\b|\bfor fun\b", re.IGNORECASE)


def planning(reading: Reading) -> list[Fact]:
    """What a clause states of plans, of events with their days, and of one's leisure."""
    facts: list[Fact] = _leisure(reading)
    for subject in reading.subjects:
        if subject.name and subject.sort not in ("other",):
            facts += (
                _due(reading, subject) or _plans(reading, subject) or _happened(reading, subject)
            )
    return facts


def _leisure(reading: Reading) -> list[Fact]:
    """In my free time I paint."""
    clause = reading.clause
    mine = [mention for mention in reading.subjects if mention.sort == "me"]
    plain = clause.present and not clause.denied and len(clause.verbs) == 1
    if not mine or not plain or not _LEISURE.search(reading.text) or clause.main == "like":
        return []
    what = _base(reading, clause.verbs)
    return [Fact(mine[0].name, "hobby", _LEISURE.sub("", what).strip())]


def _due(reading: Reading, subject: Mention) -> list[Fact]:
    """The report is due on Friday; the meeting moved to Wednesday. The day is filled in later."""
    if (
        subject.sort != "thing"
        or not reading.dated
        or reading.clause.denied
        or subject.noun not in _SCHEDULED
    ):
        return []
    clause, words = reading.clause, reading.part("")
    low = [word.low for word in words]
    moved = clause.main in ("move", "postpone", "reschedule", "push", "shift")
    begins = clause.main in ("start", "begin", "leave", "depart", "arrive") and clause.present
    stands = (
        clause.main == "be"
        and not clause.past
        and (not low or low[0] in ("due", "scheduled", "set", "planned"))
    )
    if not (moved or begins or stands):
        return []
    cue = reading.cue or ("update" if moved or "now" in reading.adverbs else "")
    return [Fact(scheduled(subject.name), "due_on", "", cue=cue, when="span")]


def _plans(reading: Reading, subject: Mention) -> list[Fact]:
    clause = reading.clause
    over = clause.past or clause.continuing
    if subject.sort in ("thing", "pet") or clause.denied or over:
        return []
    if clause.verbs[0] == "want" and len(clause.verbs) > 1:
        what = _base(reading, clause.verbs[1:])
        return [Fact(subject.name, "goal", what)] if clause.verbs[1] in _WANTED and what else []
    what = _planned(reading)
    return [Fact(subject.name, "plans_to", what, when="span")] if what else []


def _planned(reading: Reading) -> str:
    """What is planned, from its verb on; "" for no plan, and for a day that is over."""
    clause = reading.clause
    verbs: list[str] = list(clause.verbs)
    if "plan" in verbs[:2] or verbs[0] == "intend":
        after = verbs.index("plan") + 1 if "plan" in verbs else 1
        return _base(reading, tuple(verbs[after:])) if verbs[after:] else ""
    if not reading.ahead:
        return ""
    if verbs[0] in ("need", "have") and len(verbs) == 2 and clause.tags[1] == "VB":
        return _base(reading, tuple(verbs[1:]))
    return _base(reading, _own(clause.verbs)) if _ahead(reading) else ""


def _ahead(reading: Reading) -> bool:
    """Is it said as something to come: "will go", "am going to visit", "are coming"?"""
    verbs = reading.clause.verbs
    main = _own(verbs)[0] if _own(verbs) else ""
    if main not in _PLANNED:
        return False
    if main in _TRAVELLED and reading.clause.present:
        return True
    return verbs[0] in ("will", "'ll", "shall") or reading.clause.progressive or "go" in verbs[:-1]


def _own(verbs: tuple[str, ...]) -> tuple[str, ...]:
    """The verbs of what is planned, without will, be and going to."""
    kept = [v for v in verbs if v not in ("will", "'ll", "shall", "be", "wo")]
    if len(kept) > 1 and kept[0] == "go":
        kept = kept[1:]
    return tuple(kept)


def _base(reading: Reading, verbs: tuple[str, ...]) -> str:
    """Fly to Berlin: the verb's base and what follows, without the day."""
    words: list[str] = list(verbs[:1])
    if verbs[1:]:
        participle = verbs[1]
        to = ["to"] if verbs[0] in ("learn", "start", "begin", "try") else []
        words += [*to, {"marry": "married", "engage": "engaged"}.get(participle, participle)]
    for preposition, part in reading.parts:
        if any(w.low in ("me", "you") for w in part) and preposition in ("to", ""):
            return ""
        kept = _undated(part)
        if preposition in ("at", "by", "until") and kept and kept[0].tag == "CD":
            continue
        if kept:
            words += (
                [preposition, said(kept, reading.text)]
                if preposition
                else [said(kept, reading.text)]
            )
    vague = len(words) > 1 and words[-1].split()[-1].lower() in VAGUE
    return "" if vague or len(" ".join(words)) > 120 else " ".join(words)


def _undated(words: Words) -> Words:
    return [word for word in words if not word.dated]


def _happened(reading: Reading, subject: Mention) -> list[Fact]:
    clause = reading.clause
    if (
        not clause.past
        or clause.denied
        or subject.sort in ("thing", "pet")
        or len(clause.verbs) > 2
    ):
        return []
    if clause.main == "go":
        return _went(reading, subject)
    if clause.main == "sign" and reading.part("for"):
        return _events(subject, "started", reading.objects(reading.part("for")))
    if clause.main == "join":
        if calling_joined(reading):
            return []
        joined = [
            one for one in reading.objects() if one.split()[-1] in _JOINED or one[:1].isupper()
        ]
        return [Fact(subject.name, "member_of", one, when="from") for one in joined]
    predicate = _HAPPENED.get(clause.main, "")
    if not predicate:
        return []
    if predicate == "met":
        names = [m.name for m in reading.names(reading.part("")) if m.sort == "name"]
        return _events(subject, "met", names)
    if predicate in ("started", "finished") and (not reading.dated or not reading.part("")):
        return []
    found = (
        [_placed(reading)] if predicate == "visited" and reading.part("in") else reading.objects()
    )
    if predicate in ("bought", "sold", "visited"):
        found = [one for one in found if one]
    return _events(subject, predicate, found)


_JOINED = listed("gym club choir band team group society orchestra union association program")


def _placed(reading: Reading) -> str:
    """The lighthouse in Cabo Mondego."""
    one, inside = reading.whole(reading.part("")), reading.whole(reading.part("in"))
    return f"{one} in {inside}" if one and inside else one


def _went(reading: Reading, subject: Mention) -> list[Fact]:
    """Went to the museum yesterday: only with its day, for who only "went to bed"."""
    words = reading.part("to")
    if not reading.dated or not words or words[-1].low in ("bed", "work", "sleep", "town"):
        return []
    if words[-1].lemma in ROLES:
        return []
    return _events(subject, "visited", reading.objects(words)[:1])


def _events(subject: Mention, predicate: str, found: list[str]) -> list[Fact]:
    return [Fact(subject.name, predicate, one, when="span") for one in found]
