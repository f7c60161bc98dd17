"""Rules for what somebody has: animals, children, things, appointments, illnesses, medicines."""

from __future__ import annotations

from collections.abc import Mapping

from lila_app.memory.extraction.changes import (
    Rule,
    change_of,
    facts_of,
    is_person,
    is_standing,
)
from lila_app.memory.extraction.lexicon import (
    OWNABLE,
    ROLES,
    is_event,
    is_illness,
    is_medicine,
    is_pet,
)
from lila_app.memory.extraction.nouns import Mention, related
from lila_app.memory.extraction.reading import Fact, Reading
from lila_app.memory.extraction.words import Words, is_name, said


def has(reading: Reading, subject: Mention) -> list[Fact]:
    """A cat named Luna, a daughter, Lia, a peanut allergy, diabetes, a Canon camera."""
    words = reading.part("")
    if (
        not is_person(subject)
        or not words
        or (not is_standing(reading) and not reading.clause.past)
    ):
        return []
    head = next((w for n, w in enumerate(words) if _heads(words, n)), None)
    if head is not None:
        return _kin_or_pet(reading, subject, words, head.lemma)
    if words[-1].low in ("allergy", "intolerance"):
        what = said([w for w in words[:-1] if w.low not in _DEGREES], reading.text)
        return facts_of(reading, subject, "allergic_to", [what]) if what else []
    if any(is_illness(w.low) for w in words) or [w.low for w in words[-2:]] == [
        "blood",
        "pressure",
    ]:
        whole = reading.whole(words)
        return facts_of(reading, subject, "diagnosed_with", [whole])
    return _thing(reading, subject, words)


def _heads(words: Words, place: int) -> bool:
    """A daughter, a cat; not the dentist of "a dentist appointment"."""
    word, after = words[place], words[place + 1 : place + 2]
    held = word.lemma in ROLES or is_pet(word.lemma)
    return held and not (after and after[0].tag in ("NN", "NNS") and not is_name(after[0]))


def _kin_or_pet(reading: Reading, subject: Mention, words: Words, noun: str) -> list[Fact]:
    mark = next(i for i, word in enumerate(words) if word.lemma == noun)
    after = [w for w in words[mark + 1 :] if w.low not in (",", "called", "named")]
    rest = reading.clause.rest
    after = [w for w in after if w.tag != "CC"]
    names = [w for w in after if is_name(w)]
    if not after and words[mark].tag == "NN" and is_pet(noun):
        reading.speaking.nameless = (noun, subject.name)
        if _just_has(reading, words):
            return facts_of(reading, subject, "owns", [noun])
    if not names or len(names) != len(after) or reading.clause.denied:
        return []
    if reading.ended or (reading.clause.main == "have" and reading.clause.tags[0] == "VBD"):
        return []
    if rest and is_pet(noun) and reading.clause.progressive:
        return []
    facts: list[Fact] = []
    for name in [m.name for m in reading.names(words[words.index(names[0]) :]) if m.sort == "name"]:
        facts += [Fact(*one, confidence=8_500) for one in related(noun, name, subject.name)]
    return facts


def _just_has(reading: Reading, words: Words) -> bool:
    """Has a cat: an animal without a name, and nothing else is said of it."""
    clause = reading.clause
    plain = clause.verbs == ("have",) and clause.present and not clause.denied
    whole = not any(preposition for preposition, _ in reading.parts)
    return plain and whole and len(words) == 2 and words[0].low in ("a", "an")


def _thing(reading: Reading, subject: Mention, words: Words) -> list[Fact]:
    if (reading.clause.past and reading.clause.verbs[-1] != "get") or len(words) < 2:
        return []
    kept = [w for w in words if w.low not in ("a", "an", "two", "three")]
    if is_event(kept[-1].lemma) if kept else True:
        return _event(reading, subject, words)
    if len(kept) == len(words) or kept[-1].lemma not in OWNABLE or reading.clause.verbs[0] == "get":
        return []
    return facts_of(reading, subject, "owns", reading.objects(words))


def _event(reading: Reading, subject: Mention, words: Words) -> list[Fact]:
    """A dentist appointment tomorrow: only with its day."""
    if (
        not reading.dated
        or reading.clause.denied
        or (reading.clause.past and reading.clause.tags[0] == "VBD")
    ):
        return []
    one, other = reading.whole(words), reading.whole(reading.part("with"))
    one = f"{one} with {other}" if one and other else one
    return [Fact(subject.name, "has_event", one, when="span")] if one else []


def _owns(reading: Reading, subject: Mention) -> list[Fact]:
    """A house; a cat named Luna is had, not owned."""
    if not reading.clause.present or not is_standing(reading):
        return []
    words = reading.part("")
    if any(is_pet(word.lemma) for word in words):
        return has(reading, subject)
    return facts_of(reading, subject, "owns", reading.objects())


def _takes(reading: Reading, subject: Mention) -> list[Fact]:
    if not is_person(subject):
        return []
    denied, cue, when = change_of(reading)
    words = reading.part("")
    found = [w.text for w in words if is_medicine(w.low)]
    if len(words) > 1 and words[0].low == "vitamin":
        found = [reading.whole(words[:2])]
    if not found or (reading.clause.past and cue != "ended"):
        return []
    return [Fact(subject.name, "takes_medicine", one, denied, cue, when) for one in found]


def _prescribes(reading: Reading, subject: Mention) -> list[Fact]:
    """The doctor put me on losartan."""
    me = any(word.low == "me" for word in reading.clause.rest)
    found = [w.text for w in reading.clause.rest if is_medicine(w.low)]
    me = me or (reading.clause.main == "prescribe" and subject.owner == reading.speaking.speaker)
    if subject.sort == "me" or not me or reading.clause.denied:
        return []
    return [
        Fact(reading.speaking.speaker, "takes_medicine", w, cue="update", when="from")
        for w in found
    ]


def _suffers(reading: Reading, subject: Mention) -> list[Fact]:
    found = reading.objects(reading.part("from"))
    ill = [one for one in found if is_illness(one.split()[-1].lower())]
    return facts_of(reading, subject, "diagnosed_with", ill) if reading.clause.present else []


def _promoted(reading: Reading, subject: Mention) -> list[Fact]:
    """I was promoted to team lead."""
    found = [] if reading.clause.denied else reading.objects(reading.part("to"))
    return [Fact(subject.name, "job", one, cue="update", when="from") for one in found[:1]]


def _diagnosed(reading: Reading, subject: Mention) -> list[Fact]:
    if not is_person(subject) or reading.clause.denied:
        return []
    return [
        Fact(subject.name, "diagnosed_with", one, when="from")
        for one in reading.objects(reading.part("with"))
    ]


_DEGREES = ("a", "an", "severe", "bad", "mild", "slight", "serious", "terrible")


RULES: Mapping[str, Rule] = {
    "have": has,
    "own": _owns,
    "take": _takes,
    "put": _prescribes,
    "prescribe": _prescribes,
    "suffer": _suffers,
    "promote": _promoted,
    "diagnose": _diagnosed,
}
"""The rules of this module by the lemma of the verb."""
