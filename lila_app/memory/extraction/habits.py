"""Rules for likes, habits and tools: likes, plays, speaks, drives, uses, does not eat."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from lila_app.memory.extraction.changes import (
    Rule,
    change_of,
    facts_of,
    is_person,
    is_standing,
    named_of,
)
from lila_app.memory.extraction.lexicon import LANGUAGES, OWNABLE
from lila_app.memory.extraction.nouns import Mention
from lila_app.memory.extraction.reading import Fact, Reading
from lila_app.memory.extraction.words import Words, is_name, is_noun, is_span, listed, said

_TITLE = re.compile(r"[\"“]([^\"”]+)[\"”]")


_DEFINITE = listed("the that this these those your his her their its my our all")


def _liking(predicate: str) -> Rule:
    def rule(reading: Reading, subject: Mention) -> list[Fact]:
        clause = reading.clause
        holds = (is_standing(reading) or reading.ended) and not clause.progressive
        if not is_person(subject) or not holds or len(clause.verbs) > 2:
            return []
        if clause.past and not reading.ended:
            return []
        words = _compared(reading.part("")) if predicate == "prefers" else reading.part("")
        if not words or (words[0].low in _DEFINITE and not is_name(words[-1])):
            return []
        facts = facts_of(reading, subject, predicate, _liked(reading, words))
        if reading.ended:
            return [replace(fact, negated=False, cue="ended", when="to") for fact in facts]
        # "Can't stand" denies in form alone.
        return [replace(one, negated=False) for one in facts] if clause.main == "stand" else facts

    return rule


def _liked(reading: Reading, words: Words) -> list[str]:
    """Tea, working from home; nothing without a noun in it ("how calm", "blue")."""
    if words[0].tag == "VBG":
        return [_with_tail(reading, words)]
    noun = reading.clause.main == "stand" or any(is_noun(word) for word in words)
    return reading.objects(words) if noun else []


def _compared(words: Words) -> Words:
    """What is preferred, without what it is preferred to."""
    for place, word in enumerate(words):
        if place and word.low in ("to", "over", "than", "rather"):
            return words[:place]
    return words


def _with_tail(reading: Reading, words: Words) -> str:
    """Working from home: the whole of it, with what follows by a preposition."""
    tail = [word for _, part in reading.parts for word in part]
    if len(tail) > 9 or (
        len(tail) == 1 and words[0].low in ("being", "having", "doing", "getting")
    ):
        return ""
    last = max([*words, *tail], key=lambda w: w.end)
    return reading.text[words[0].start : last.end]


def _speaks(reading: Reading, subject: Mention) -> list[Fact]:
    if not is_person(subject) or not is_standing(reading) or reading.clause.progressive:
        return []
    words = [w for w in reading.part("") if w.low in LANGUAGES or w.text[:1].isupper()]
    return facts_of(reading, subject, "speaks", [word.text for word in words], 8_500)


def _grew(reading: Reading, subject: Mention) -> list[Fact]:
    """Grew up in Faro, speaking Portuguese; said of a town, it grew."""
    rest = [word.low for word in reading.clause.rest]
    if not is_person(subject) or reading.clause.denied or "up" not in rest:
        return []
    where = named_of(reading, reading.part("in"), "name") if reading.clause.past else []
    grown = [Fact(subject.name, "grew_up_in", one) for one in where[:1]]
    if "speaking" not in rest:
        return grown
    found = [w.text for w in reading.clause.rest if w.low in LANGUAGES]
    return [*grown, *(Fact(subject.name, "speaks", one) for one in found)]


def _learns(reading: Reading, subject: Mention) -> list[Fact]:
    begun = len(reading.clause.verbs) > 1 and reading.clause.verbs[-2] in ("start", "begin")
    begun = begun or reading.clause.continuing
    if not is_person(subject) or not (reading.clause.progressive or begun):
        return []
    denied, cue, when = change_of(reading)
    del cue
    return [Fact(subject.name, "learning", one, denied, "", when) for one in reading.objects()]


def _plays(reading: Reading, subject: Mention) -> list[Fact]:
    habit = reading.clause.present or reading.clause.continuing
    if not is_person(subject) or not habit or not is_standing(reading):
        return []
    found = [
        one
        for one in reading.objects()
        if one.split()[-1] not in ("role", "part", "game", "trick", "card")
    ]
    return facts_of(reading, subject, "plays", found)


def _drives(reading: Reading, subject: Mention) -> list[Fact]:
    if not is_person(subject) or not reading.clause.present or not reading.part(""):
        return []
    words = reading.part("")
    thing = words[0].low in ("a", "an") and (is_name(words[-1]) or words[-1].lemma in OWNABLE)
    return facts_of(reading, subject, "drives", reading.objects()) if thing else []


def _uses(reading: Reading, subject: Mention) -> list[Fact]:
    if subject.sort not in ("me", "name") or not reading.clause.present:
        return []
    return facts_of(reading, subject, "uses", named_of(reading, reading.part(""), "name"))


def _maintains(reading: Reading, subject: Mention) -> list[Fact]:
    if not is_person(subject) or not (reading.clause.present or reading.clause.progressive):
        return []
    return facts_of(reading, subject, "works_on", named_of(reading, reading.part(""), "name"))


def _supports(reading: Reading, subject: Mention) -> list[Fact]:
    if not is_person(subject) or not reading.clause.present:
        return []
    return facts_of(reading, subject, "supports", named_of(reading, reading.part(""), "name"))


def _reads(reading: Reading, subject: Mention) -> list[Fact]:
    if not is_person(subject) or not reading.clause.progressive:
        return []
    rest, words = said(reading.clause.rest, reading.text), reading.part("")
    title = _TITLE.match(rest)
    if title:
        return facts_of(reading, subject, "reading", [title[1]])
    return (
        facts_of(reading, subject, "reading", [reading.whole(words)])
        if words and is_name(words[0])
        else []
    )


def _manages(reading: Reading, subject: Mention) -> list[Fact]:
    if not is_person(subject) or not reading.clause.present:
        return []
    return facts_of(reading, subject, "manages", named_of(reading, reading.part("")))


def _avoids(reading: Reading, subject: Mention) -> list[Fact]:
    """Does not eat pork, cannot eat gluten: what somebody keeps from."""
    verbs = list(reading.clause.verbs)
    if change_of(reading)[1] == "ended" and is_person(subject) and len(verbs) <= 2:
        found = [f"{verbs[-1]} {one}" for one in reading.objects()] or [verbs[-1]]
        return [Fact(subject.name, "does", one, cue="ended", when="to") for one in found]
    if (
        not is_person(subject)
        or not reading.clause.denied
        or verbs[0] not in ("do", "can", "ca", *verbs[-1:])
    ):
        return []
    if reading.clause.past or reading.clause.progressive or reading.ended:
        return []
    if verbs[-1] in ("smoke", "drink", "drive") and not reading.part(""):
        return [Fact(subject.name, "does", verbs[-1], True)]
    if any(word.dated for word in reading.clause.rest):
        return []  # not on Mondays is not never
    when = _only_then(reading)
    if is_span(when):
        return []
    tail = f" {said(when, reading.text)}" if when else ""
    return [
        Fact(subject.name, "does", f"{verbs[-1]} {one}{tail}", True)
        for one in reading.objects()
        if one.islower()
    ]


def _only_then(reading: Reading) -> Words:
    """When or where it is so, with its preposition: after noon, at work; none for "at all"."""
    rest = reading.clause.rest
    for preposition, part in reading.parts:
        if preposition in _QUALIFYING and part and part[0].low != "all":
            before = [w for w in rest if w.low == preposition and w.end <= part[0].start]
            return [*before[-1:], *part]
    return ()


_QUALIFYING = listed("after before at during in on while with without for from until past till")


RULES: Mapping[str, Rule] = {
    "like": _liking("likes"),
    "love": _liking("likes"),
    "enjoy": _liking("likes"),
    "adore": _liking("likes"),
    "hate": _liking("dislikes"),
    "dislike": _liking("dislikes"),
    "loathe": _liking("dislikes"),
    "detest": _liking("dislikes"),
    "prefer": _liking("prefers"),
    "speak": _speaks,
    "grow": _grew,
    "learn": _learns,
    "play": _plays,
    "drive": _drives,
    "use": _uses,
    "support": _supports,
    "maintain": _maintains,
    "develop": _maintains,
    "read": _reads,
    "manage": _manages,
    "eat": _avoids,
    "drink": _avoids,
    "smoke": _avoids,
    "watch": _avoids,
    "can't stand": _liking("dislikes"),
}
"""The rules of this module by the lemma of the verb."""
