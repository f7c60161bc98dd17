"""Rules for where somebody lives, works and studies, and under whom."""

from __future__ import annotations

import re
from collections.abc import Mapping

from lila_app.memory.extraction.changes import (
    Rule,
    change_of,
    facts_of,
    is_person,
    is_standing,
    named_of,
)
from lila_app.memory.extraction.having import has
from lila_app.memory.extraction.lexicon import OWNABLE
from lila_app.memory.extraction.nouns import Mention
from lila_app.memory.extraction.placing import LOOKED_FOR
from lila_app.memory.extraction.reading import Fact, Reading
from lila_app.memory.extraction.words import Words, is_name, listed, said


def _lives(reading: Reading, subject: Mention) -> list[Fact]:
    if not is_person(subject) or not is_standing(reading):
        return []
    places = [part for preposition, part in reading.parts if preposition in ("in", "at")]
    found = [name for part in places for name in named_of(reading, part, "name")]
    # "Have lived for three months" says how long it has been, not for how long.
    if reading.clause.verbs[0] != "have" and _FOR_NOW.search(reading.text):
        denied = reading.clause.denied or reading.ended
        return [Fact(subject.name, "staying_in", one, when="span") for one in found if not denied]
    facts = facts_of(reading, subject, "lives_in", found[:1], 8_500)
    street = reading.part("at")
    if any(word.text[:1].isdigit() for word in street):
        tail = reading.part("in") or street
        address = reading.text[street[0].start : max(street[-1].end, tail[-1].end)]
        facts += facts_of(reading, subject, "address", [address])
    for mention in reading.names(reading.part("with")):
        facts += [Fact(*triple) for triple in mention.implied]
        if mention.sort == "name" or mention.implied:
            facts += facts_of(reading, subject, "lives_with", [mention.name])
    return facts


# Somebody who lives somewhere for two weeks, or half the week, lives somewhere else.
_FOR_NOW = re.compile(
    r"\b(?:until|till|for (?:a|an|the|this|these|\d+|one|two|three|four|five|six|a few|a couple of)"
    r" (?:(?:next|coming|few|whole) )*(?:(?:\d+|two|three|four|five|six|few) )?"
    r"(?:day|night|week|weekend|month|summer|winter|semester|term)s?|for now|from \w+day to \w+day|"
    r"(?:at|on|during) (?:the )?(?:weekends?|weekdays?|week)|\w+days)\b",
    re.IGNORECASE,
)


def _moves(reading: Reading, subject: Mention) -> list[Fact]:
    """Moved to; a move that is still to come is a plan."""
    still = reading.clause.past and not reading.clause.denied and not reading.part("")
    if not is_person(subject) or not still:
        return []
    found = named_of(reading, reading.part("to"), "name")
    return [
        Fact(subject.name, "lives_in", one, False, "update", "from", 8_500) for one in found[:1]
    ]


def _stays(reading: Reading, subject: Mention) -> list[Fact]:
    if not is_person(subject) or not reading.clause.progressive or reading.clause.denied:
        return []
    found = [
        m.name
        for m in reading.names(reading.part("at", "in", "with"))
        if m.sort in ("name", "thing")
    ]
    found = [reading.whole(reading.part("at", "in"))] if found else []
    return [
        Fact(subject.name, "staying_in", one, when="span") for one in found if one[:1].isupper()
    ]


def _works(reading: Reading, subject: Mention) -> list[Fact]:
    if not is_person(subject) or not is_standing(reading):
        return []
    facts: list[Fact] = []
    at = reading.part("at", "for")
    called = _called(at)
    names = [said(called, reading.text)] if called else named_of(reading, at, "name")
    if not names and at and at[0].low in ("the", "a", "an") and at[-1].low in _EMPLOYERS:
        names = [reading.whole(at)]
    facts += facts_of(reading, subject, "works_at", names[:1], 8_500)
    as_what = reading.part("as")
    if as_what and as_what[0].low in ("a", "an", "the"):
        facts += facts_of(reading, subject, "job", [reading.whole(as_what)])
    facts += facts_of(reading, subject, "colleague_of", named_of(reading, reading.part("with")))
    on = [w for w in reading.part("on") if w.low != "project"]
    if (
        on
        and (on[0].low == "the" or is_name(on[0]))
        and (is_name(on[-1]) or len(on) < len(reading.part("on")))
    ):
        facts += facts_of(reading, subject, "works_on", [reading.whole(on)])
    return facts


def _called(words: Words) -> Words:
    """The name behind "called" or "named"."""
    mark = next((i for i, w in enumerate(words) if w.low in ("called", "named")), None)
    return [w for w in words[mark + 1 :] if is_name(w)] if mark is not None else ()


