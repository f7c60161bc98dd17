"""What follows a verb, taken apart: objects, and what stands behind each preposition."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from lila_app.memory.extraction.clauses import Clause
from lila_app.memory.extraction.lexicon import VAGUE
from lila_app.memory.extraction.nouns import Mention, Speaking, mentions
from lila_app.memory.extraction.words import Word, Words, is_name, is_noun, listed, said
from lila_app.memory.model import Cue

When = Literal["", "from", "to", "span"]
"""What a date beside it says: nothing, since when, until when, or the days of it."""


@dataclass(frozen=True, slots=True)
class Fact:
    """What a rule found, before it is checked against the vocabulary."""

    subject: str
    predicate: str
    value: str
    negated: bool = False
    cue: Cue = ""
    when: When = ""
    confidence: int = 8_000
    passing: bool = False


@dataclass(slots=True)
class Reading:
    """One clause while it is read: its subjects, what follows by preposition ("" the object)."""

    clause: Clause
    text: str
    speaking: Speaking
    subjects: list[Mention]
    parts: list[tuple[str, Words]]
    adverbs: frozenset[str]
    cue: Cue = ""
    dated: bool = False
    ahead: bool = False
    read: dict[tuple[int, int], list[Mention]] = field(
        default_factory=lambda: dict[tuple[int, int], list[Mention]]()
    )

    def part(self, *prepositions: str) -> Words:
        """The words behind the first of these prepositions; none where it is not there."""
        for preposition, words in self.parts:
            if preposition in prepositions:
                return words
        return ()

    def objects(self, words: Words | None = None) -> list[str]:
        """The values a list of words names, without articles; nothing vague among them."""
        return values(self.part("") if words is None else words, self.text)

    def names(self, words: Words) -> list[Mention]:
        """The people and places words name; read once, for naming somebody changes who "he" is."""
        if not words:
            return []
        key = (words[0].start, words[-1].end)
        if key not in self.read:
            self.read[key] = mentions(words, self.text, self.speaking)
        return self.read[key]

    def whole(self, words: Words) -> str:
        """Words as one value."""
        return value(words, self.text)

    @property
    def ended(self) -> bool:
        """No longer, not any more, used to."""
        used = self.clause.verbs[0] == "use" and len(self.clause.verbs) > 1
        later = "longer" in self.adverbs or (
            self.clause.denied and bool(self.adverbs & {"anymore", "more", "longer"})
        )
        return used or later


_LATE = listed(
    "now anymore too also again still really currently well very much always usually often just "
    "instead already here there actually originally basically these days mostly only lot together "
    "recently finally lately soon once either"
)
_CUT = listed("because although though when while which who that instead rather but so where")


def read(clause: Clause, text: str, speaking: Speaking) -> Reading:
    """A clause taken apart."""
    words, tail = _trimmed(clause.rest)
    subjects = mentions(clause.subject, text, speaking) if clause.subject else []
    adverbs = clause.adverbs | frozenset(
        w.low for w in clause.rest if w.low in _LATE or w.low in ("more", "longer")
    )
    del tail
    return Reading(clause, text, speaking, subjects, _parts(words), adverbs)


def _trimmed(words: Words) -> tuple[Words, Words]:
    """What counts: up to where something else begins ("not Porto", "because")."""
    for place, word in enumerate(words):
        after = words[place + 1 : place + 2]
        stops = word.low in _CUT and place > 0
        if word.low in (",", ";", ":", "-", "–", "—", "(") and after:
            stops = place > 0 and not _continues(words, place)
        if stops or word.tag in (".",):
            return words[:place], words[place:]
    return words, ()


def _continues(words: Words, place: int) -> bool:
    """Does a list or a name go on behind this comma?"""
    if words[place].low == "-":
        return words[place - 1].end == words[place].start
    if words[place].low != ",":
        return False
    word = words[place + 1]
    if word.tag == "CC":
        return place + 2 < len(words) and (
            is_noun(words[place + 2]) or words[place + 2].tag in ("JJ", "VBG", "DT")
        )
    return (
        word.tag in ("NN", "NNS", "NNP", "NNPS", "CD") and word.low not in _LATE and not word.dated
    )


def _parts(words: Words) -> list[tuple[str, Words]]:
    """The words by the preposition before them; those of an expression of time are left out."""
    found: list[tuple[str, list[Word]]] = [("", [])]
    for place, word in enumerate(words):
        if word.dated or _adverbial(words, place):
            continue
        if _leads(words, place):
            found.append((word.low, []))
        else:
            found[-1][1].append(word)
    return [(preposition, _bare(kept)) for preposition, kept in found if kept or not preposition]


def _adverbial(words: Words, place: int) -> bool:
    """Now, too, any more: says when or how much, and is no part of a value."""
    word, after = words[place], words[place + 1 : place + 2]
    if word.low == "any":
        return bool(after) and after[0].low in ("more", "longer")
    return word.tag in ("RB", "RBR", "JJR") and word.low in _LATE | {"more", "longer"}


def _leads(words: Words, place: int) -> bool:
    word = words[place]
    if word.low == "of" and place > 0:
        return False
    return word.tag in ("IN", "TO", "RP") and not word.entity


def _bare(words: list[Word]) -> Words:
    """Without marks and adverbs at its ends."""
    while words and (words[-1].tag in (",", ".", ":", "CC", "RB", "UH") or words[-1].low in _LATE):
        words.pop()
    while words and (words[0].tag in (",", "RB", "CC", "UH") or words[0].low in ("any", "really")):
        words.pop(0)
    return words


_ARTICLES = listed("a an the my our some any his her their its both such")


def value(words: Words, text: str) -> str:
    """Words as a value: without article; "" for what stands for nothing by itself."""
    start = 0
    while start < len(words) and words[start].low in _ARTICLES:
        start += 1
    kept = words[start:]
    if (
        not kept
        or kept[0].tag in ("WRB", "WP", "WDT")
        or kept[0].low in ("that", "this", "these", "those", "your", "every", "each", "no")
    ):
        return ""
    if all(word.low in VAGUE or word.tag in ("PRP", "WP", "WDT") for word in kept):
        return ""
    head = _head(kept)
    if head is not None and head.low in VAGUE and not any(is_name(word) for word in kept):
        return ""
    entities = {word.entity for word in kept}
    if len(entities) == 1 and kept[0].entity:
        return kept[0].entity
    return said(kept, text).strip(" '\"“”.,")


def _head(words: Words) -> Word | None:
    """The noun a phrase is about: the last before "of"."""
    head = None
    for word in words:
        if word.low == "of" and head is not None:
            break
        if is_noun(word) or word.tag == "PRP":
            head = word
    return head


def values(words: Words, text: str) -> list[str]:
    """The members of a list as values."""
    found: list[str] = []
    part: list[Word] = []
    if not any(word.low in ("and", "or", "&") for word in words):
        # "Dark green, handmade, 94 euros" goes on with something else.
        end = next((n for n, word in enumerate(words) if word.low == ","), len(words))
        words = words[:end]
    for word in [*words, None]:
        if word is None or word.low in ("and", "or", ",", "&"):
            one = value(part, text)
            if one:
                found.append(one)
            part = []
        else:
            part.append(word)
    return found


def places(parts: Sequence[Words], text: str) -> str:
    """The first of several that is a value."""
    return next((one for one in (value(part, text) for part in parts) if one), "")
