"""Rules for "is": names, ages, callings, kin, favourites, what something is and where."""

from __future__ import annotations

from lila_app.memory.extraction.lexicon import (
    DIETS,
    JOBS,
    OWNABLE,
    ROLES,
    VALUES,
    is_medicine,
)
from lila_app.memory.extraction.nouns import Mention, lasting, related
from lila_app.memory.extraction.placing import PEOPLE, based_in, where
from lila_app.memory.extraction.properties import cue_of, own_property, triples_of
from lila_app.memory.extraction.reading import Fact, Reading
from lila_app.memory.extraction.words import Words, is_name, is_noun, is_span, said
from lila_app.memory.model import ANYONE, Cue

_UP_TO_TWENTY = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
    "fifteen sixteen seventeen eighteen nineteen twenty"
)
_NUMBER_WORDS = {word: number for number, word in enumerate(_UP_TO_TWENTY.split())}
_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")


def _number(word: str) -> int:
    """Twelve, forty, forty-two; 0 for no number."""
    ten, _, one = word.partition("-")
    if ten in _TENS:
        return 20 + 10 * _TENS.index(ten) + _NUMBER_WORDS.get(one, 0)
    return _NUMBER_WORDS.get(word, 0)


def being(reading: Reading) -> list[Fact]:
    """What a clause with "is", "is called" or "was born" states."""
    facts: list[Fact] = []
    own = own_property(reading)
    if own is not None:
        return own
    for subject in reading.subjects:
        facts += _of(reading, subject)
    return facts + _together(reading)


def _born(reading: Reading, subject: Mention) -> list[Fact]:
    """Born on 21 November 2014 in Faro: the words of the day are read later."""
    if reading.clause.main != "bear" or subject.sort not in PEOPLE or reading.clause.denied:
        return []
    where = [m.name for m in reading.names(reading.part("in")) if m.sort == "name"]
    born = [Fact(subject.name, "birthday", said(reading.clause.rest, reading.text))]
    return born + [Fact(subject.name, "born_in", one) for one in where[:1]]


def _of(reading: Reading, subject: Mention) -> list[Fact]:
    if not subject.name and subject.sort != "role":
        return []
    for rule in _RULES:
        facts = rule(reading, subject)
        if facts:
            return facts
    return []


def _named(reading: Reading, subject: Mention) -> list[Fact]:
    """My sister is (called) Joana; my boat is called Cotovia; I'm Tomás."""
    words = reading.part("")
    called = reading.clause.main in ("call", "name")
    if reading.clause.main not in ("be", "call", "name") or not words or reading.clause.denied:
        return []
    joined = [word for word in words if word.tag != "CC" and word.low != ","]
    if words[0].low in DIETS:
        return []
    if not all(is_name(word) or word.low in (".", "de", "da", "do") for word in joined):
        return []
    names = [mention.name for mention in reading.names(words)]
    if subject.sort in ("role", "pet") and subject.noun and not subject.implied:
        return _presented(reading, subject, names)
    if len(names) != 1:
        return []
    name = names[0]
    if called and subject.sort == "thing" and subject.owner:
        if subject.noun in VALUES:
            return []
        kind = Fact(name, "is_a", subject.noun)
        if subject.noun not in OWNABLE:
            return [kind]
        return [Fact(subject.owner, "owns", name, confidence=8_500), kind]
    if subject.sort == "me" and not reading.clause.past:
        return _introduced(reading, subject, words, name, called)
    return []


def _presented(reading: Reading, subject: Mention, names: list[str]) -> list[Fact]:
    """My sister is Joana; nothing for who "was" my doctor."""
    if reading.clause.tags[0] == "VBD" and not lasting(subject.noun):
        return []
    for name in names:
        reading.speaking.rename(subject.described, name)
    triples = (related(subject.noun, name, subject.owner) for name in names)
    return triples_of(tuple(one for group in triples for one in group), cue_of(reading))


def _introduced(
    reading: Reading, subject: Mention, words: Words, name: str, called: bool
) -> list[Fact]:
    """I'm Tomás: a name alone, at the end or before a comma."""
    after = reading.clause.rest[len(words) :]
    first = len(reading.parts) == 1 and (not after or after[0].tag in (",", ".", ":"))
    if called:
        return [Fact(subject.name, "called", name)]
    # "I'm ANGRY" is stressed, and "I'm Vegan" a capital too many: neither is a name.
    stressed = len(name) > 2 and name.isupper() and not words[0].entity
    if first and not stressed and words[0].tag in ("NNP",) and reading.clause.rest[0] is words[0]:
        return [Fact(subject.name, "name", name, confidence=7_500)]
    return []


