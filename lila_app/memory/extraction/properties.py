"""Rules for what is somebody's: my name, my favourite colour, my shoe size, the boiler code."""

from __future__ import annotations

import re

from lila_app.memory.extraction.lexicon import ATTRIBUTES
from lila_app.memory.extraction.nouns import related
from lila_app.memory.extraction.reading import Fact, Reading
from lila_app.memory.extraction.words import Words, is_name, is_noun, said
from lila_app.memory.model import Cue


def own_property(reading: Reading) -> list[Fact] | None:
    """My name is, my favourite colour is, my shoe size is; None for another kind of subject."""
    words = [word for word in reading.clause.subject if word.tag != "RB"]
    owned = [i for i, w in enumerate(words) if w.low in _OWNING or w.tag == "POS"]
    several = any(word.tag == "CC" for word in words)
    if reading.clause.main != "be" or not words or reading.clause.past or several:
        return None
    start = owned[-1] + 1 if owned else 0
    kept = words[start:]
    if not kept or (not owned and words[0].low != "the"):
        return None
    owner = _owner(reading, words[:start]) if owned else ""
    if owned and not owner and kept[-1].low != "name":
        return []
    low = [word.low for word in kept if word.low not in ("the", "new", "full", "first", "real")]
    if low and low[0] in ("favourite", "favorite", "favourites", "fave"):
        return _favourite(reading, owner, low[1:])
    return _attribute(reading, owner, kept, low)


_OWNING = ("my", "our", "her", "his", "its")


def _owner(reading: Reading, words: Words) -> str:
    """Whose property it is: the speaker's, a name's, or that of somebody's sister."""
    if len(words) == 1:
        mine = words[0].low in ("my", "our")
        return reading.speaking.speaker if mine else reading.speaking.meant()
    found = reading.names(words[:-1]) if words[-1].tag == "POS" else []
    return found[0].name if len(found) == 1 else ""


def _favourite(reading: Reading, owner: str, what: list[str]) -> list[Fact]:
    chosen = _complement(reading)
    nouns = [word for word in reading.clause.subject if is_noun(word) or word.low in what[-1:]]
    name = "_".join([*what[:-1], nouns[-1].lemma if nouns and what else ""])
    if not what or not owner or not name or not chosen or len(what) > 3 or not name.isascii():
        return []
    name = name.replace("color", "colour").replace("'", "")
    fact = Fact(owner, f"favourite_{name}", chosen, reading.clause.denied, cue_of(reading))
    return [fact]


def _complement(reading: Reading) -> str:
    """What it is, as one value, with what hangs on it by a preposition."""
    words = [word for _, part in reading.parts[:1] for word in part]
    return reading.whole(words)


_NAMED = {
    "birthday": "birthday",
    "address": "address",
    "pronouns": "pronouns",
    "timezone": "timezone",
    "time zone": "timezone",
    "blood type": "blood_type",
    "blood group": "blood_type",
    "hobby": "hobby",
    "native language": "speaks",
    "first language": "speaks",
    "mother tongue": "speaks",
    "phone number": "phone",
    "number": "phone",
    "mobile number": "phone",
    "phone": "phone",
    "email": "email",
    "email address": "email",
    "mail address": "email",
}


def _attribute(reading: Reading, owner: str, kept: Words, low: list[str]) -> list[Fact] | None:
    what = " ".join(low)
    rest = reading.clause.rest
    stated = said(
        [w for w in rest if w.tag not in (".",) and w.low not in ("now", "on")], reading.text
    )
    stated = stated.strip(" '\"“”.")
    if what == "name":
        return _own_name(reading, owner, stated)
    digits = sum(one.isdigit() for one in stated)
    if what in _NAMED and owner and (_NAMED[what] != "phone" or digits > 4):
        return (
            [Fact(owner, _NAMED[what], stated, reading.clause.denied, cue_of(reading))]
            if stated
            else []
        )
    head = kept[-1]
    plain = all(
        w.tag in ("NN", "NNS", "JJ", "NNP", "CC", "IN", "DT") or w.low == "wi-fi" for w in kept
    )
    if head.lemma not in ATTRIBUTES or not plain or not stated:
        return [] if low and head.lemma in ATTRIBUTES else _place_of(kept, reading, stated)
    return _measured(reading, owner, low, stated)


def _place_of(kept: Words, reading: Reading, stated: str) -> list[Fact] | None:
    """The wifi password at the cabin: what it is of may stand behind it."""
    mark = next((i for i, word in enumerate(kept) if word.tag == "IN"), None)
    if mark is None or kept[mark - 1].lemma not in ATTRIBUTES:
        return None
    low = [w.low for w in kept[:mark] if w.low != "the"]
    at = [w for w in kept[mark + 1 :] if w.low not in ("the", "our", "my")]
    # Of a house with another wifi than the person's: "cabin", its wifi code.
    owner = said(at, reading.text) if len(low) > 1 and kept[mark].low in ("at", "in") else ""
    return _measured(reading, owner, low, stated)


def _measured(reading: Reading, owner: str, low: list[str], stated: str) -> list[Fact]:
    """A code, a size, a plate: only where the value looks like one."""
    telling = any(one.isdigit() for one in stated) or any(is_name(w) for w in reading.clause.rest)
    quoted = any(mark in said(reading.clause.rest, reading.text) for mark in '"“')
    if not (telling or quoted) or len(stated) > 60:
        return []
    stated = re.sub(r"^(?:a|an|the) ", "", stated)
    if not owner:
        if len(low) < 2:
            return []
        owner, low = " ".join(low[:-1]), low[-1:]
    fact = Fact(owner, f"attribute_{'_'.join(low)}", stated, reading.clause.denied, cue_of(reading))
    return [fact]


def _own_name(reading: Reading, owner: str, stated: str) -> list[Fact]:
    """My name is Nina, my sister's name is Rita, my dog's name is Rex."""
    names = [word for word in reading.part("") if is_name(word)]
    name = said(names, reading.text) if names else ""
    if not name or not stated.startswith(name):
        return []
    words = reading.clause.subject
    held = reading.names(words[:-2]) if len(words) > 2 and words[-2].tag == "POS" else []
    if held and held[0].noun and not held[0].implied:
        reading.speaking.rename(held[0].described, name)
        return triples_of(related(held[0].noun, name, held[0].owner), cue_of(reading))
    if words[0].low in ("her", "his", "its") and len(words) == 2:
        nameless, reading.speaking.nameless = reading.speaking.nameless, None
        if nameless is None or reading.speaking.named not in ([], [name]):
            return []
        return triples_of(related(nameless[0], name, nameless[1]))
    if not owner or owner != reading.speaking.speaker:
        return []
    return [Fact(owner, "name", name, reading.clause.denied, cue_of(reading), confidence=9_000)]


def cue_of(reading: Reading) -> Cue:
    """What "now", "new" and "no longer" say of what was before."""
    if reading.ended:
        return "ended"
    changed = bool(reading.adverbs & {"now", "instead"})
    new = any(word.low == "new" for word in reading.clause.subject)
    # "Actually, it is the blue one now" corrects nothing: it was another before.
    return "update" if changed else reading.cue or ("update" if new else "")


def triples_of(triples: tuple[tuple[str, str, str], ...], cue: Cue = "") -> list[Fact]:
    """Relations as facts."""
    return [Fact(s, p, v, cue=cue, confidence=8_500) for s, p, v in triples]
