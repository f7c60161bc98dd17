"""Sentences that say that something changed, where no fact says what.

"Correction: the rehearsal moved to six" names no slot that a rule knows. Such a sentence is held
against earlier ones of the same speaker that share its subject; both are then marked as
contradicting, with their dates. Neither is retired: the cue says that something changed, and the
shared words only say about what.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from lila_app.memory.promotion import Revising
from lila_app.storage import traces
from lila_app.storage.search import STOP_WORDS

_SENTENCE = re.compile(r"[^.!?\n]+(?:[.!?]+(?=\s|$)|\.(?=\S)[^.!?\n]*)*[.!?]*")
_UNSURE = re.compile(
    r"^\W*(?:if|what if|maybe|perhaps|suppose|imagine|would|could|should|let's say|in case)\b"
    r"|\b(?:would|might|could|joking|kidding|as if|i wish)\b|[\"“”«»]|\?\s*$",
    re.IGNORECASE,
)
_NO_SUBJECT = """
today tomorrow yesterday morning afternoon evening night noon week weekend month year day days
monday tuesday wednesday thursday friday saturday sunday mon tue wed thu fri sat sun january
february march april may june july august september october november december am pm clock time
next last current currently still again already back just also really
sorry oops well actually okay ok hey hi no yes wait please thanks
"""
_TIMES = frozenset(_NO_SUBJECT.split())
_ENDINGS = ("ings", "ing", "edly", "ed", "es", "s", "ly")


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of a text, by offsets."""

    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class Match:
    """An earlier sentence that a new one seems to change, and the words they share."""

    key: str
    sentence: Sentence
    shared: tuple[str, ...]


def sentences(text: str) -> list[Sentence]:
    """The sentences of a text."""
    found: list[Sentence] = []
    for match in _SENTENCE.finditer(text):
        words = match[0].strip()
        if words:
            start = match.start() + match[0].index(words)
            found.append(Sentence(start, start + len(words), words))
    return found


def changing(text: str, rules: Revising) -> list[Sentence]:
    """The sentences that say outright that something is otherwise now."""
    cues = _pattern(rules.cues)
    return [
        one for one in sentences(text) if cues.search(one.text) and not _UNSURE.search(one.text)
    ]


def subject(text: str, rules: Revising) -> dict[str, str]:
    """The words a sentence is about, stemmed, with how they stand there: no cue, number or time."""
    plain = _pattern(rules.cues).sub(" ", text)
    found: dict[str, str] = {}
    for word in traces.words(plain):
        told = len(word) > 1 and not word.isdecimal() and not re.fullmatch(r"\d+\w{0,2}", word)
        if told and word not in STOP_WORDS and word not in _TIMES:
            found.setdefault(rules.related.get(word) or _known(_stem(word), rules), word)
    return found


def other_values(text: str, rules: Revising) -> dict[str, tuple[str, ...]]:
    """By predicate, the exclusive values a sentence names."""
    said = f" {traces.folded(text)} "
    found = {
        predicate: tuple(one for one in values if f" {traces.folded(one)} " in said)
        for predicate, values in rules.values.items()
    }
    return {predicate: values for predicate, values in found.items() if values}


def match(new: Sentence, earlier: Mapping[str, str], rules: Revising) -> Match | None:
    """The earlier sentence, among texts by id (the newest last), that a new one seems to change.

    What changed is named before the word that says so ("the rehearsal was moved to"), so one of the
    shared words has to stand there; where that word opens the sentence, fewer need be shared.
    """
    about, before = subject(new.text, rules), _before(new.text, rules)
    percent = rules.shared_percent if before else rules.leading_percent
    best: tuple[int, int, Match] | None = None
    for place, (key, text) in enumerate(earlier.items()):
        for one in sentences(text):
            if _UNSURE.search(one.text) or _agree(new.text, one.text, rules):
                continue
            theirs = subject(one.text, rules)
            shared = [stem for stem in about if stem in theirs]
            least = min(len(about), len(theirs))
            if len(shared) < rules.shared_words or 100 * len(shared) < percent * least:
                continue
            if before and before.isdisjoint(shared):
                continue
            found = (len(shared), place, Match(key, one, tuple(about[stem] for stem in shared)))
            best = found if best is None or found[:2] > best[:2] else best
    return None if best is None else best[2]


def _agree(new: str, old: str, rules: Revising) -> bool:
    """Whether both say the same, or that the same thing changed to the same."""
    said = traces.folded(old)
    if traces.folded(new) == said:
        return True
    cue = _pattern(rules.cues).search(new)
    after = traces.words(new[cue.end() :])[:1] if cue is not None and cue.start() else []
    return bool(after) and f" {traces.folded(cue[0])} {after[0]} " in f" {said} " if cue else False


def _before(text: str, rules: Revising) -> frozenset[str]:
    """What a sentence is about before its cue; empty where the cue opens it."""
    cue = _pattern(rules.cues).search(text)
    return frozenset(subject(text[: cue.start()], rules)) if cue is not None else frozenset()


@lru_cache(maxsize=8)
def _pattern(cues: Sequence[str]) -> re.Pattern[str]:
    """Any of the cues as whole words; one with a colon only where a sentence begins with it."""
    parts = [
        rf"^\W*{re.escape(cue[:-1])}\s*[:,\-–—]" if cue.endswith(":") else rf"\b{re.escape(cue)}\b"
        for cue in sorted(cues, key=lambda cue: (-len(cue), cue))
    ]
    return re.compile("|".join(parts) or r"(?!)", re.IGNORECASE)


def _known(stem: str, rules: Revising) -> str:
    return rules.related.get(stem, stem)


def _stem(word: str) -> str:
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word.removesuffix(ending)
    return word