def _age(reading: Reading, subject: Mention) -> list[Fact]:
    """I'm 34 (years old), she turned seven."""
    if (
        subject.sort not in PEOPLE
        or reading.clause.main not in ("be", "turn")
        or reading.clause.denied
    ):
        return []
    words = [w for w in reading.part("") if w.low not in ("years", "year", "old", "just")]
    if len(words) != 1 or any(p for p, _ in reading.parts if p):
        return []
    low = words[0].low
    number = int(low) if low.isdecimal() and len(low) <= 3 else _number(low)
    told = subject.sort != "name" or len(words) < len(reading.part(""))
    told = told or reading.clause.main == "turn" or bool(subject.implied)
    # "Limit is 18": a name alone with a number is an age only of somebody named before.
    if not told and subject.name not in reading.speaking.before and not _known(reading):
        return []
    if not 0 < number < 125 or (reading.clause.past and reading.clause.main == "be"):
        return []
    if not reading.clause.past and (reading.clause.main == "turn" or reading.ahead):
        return []
    return [Fact(subject.name, "age", str(number))]


def _known(reading: Reading) -> bool:
    return any(word.entity for word in reading.clause.subject)


def _adjective(reading: Reading, subject: Mention) -> list[Fact]:
    """Allergic to, married to, vegetarian, from, a fan of, diagnosed with, born on."""
    words = reading.part("")
    low = [word.low for word in words]
    denied, cue = reading.clause.denied and not reading.ended, cue_of(reading)
    if subject.sort not in PEOPLE:
        return []
    if low == ["divorced"]:
        return [] if denied else [Fact(subject.name, "married_to", ANYONE, cue="ended", when="to")]
    if low[-1:] == ["intolerant"] and len(low) == 2:
        return _each(subject, "allergic_to", [words[0].text], denied, cue)
    if "allergic" in low or "intolerant" in low:
        return _each(
            subject, "allergic_to", reading.objects(reading.part("to")), denied, cue
        ) + _rather(reading, subject)
    for adjective, predicate in (("married", "married_to"), ("engaged", "engaged_to")):
        if low[-1:] == [adjective] and reading.part("to"):
            names = [m.name for m in reading.names(reading.part("to")) if m.sort in ("name", "me")]
            return _each(subject, predicate, names, denied, cue, "from")
    if (len(low) == 1 and low[0] in DIETS) or (
        len(low) == 2 and low[0] in ("a", "an") and low[1] in DIETS
    ):
        return [Fact(subject.name, "diet", low[-1], denied, cue, "from")]
    if low[-1:] == ["fan"] or low[-3:-1] == ["fan", "of"] or "fan" in low:
        return _fan(reading, subject, denied, cue)
    return _from_or_ill(reading, subject, denied, cue)


def _rather(reading: Reading, subject: Mention) -> list[Fact]:
    """Not allergic to nuts, just to shellfish."""
    rest = reading.clause.rest
    for place, word in enumerate(rest):
        if (
            word.low in ("just", "only", "but")
            and reading.clause.denied
            and place + 2 < len(rest) + 1
        ):
            words = [
                w for w in rest[place + 1 :] if w.low not in ("to", "just", "only") and w.tag != "."
            ]
            return _each(subject, "allergic_to", reading.objects(words), False, "")
    return []


def _each(
    subject: Mention, predicate: str, found: list[str], denied: bool, cue: Cue, when: str = ""
) -> list[Fact]:
    until = "to" if cue == "ended" else ("from" if when else "")
    return [
        Fact(subject.name, predicate, one, denied, cue, until)
        for one in found
        if one != subject.name
    ]


def _fan(reading: Reading, subject: Mention, denied: bool, cue: Cue) -> list[Fact]:
    words = reading.part("")
    mark = next((i for i, word in enumerate(words) if word.low == "of"), None)
    if mark is None:
        named = [word for word in words if is_name(word)] if words[-1].low == "fan" else []
        return _each(subject, "likes", reading.objects(named), denied, cue)
    return _each(subject, "likes", reading.objects(words[mark + 1 :]), denied, cue)


def _from_or_ill(reading: Reading, subject: Mention, denied: bool, cue: Cue) -> list[Fact]:
    into = reading.part("into")
    if reading.clause.main == "be" and into and not reading.part(""):
        return _each(subject, "likes", reading.objects(into), denied, cue)
    if reading.clause.main == "diagnose" or (
        reading.clause.main == "be" and reading.clause.verbs[-1] == "diagnose"
    ):
        return _each(subject, "diagnosed_with", reading.objects(reading.part("with")), denied, cue)
    if reading.clause.main == "be" and not reading.part(""):
        names = [m.name for m in reading.names(reading.part("from")) if m.sort == "name"]
        return _each(subject, "from", names, denied, cue)
    return []


def _favoured(reading: Reading, subject: Mention) -> list[Fact]:
    """Green is my favourite colour."""
    words = reading.part("")
    low = [word.low for word in words]
    mine = low[:1] in (["my"], ["our"]) and low[1:2] in (["favourite"], ["favorite"])
    if not mine or not 3 <= len(low) <= 5 or not all(one.isascii() for one in low):
        return []
    what = "_".join(low[2:]).replace("color", "colour")
    speaker = reading.speaking.speaker
    return [
        Fact(speaker, f"favourite_{what}", subject.name, reading.clause.denied, cue_of(reading))
    ]


