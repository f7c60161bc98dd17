"""Spellings of a chat that mislead the tagger, mended so that every offset stays what it was."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from lila_app.memory.extraction.words import Word, Words, is_name

_LEAST_LETTERS = 5
_LITERAL = re.compile(r"[\d\"“”„«»]")
_PRONOUN = re.compile(r"\bi\b")


def unshouted(sentence: str) -> str:
    """A sentence in capitals in lower case, for the tagger takes a word in capitals for a name.

    Nothing is changed where a number or a quotation is in it: a code or a password may be.
    """
    letters = [one for one in sentence if one.isalpha()]
    shouted = len(letters) >= _LEAST_LETTERS and all(one.isupper() for one in letters)
    if not shouted or " " not in sentence.strip() or _LITERAL.search(sentence):
        return sentence
    lowered = "".join(one.lower() if len(one.lower()) == 1 else one for one in sentence)
    return _PRONOUN.sub("I", lowered)


def chatted(words: Sequence[Word]) -> list[Word]:
    """ "Im vegan" and "allergic 2 gluten" as "I'm vegan" and "allergic to gluten".

    Not before a capital: "im Auftrag" is German.
    """
    found = list(words)
    for place, word in enumerate(words):
        before = words[place - 1] if place else None
        after = words[place + 1] if place + 1 < len(words) else None
        if before is None or after is None:
            continue
        joined = before.low == "i" and before.end == word.start
        if word.low == "m" and joined and not after.text[:1].isupper():
            found[place] = replace(word, low="'m", lemma="be", tag="VBP")
        elif word.low == "2" and before.low in ("allergic", "married", "engaged"):
            found[place] = replace(word, low="to", lemma="to", tag="IN")
    return found


_BEGINS = {"lives": "live", "works": "work"}


def opened(words: Sequence[Word]) -> list[Word]:
    """With the verb in "Maximilian lives in Bonn", which the tagger reads as "many lives".

    Only behind a first word no list of English words has: "past lives" stay what they are.
    """
    found = list(words)
    if len(found) < 3 or not found[0].unheard or not found[0].text[:1].isupper():
        return found
    verb, after = found[1], found[2]
    if verb.low in _BEGINS and verb.tag == "NNS" and after.low in ("in", "at"):
        found[0] = replace(found[0], tag="NNP")
        found[1] = replace(verb, tag="VBZ", lemma=_BEGINS[verb.low])
    return found


def aged(words: Words) -> tuple[list[Word], dict[str, str]]:
    """The words without the ages in "Leo (4) and Nina (7)", and each name's age."""
    kept: list[Word] = []
    ages: dict[str, str] = {}
    place = 0
    while place < len(words):
        marks = [word.text for word in words[place : place + 3]]
        held = len(marks) == 3 and marks[0] == "(" and marks[2] == ")" and marks[1].isdecimal()
        if held and kept and is_name(kept[-1]) and 0 < int(marks[1]) < 125:
            ages[kept[-1].text] = str(int(marks[1]))
            place += 3
            continue
        kept.append(words[place])
        place += 1
    return kept, ages
