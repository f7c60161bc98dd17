"""Rules for verbs of state and habit: lives, works, likes, has, takes, knows."""

from __future__ import annotations

from collections.abc import Mapping

from lila_app.memory.extraction import dwelling, ending, habits, having
from lila_app.memory.extraction.changes import Rule, named_of
from lila_app.memory.extraction.reading import Fact, Reading
from lila_app.memory.model import ANYONE, Cue


def doing(reading: Reading) -> list[Fact]:
    """What a clause with another verb than "be" states of each of its subjects."""
    facts: list[Fact] = []
    pair = _pair(reading)
    if pair:
        return pair
    rule = RULES.get(_verb(reading))
    for subject in reading.subjects:
        if rule is not None and subject.name and subject.sort != "other":
            facts += rule(reading, subject)
    return facts


def _verb(reading: Reading) -> str:
    """The verb that decides, with those that begin or end something set aside."""
    verbs = reading.clause.verbs
    if verbs[0] in ("can", "ca") and verbs[-1] == "stand":
        return "can't stand"
    return verbs[-1]


_COUPLES: Mapping[str, tuple[str, Cue]] = {
    "marry": ("married_to", ""),
    "engage": ("engaged_to", ""),
    "divorce": ("married_to", "ended"),
    "break": ("partner_of", "ended"),
    "split": ("partner_of", "ended"),
    "separate": ("partner_of", "ended"),
}


def _pair(reading: Reading) -> list[Fact]:
    """Ana and I got married; Jonas and I got divorced; I broke up with Dana."""
    clause = reading.clause
    last = clause.main
    words = [w.low for w in reading.part("")]
    if last == "get" and words and words[0] in ("married", "engaged", "divorced"):
        last = {"married": "marry", "engaged": "engage", "divorced": "divorce"}[words[0]]
    if last not in _COUPLES or not clause.past or clause.denied:
        return []
    if last in ("break", "split") and not any(word.low == "up" for word in clause.rest):
        return []
    predicate, cue = _COUPLES[last]
    names = [m.name for m in reading.subjects if m.name]
    others = named_of(
        reading, reading.part("with", "to") or (reading.part("") if last == "marry" else ())
    )
    names = [*names, *others]
    if last == "divorce" and len(names) == 1 and not reading.part("with", "to"):
        return [Fact(names[0], predicate, ANYONE, cue=cue, when="to")]
    if len(names) != 2 or len(set(names)) != 2:
        return []
    me = reading.speaking.speaker
    one, other = sorted(names, key=lambda name: name != me)
    return [Fact(one, predicate, other, cue=cue, when="to" if cue else "from")]


RULES: Mapping[str, Rule] = {**dwelling.RULES, **habits.RULES, **having.RULES, **ending.RULES}
"""The rule of each verb, by its lemma."""