def _role_of(reading: Reading, subject: Mention) -> list[Fact]:
    """Odete is my neighbour; Elspeth is Nina's mother; Callum and Paulo are brothers."""
    words = reading.part("")
    if not _is_named(subject) or reading.clause.main != "be" or not words or reading.clause.past:
        return []
    found = reading.names(words)
    if (
        len(found) != 1
        or found[0].sort not in ("role", "pet")
        or not found[0].owner
        or found[0].implied
    ):
        return []
    if reading.clause.denied and not reading.ended:
        return []
    cue = cue_of(reading)
    return [
        Fact(s, p, v, cue=cue) for s, p, v in related(found[0].noun, subject.name, found[0].owner)
    ]


def _is_named(subject: Mention) -> bool:
    return subject.sort == "name" or bool(subject.implied and subject.sort == "role")


def _calling(reading: Reading, subject: Mention) -> list[Fact]:
    """I'm a nurse; Duarte is a physics teacher at the Escola do Farol."""
    words = reading.part("")
    if (
        subject.sort not in PEOPLE
        or subject.sort == "pet"
        or reading.clause.main not in ("be", "become")
    ):
        return []
    if len(words) < 2 or words[0].low not in ("a", "an", "the") or words[-1].lemma not in JOBS:
        return []
    if not all(w.tag in ("DT", "NN", "JJ", "NNP", "VBG", "HYPH") or w.low == "-" for w in words):
        return []
    cue = cue_of(reading)
    if reading.clause.tags[0] == "VBD" and reading.clause.main == "be":
        return []
    denied = reading.clause.denied and cue != "ended"
    facts = [Fact(subject.name, "job", reading.whole(words), denied, cue, "from")]
    where = reading.part("at", "for")
    named = [] if is_span(where) else reading.names(where)
    at = [m.name for m in named if m.sort in ("name", "thing")]
    return facts + [
        Fact(subject.name, "works_at", one, denied, cue, "from") for one in at[:1] if one
    ]


def _medicine(reading: Reading, subject: Mention) -> list[Fact]:
    """I'm on 20 mg of atorvastatin."""
    words = [word for word in reading.part("on") if is_medicine(word.low)]
    if subject.sort not in PEOPLE or not words:
        return []
    cue = cue_of(reading)
    return [
        Fact(subject.name, "takes_medicine", w.text, reading.clause.denied and cue != "ended", cue)
        for w in words
    ]


def _kind(reading: Reading, subject: Mention) -> list[Fact]:
    """Metoprolol is a beta blocker; Maasveer is a company."""
    words = reading.part("")
    if len(reading.subjects) > 1:
        return []
    plain = subject.sort == "name" or (subject.sort == "thing" and not subject.owner)
    if not plain or reading.clause.main != "be" or reading.clause.past or reading.clause.denied:
        return []
    if words and words[-1].low == "based":
        words = words[:-1]
    opened = reading.clause.subject[0].low in ("the", "a", "an", "that", "this")
    if opened or len(words) < 2 or words[0].low not in ("a", "an"):
        return []
    if not is_noun(words[-1]) or words[-1].lemma in VALUES or words[-1].lemma in ROLES:
        return []
    bare = (
        is_medicine(subject.name)
        or subject.sort == "name"
        or any(w.entity for w in reading.clause.subject)
    )
    if not bare or not all(w.tag in ("DT", "NN", "JJ", "NNP", "VBG", "VBN", "HYPH") for w in words):
        return []
    facts = [Fact(_lowered(subject.name), "is_a", reading.whole(words))]
    based = based_in(reading)
    return facts + [Fact(subject.name, "located_in", one) for one in based]


def _part(reading: Reading, subject: Mention) -> list[Fact]:
    """Planks is part of the Tidetable project."""
    words = [word for word in reading.part("") if word.low != "a"]
    if [word.low for word in words[:2]] != ["part", "of"] or subject.sort not in ("name", "thing"):
        return []
    kept = [word for word in words[2:] if word.low not in ("the", "our", "project")]
    whole = said(kept, reading.text)
    if not whole[:1].isupper() or not reading.clause.subject[0].text[:1].isupper():
        return []
    return [Fact(subject.name, "part_of", whole, reading.clause.denied, cue_of(reading))]


def _lowered(name: str) -> str:
    """A medicine begins a sentence with a capital, and is kept without."""
    return name.lower() if is_medicine(name) else name


def _together(reading: Reading) -> list[Fact]:
    """Sam and I are friends; Callum and Paulo are brothers; Jonas and I got divorced."""
    if len(reading.subjects) != 2 or reading.clause.denied:
        return []
    one, other = reading.subjects
    if one.sort == "me":
        one, other = other, one
    words = [word for word in reading.part("") if word.low not in ("best", "good", "both", "old")]
    head = words[0].lemma if words else ""
    predicate = {
        "friend": "friend_of",
        "sibling": "sibling_of",
        "brother": "brother_of",
        "sister": "sister_of",
        "colleague": "colleague_of",
        "cousin": "kin_cousin",
    }.get(head, "")
    if not predicate or not one.name or not other.name or len(words) > 1:
        return []
    return [Fact(one.name, predicate, other.name)]


_RULES = (
    _born,
    _named,
    _age,
    _adjective,
    _favoured,
    _role_of,
    _calling,
    _medicine,
    _part,
    _kind,
    where,
)