def _leaves(reading: Reading, subject: Mention) -> list[Fact]:
    """Quit my job at Siemens; quit smoking; lost my job as a banker; left Siemens."""
    words = [w.low for w in reading.part("")]
    if not reading.clause.past and reading.clause.main not in ("quit",):
        return []
    if words[-1:] == ["job"]:
        at = named_of(reading, reading.part("at", "with"), "name")
        facts = [Fact(subject.name, "works_at", one, cue="ended", when="to") for one in at[:1]]
        as_what = reading.part("as")
        if as_what:
            facts.append(Fact(subject.name, "job", reading.whole(as_what), cue="ended", when="to"))
        return facts
    if reading.clause.main == "leave" and reading.part("for"):
        new = named_of(reading, reading.part("for"), "name")
        colleague = subject.noun in ("colleague", "coworker", "boss", "manager")
        return [
            Fact(subject.name, "works_at", n, cue="update", when="from")
            for n in new[:1]
            if colleague
        ]
    if reading.clause.main in ("quit", "stop") and words[:1] and words[0].endswith("ing"):
        habit = {"smoking": "smoke", "drinking": "drink", "vaping": "vape", "gambling": "gamble"}
        verb = habit.get(words[0], "") if len(words) == 1 else ""
        return [Fact(subject.name, "does", verb, cue="ended", when="to")] if verb else []
    return []


def _keeps(reading: Reading, subject: Mention) -> list[Fact]:
    """I keep the passports in the grey box on the wardrobe."""
    things = reading.part("")
    at = reading.part("in", "on", "under", "behind", "at")
    kept = subject.sort in ("me", "name", "role") and reading.clause.present
    if not kept or not things or not at or things[-1].lemma not in LOOKED_FOR:
        return []
    tail = [word for _, words in reading.parts[1:] for word in words]
    where = reading.text[at[0].start : max(word.end for word in tail)]
    where = re.sub(r"^(?:the|a|an|my|our) ", "", where)
    return [Fact(one, "kept_in", where, reading.clause.denied) for one in reading.objects()]


def _runs(reading: Reading, subject: Mention) -> list[Fact]:
    """Runs a bakery: what can be owned."""
    words = reading.part("")
    owned = words and words[0].low in ("a", "an") and words[-1].lemma in OWNABLE
    if not owned or not reading.clause.present or not is_person(subject):
        return []
    return facts_of(reading, subject, "owns", reading.objects())


def _begins(reading: Reading, subject: Mention) -> list[Fact]:
    """Started a new job at Philips."""
    job = [word.low for word in reading.part("")][-1:] == ["job"]
    return _gets(reading, subject) if job else []


def _gets(reading: Reading, subject: Mention) -> list[Fact]:
    """Got a new job at Philips; got a puppy."""
    words = [w.low for w in reading.part("")]
    if words[-1:] == ["job"] and reading.clause.past and not reading.clause.denied:
        at = named_of(reading, reading.part("at", "with"), "name")
        return [Fact(subject.name, "works_at", one, cue="update", when="from") for one in at[:1]]
    return has(reading, subject)


def _reports(reading: Reading, subject: Mention) -> list[Fact]:
    if not is_standing(reading):
        return []
    denied, cue, when = change_of(reading)
    cue = cue or ("update" if "instead" in [w.low for w in reading.clause.rest] else "")
    names = named_of(reading, reading.part("to"))
    return [
        Fact(subject.name, "reports_to", n, denied, cue, when, 8_500)
        for n in names[:1]
        if is_person(subject)
    ]


def _goes(reading: Reading, subject: Mention) -> list[Fact]:
    """Goes to Escola da Doca: a school by its name."""
    if not reading.clause.present or not is_person(subject):
        return []
    words = reading.part("to")
    schools = ("school", "university", "college", "academy", "escola", "universidade", "institute")
    if not any(word.low in schools for word in words) or not any(is_name(word) for word in words):
        return []
    return facts_of(reading, subject, "studies_at", [reading.whole(words)])


def _studies(reading: Reading, subject: Mention) -> list[Fact]:
    if not is_person(subject) or not is_standing(reading):
        return []
    facts = facts_of(reading, subject, "studies", reading.objects())
    at = reading.part("at")
    return facts + (
        facts_of(reading, subject, "studies_at", [reading.whole(at)])
        if any(map(is_name, at))
        else []
    )


def _belongs(reading: Reading, subject: Mention) -> list[Fact]:
    if subject.sort not in ("name", "thing") or reading.clause.past or reading.clause.denied:
        return []
    return [Fact(owner, "owns", subject.name) for owner in named_of(reading, reading.part("to"))]


def _comes(reading: Reading, subject: Mention) -> list[Fact]:
    if not reading.clause.present or not is_person(subject):
        return []
    words = reading.part("from")
    called = _called(words)
    found = [said(called, reading.text)] if called else named_of(reading, words, "name")
    return facts_of(reading, subject, "from", found[:1])


_EMPLOYERS = listed(
    "council hospital university library bank school government ministry museum bakery supermarket "
    "pharmacy clinic airport post embassy police newspaper restaurant hotel startup charity"
)

RULES: Mapping[str, Rule] = {
    "live": _lives,
    "move": _moves,
    "relocate": _moves,
    "stay": _stays,
    "work": _works,
    "run": _runs,
    "keep": _keeps,
    "quit": _leaves,
    "leave": _leaves,
    "lose": _leaves,
    "stop": _leaves,
    "get": _gets,
    "start": _begins,
    "begin": _begins,
    "adopt": _gets,
    "report": _reports,
    "go": _goes,
    "study": _studies,
    "attend": _goes,
    "belong": _belongs,
    "come": _comes,
}
"""The rules of this module by the lemma of the verb."""
