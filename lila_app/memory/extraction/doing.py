"""Rules for verbs of state and habit: lives, works, likes, has, takes, knows."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from lila_app.memory.extraction.being import is_event, is_illness, is_pet
from lila_app.memory.extraction.lexicon import LANGUAGES, OWNABLE, ROLES, is_medicine
from lila_app.memory.extraction.nouns import Mention, related
from lila_app.memory.extraction.reading import Fact, Reading, When
from lila_app.memory.extraction.words import Words, is_name, is_noun, said
from lila_app.memory.model import Cue

_TITLE = re.compile(r"[\"“]([^\"”]+)[\"”]")

Rule = Callable[[Reading, Mention], list[Fact]]


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


def _change(reading: Reading) -> tuple[bool, Cue, When]:
    """Denied, and what the verbs around the main one say: begun, ended, no longer."""
    verbs = reading.clause.verbs
    if reading.ended or (len(verbs) > 1 and verbs[-2] in ("stop", "quit", "finish", "give")):
        return False, "ended", "to"
    if len(verbs) > 1 and verbs[-2] in ("start", "begin"):
        return reading.clause.denied, "update", "from"
    changed = bool(reading.adverbs & {"now", "instead"})
    return reading.clause.denied, reading.cue or ("update" if changed else ""), "from"


def _standing(reading: Reading) -> bool:
    """Is it so, not was it once or will it be?"""
    if (
        "will" in reading.clause.verbs
        or "'ll" in reading.clause.verbs
        or "go" in reading.clause.verbs[:-1]
    ):
        return False
    denied, cue, _ = _change(reading)
    del denied
    return cue in ("ended", "update") or not reading.clause.past or reading.clause.tags[0] != "VBD"


def _facts(
    reading: Reading, subject: Mention, predicate: str, found: list[str], confidence: int = 8_000
) -> list[Fact]:
    denied, cue, when = _change(reading)
    return [
        Fact(subject.name, predicate, one, denied, cue, when, confidence)
        for one in found
        if one and one != subject.name
    ]


def _named(reading: Reading, words: Words, *sorts: str) -> list[str]:
    wanted = sorts or ("name", "me")
    return [m.name for m in reading.names(words) if m.sort in wanted and m.name]


def _person(subject: Mention) -> bool:
    return subject.sort in ("me", "name", "role", "pet", "pronoun")


# --- where one lives and works --------------------------------------------------------------------


def _lives(reading: Reading, subject: Mention) -> list[Fact]:
    if not _person(subject) or not _standing(reading):
        return []
    places = [part for preposition, part in reading.parts if preposition in ("in", "at")]
    found = next((names for names in (_named(reading, p, "name") for p in places) if names), [])
    facts = _facts(reading, subject, "lives_in", found[:1], 8_500)
    for mention in reading.names(reading.part("with")):
        facts += [Fact(*triple) for triple in mention.implied]
        if mention.sort == "name" or mention.implied:
            facts += _facts(reading, subject, "lives_with", [mention.name])
    return facts


def _moves(reading: Reading, subject: Mention) -> list[Fact]:
    """Moved to; a move that is still to come is a plan."""
    still = reading.clause.past and not reading.clause.denied and not reading.part("")
    if not _person(subject) or not still:
        return []
    found = _named(reading, reading.part("to"), "name")
    return [
        Fact(subject.name, "lives_in", one, False, "update", "from", 8_500) for one in found[:1]
    ]


def _stays(reading: Reading, subject: Mention) -> list[Fact]:
    if not _person(subject) or not reading.clause.progressive or reading.clause.denied:
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
    if not _person(subject) or not _standing(reading):
        return []
    facts: list[Fact] = []
    at = reading.part("at", "for")
    called = _called(at)
    names = [said(called, reading.text)] if called else _named(reading, at, "name")
    facts += _facts(reading, subject, "works_at", names[:1], 8_500)
    as_what = reading.part("as")
    if as_what and as_what[0].low in ("a", "an", "the"):
        facts += _facts(reading, subject, "job", [reading.whole(as_what)])
    facts += _facts(reading, subject, "colleague_of", _named(reading, reading.part("with")))
    on = [w for w in reading.part("on") if w.low != "project"]
    if (
        on
        and (on[0].low == "the" or is_name(on[0]))
        and (is_name(on[-1]) or len(on) < len(reading.part("on")))
    ):
        facts += _facts(reading, subject, "works_on", [reading.whole(on)])
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
        at = _named(reading, reading.part("at", "with"), "name")
        facts = [Fact(subject.name, "works_at", one, cue="ended", when="to") for one in at[:1]]
        as_what = reading.part("as")
        if as_what:
            facts.append(Fact(subject.name, "job", reading.whole(as_what), cue="ended", when="to"))
        return facts
    if reading.clause.main == "leave" and reading.part("for"):
        new = _named(reading, reading.part("for"), "name")
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


def _gets(reading: Reading, subject: Mention) -> list[Fact]:
    """Got a new job at Philips; got a puppy."""
    words = [w.low for w in reading.part("")]
    if words[-1:] == ["job"] and reading.clause.past and not reading.clause.denied:
        at = _named(reading, reading.part("at", "with"), "name")
        return [Fact(subject.name, "works_at", one, cue="update", when="from") for one in at[:1]]
    return _has(reading, subject)


def _reports(reading: Reading, subject: Mention) -> list[Fact]:
    if not _standing(reading):
        return []
    denied, cue, when = _change(reading)
    cue = cue or ("update" if "instead" in [w.low for w in reading.clause.rest] else "")
    names = _named(reading, reading.part("to"))
    return [
        Fact(subject.name, "reports_to", n, denied, cue, when, 8_500)
        for n in names[:1]
        if _person(subject)
    ]


def _goes(reading: Reading, subject: Mention) -> list[Fact]:
    """Goes to Escola da Doca: a school by its name."""
    if not reading.clause.present or not _person(subject):
        return []
    words = reading.part("to")
    schools = ("school", "university", "college", "academy", "escola", "universidade", "institute")
    if not any(word.low in schools for word in words) or not any(is_name(word) for word in words):
        return []
    return _facts(reading, subject, "studies_at", [reading.whole(words)])


def _studies(reading: Reading, subject: Mention) -> list[Fact]:
    if not _person(subject) or not _standing(reading):
        return []
    facts = _facts(reading, subject, "studies", reading.objects())
    at = reading.part("at")
    return facts + (
        _facts(reading, subject, "studies_at", [reading.whole(at)]) if any(map(is_name, at)) else []
    )


def _belongs(reading: Reading, subject: Mention) -> list[Fact]:
    if subject.sort not in ("name", "thing") or reading.clause.past or reading.clause.denied:
        return []
    return [Fact(owner, "owns", subject.name) for owner in _named(reading, reading.part("to"))]


def _comes(reading: Reading, subject: Mention) -> list[Fact]:
    if not reading.clause.present or not _person(subject):
        return []
    words = reading.part("from")
    called = _called(words)
    found = [said(called, reading.text)] if called else _named(reading, words, "name")
    return _facts(reading, subject, "from", found[:1])


# --- likes, habits, tools ------------------------------------------------------------------------

_DEFINITE = frozenset("the that this these those your his her their its my our all".split())


def _liking(predicate: str) -> Rule:
    def rule(reading: Reading, subject: Mention) -> list[Fact]:
        if (
            not _person(subject)
            or not (_standing(reading) or reading.ended)
            or reading.clause.progressive
        ):
            return []
        if len(reading.clause.verbs) > 2 or (reading.clause.past and not reading.ended):
            return []
        words = _compared(reading.part("")) if predicate == "prefers" else reading.part("")
        if not words or (words[0].low in _DEFINITE and not is_name(words[-1])):
            return []
        used = reading.ended or reading.clause.verbs[0] == "use"
        found = [_with_tail(reading, words)] if words[0].tag == "VBG" else reading.objects(words)
        if not any(is_noun(word) or word.tag == "VBG" for word in words):
            found = []
        facts = _facts(reading, subject, predicate, found)
        return [_ended(fact) for fact in facts] if used else facts

    return rule


def _ended(fact: Fact) -> Fact:
    return Fact(fact.subject, fact.predicate, fact.value, False, "ended", "to")


def _compared(words: Words) -> Words:
    """What is preferred, without what it is preferred to."""
    for place, word in enumerate(words):
        if word.low in ("to", "over", "than", "rather"):
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
    if not _person(subject) or not _standing(reading) or reading.clause.progressive:
        return []
    found = [w.text for w in reading.part("") if w.low in LANGUAGES]
    return _facts(reading, subject, "speaks", found, 8_500)


def _grew(reading: Reading, subject: Mention) -> list[Fact]:
    """Grew up speaking Portuguese."""
    rest = [word.low for word in reading.clause.rest]
    if not _person(subject) or "speaking" not in rest or reading.clause.denied:
        return []
    found = [w.text for w in reading.clause.rest if w.low in LANGUAGES]
    return [Fact(subject.name, "speaks", one) for one in found]


def _learns(reading: Reading, subject: Mention) -> list[Fact]:
    begun = len(reading.clause.verbs) > 1 and reading.clause.verbs[-2] in ("start", "begin")
    begun = begun or reading.clause.continuing
    if not _person(subject) or not (reading.clause.progressive or begun):
        return []
    denied, cue, when = _change(reading)
    del cue
    return [Fact(subject.name, "learning", one, denied, "", when) for one in reading.objects()]


def _plays(reading: Reading, subject: Mention) -> list[Fact]:
    habit = reading.clause.present or reading.clause.continuing
    if not _person(subject) or not habit or not _standing(reading):
        return []
    found = [
        one
        for one in reading.objects()
        if one.split()[-1] not in ("role", "part", "game", "trick", "card")
    ]
    return _facts(reading, subject, "plays", found)


def _drives(reading: Reading, subject: Mention) -> list[Fact]:
    if not _person(subject) or not reading.clause.present or not reading.part(""):
        return []
    words = reading.part("")
    thing = words[0].low in ("a", "an") and (is_name(words[-1]) or words[-1].lemma in OWNABLE)
    return _facts(reading, subject, "drives", reading.objects()) if thing else []


def _uses(reading: Reading, subject: Mention) -> list[Fact]:
    if subject.sort not in ("me", "name") or not reading.clause.present:
        return []
    return _facts(reading, subject, "uses", _named(reading, reading.part(""), "name"))


def _supports(reading: Reading, subject: Mention) -> list[Fact]:
    if not _person(subject) or not reading.clause.present:
        return []
    return _facts(reading, subject, "supports", _named(reading, reading.part(""), "name"))


def _reads(reading: Reading, subject: Mention) -> list[Fact]:
    if not _person(subject) or not reading.clause.progressive:
        return []
    rest, words = said(reading.clause.rest, reading.text), reading.part("")
    title = _TITLE.match(rest)
    if title:
        return _facts(reading, subject, "reading", [title[1]])
    return (
        _facts(reading, subject, "reading", [reading.whole(words)])
        if words and is_name(words[0])
        else []
    )


def _manages(reading: Reading, subject: Mention) -> list[Fact]:
    if not _person(subject) or not reading.clause.present:
        return []
    return _facts(reading, subject, "manages", _named(reading, reading.part("")))


def _avoids(reading: Reading, subject: Mention) -> list[Fact]:
    """Does not eat pork, cannot eat gluten: what somebody keeps from."""
    verbs = reading.clause.verbs
    if (
        not _person(subject)
        or not reading.clause.denied
        or verbs[0] not in ("do", "can", "ca", *verbs[-1:])
    ):
        return []
    if reading.clause.past or reading.clause.progressive or reading.ended:
        return []
    if verbs[-1] in ("smoke", "drink", "drive") and not reading.part(""):
        return [Fact(subject.name, "does", verbs[-1], True)]
    return [
        Fact(subject.name, "does", f"{verbs[-1]} {one}", True)
        for one in reading.objects()
        if one.islower()
    ]


# --- having, health ------------------------------------------------------------------------------


def _has(reading: Reading, subject: Mention) -> list[Fact]:
    """A cat named Luna, a daughter, Lia, a peanut allergy, diabetes, a Canon camera."""
    words = reading.part("")
    if not _person(subject) or not words or not _standing(reading) and not reading.clause.past:
        return []
    head = next((w for n, w in enumerate(words) if _heads(words, n)), None)
    if head is not None:
        return _kin_or_pet(reading, subject, words, head.lemma)
    if words[-1].low in ("allergy", "intolerance"):
        what = said([w for w in words[:-1] if w.low not in ("a", "an")], reading.text)
        return _facts(reading, subject, "allergic_to", [what]) if what else []
    if any(is_illness(w.low) for w in words):
        whole = reading.whole(words)
        return _facts(reading, subject, "diagnosed_with", [whole])
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
    if not names or len(names) != len(after) or reading.clause.denied:
        return []
    if rest and is_pet(noun) and reading.clause.progressive:
        return []
    facts: list[Fact] = []
    for name in [m.name for m in reading.names(words[words.index(names[0]) :]) if m.sort == "name"]:
        facts += [Fact(*one, confidence=8_500) for one in related(noun, name, subject.name)]
    return facts


def _thing(reading: Reading, subject: Mention, words: Words) -> list[Fact]:
    if reading.clause.past and reading.clause.verbs[-1] != "get" or len(words) < 2:
        return []
    kept = [w for w in words if w.low not in ("a", "an", "two", "three")]
    if is_event(kept[-1].lemma) if kept else True:
        return _event(reading, subject, words)
    if len(kept) == len(words) or kept[-1].lemma not in OWNABLE or reading.clause.verbs[0] == "get":
        return []
    return _facts(reading, subject, "owns", reading.objects(words))


def _event(reading: Reading, subject: Mention, words: Words) -> list[Fact]:
    """A dentist appointment tomorrow: only with its day."""
    if (
        not reading.dated
        or reading.clause.denied
        or reading.clause.past
        and reading.clause.tags[0] == "VBD"
    ):
        return []
    one = reading.whole(words)
    return [Fact(subject.name, "has_event", one, when="span")] if one else []


def _owns(reading: Reading, subject: Mention) -> list[Fact]:
    if not reading.clause.present or not _standing(reading):
        return []
    return _facts(reading, subject, "owns", reading.objects())


def _takes(reading: Reading, subject: Mention) -> list[Fact]:
    if not _person(subject):
        return []
    denied, cue, when = _change(reading)
    found = [w.text for w in reading.part("") if is_medicine(w.low)]
    if not found or (reading.clause.past and cue != "ended"):
        return []
    return [Fact(subject.name, "takes_medicine", one, denied, cue, when) for one in found]


def _prescribes(reading: Reading, subject: Mention) -> list[Fact]:
    """The doctor put me on losartan."""
    me = any(word.low == "me" for word in reading.clause.rest)
    found = [w.text for w in reading.clause.rest if is_medicine(w.low)]
    me = me or reading.clause.main == "prescribe" and subject.owner == reading.speaking.speaker
    if subject.sort == "me" or not me or reading.clause.denied:
        return []
    return [
        Fact(reading.speaking.speaker, "takes_medicine", w, cue="update", when="from")
        for w in found
    ]


def _suffers(reading: Reading, subject: Mention) -> list[Fact]:
    found = reading.objects(reading.part("from"))
    ill = [one for one in found if is_illness(one.split()[-1].lower())]
    return _facts(reading, subject, "diagnosed_with", ill) if reading.clause.present else []


def _promoted(reading: Reading, subject: Mention) -> list[Fact]:
    """I was promoted to team lead."""
    found = [] if reading.clause.denied else reading.objects(reading.part("to"))
    return [Fact(subject.name, "job", one, cue="update", when="from") for one in found[:1]]


def _diagnosed(reading: Reading, subject: Mention) -> list[Fact]:
    if not _person(subject) or reading.clause.denied:
        return []
    return [
        Fact(subject.name, "diagnosed_with", one, when="from")
        for one in reading.objects(reading.part("with"))
    ]


# --- couples -------------------------------------------------------------------------------------

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
    others = _named(
        reading, reading.part("with", "to") or (reading.part("") if last == "marry" else ())
    )
    names = [*names, *others]
    if len(names) != 2 or len(set(names)) != 2:
        return []
    me = reading.speaking.speaker
    one, other = sorted(names, key=lambda name: name != me)
    return [Fact(one, predicate, other, cue=cue, when="to" if cue else "from")]


RULES: Mapping[str, Rule] = {
    "live": _lives,
    "move": _moves,
    "relocate": _moves,
    "stay": _stays,
    "work": _works,
    "quit": _leaves,
    "leave": _leaves,
    "lose": _leaves,
    "stop": _leaves,
    "get": _gets,
    "adopt": _gets,
    "report": _reports,
    "go": _goes,
    "study": _studies,
    "attend": _goes,
    "belong": _belongs,
    "come": _comes,
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
    "read": _reads,
    "manage": _manages,
    "eat": _avoids,
    "drink": _avoids,
    "smoke": _avoids,
    "watch": _avoids,
    "have": _has,
    "own": _owns,
    "take": _takes,
    "put": _prescribes,
    "prescribe": _prescribes,
    "suffer": _suffers,
    "promote": _promoted,
    "diagnose": _diagnosed,
}
