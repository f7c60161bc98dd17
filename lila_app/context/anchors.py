"""What a text must not lose when it is shortened: names, numbers, open promises.

Deterministic and crude on purpose: the same measure chooses sentences, and says whether a summary,
whoever wrote it, kept what it stands for.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import pairwise

_WORD = re.compile(r"\w[\w'’]*")
_NUMBER = re.compile(r"\d+(?:[.,:/-]\d+)*")
_THOUSANDS = re.compile(r",(?=\d{3}(?!\d))")
_CAPITALISED = re.compile(r"\b[^\W\d_a-z][\w'’]*")
_APART = {
    code: letter.lower() if (letter := chr(code)).isalnum() or letter in "_'" else " "
    for code in range(128)
}
_UNSPACED_END = re.compile("(?<=[。！？])")

_COMMON = """
a about above actually after again all almost along already also although always am an and
another any anyway apart are aren around as ask at back be because been before behind being
below besides best better between both but by can cannot check come could day did do
does doing done down during each either else even every everything exactly except fair far few
fine first for from get give glad go going good got great had hard has have having he hello help
her here hers hey hi him his hm hmm how however i if in instead into is it its just keep last
later least less let like little long look looks lots made make makes many may maybe me mean
might mine more most much must my need neither never new next nice no nobody none nor not note
noted nothing now of off oh ok okay old on once one only open or other otherwise our out over
perfect perhaps please put quite rather really remember right said same say says see set shall
she should since so some someone something sometimes soon sorry still such sure take tell than
thank thanks that the their them then there these they thing think this those though through
till time to today together tomorrow tonight too try two under understood until up us use very
wait want was we welcome well were what when where whether which while who whose why will wish
with without wonderful would write yeah yes yesterday yet you your yours
three four five six seven eight nine ten eleven twelve
"""
COMMON = frozenset(_COMMON.split())
"""Words that often open a sentence, and so are no names for being capitals; they carry little."""

_COMMITTING = """
must promise promised promises agree agreed agrees decide decided decides
remind deadline due i'll we'll let's swear owe owes booked
"""
_COMMITTED = frozenset(_COMMITTING.split())
_PAIRS = """
i will, we will, i shall, we shall, will do, have to, has to, need to, needs to, going to, plan to,
plans to, want to, wants to, remember to, don't forget, make sure, let us, next step, to do,
by monday, by tuesday, by wednesday, by thursday, by friday, by saturday, by sunday, by tomorrow,
by tonight
"""
_COMMITTED_PAIRS = frozenset(tuple(pair.split()) for pair in _PAIRS.split(","))

LEAST_PROMISE = 2
"""Words a promise must carry; "I will" alone promises nothing that could be lost."""

PROMISE_SHARE = 1, 2
"""A promise is kept where one sentence says at least half of its words that carry something."""


@dataclass(frozen=True, slots=True)
class Anchors:
    """What a text holds on to; names and words are folded, a promise is the words it consists of.

    Names and numbers are sets of single words: "Dr. Vermeer" is two.
    """

    names: frozenset[str]
    numbers: frozenset[str]
    promises: tuple[frozenset[str], ...]

    def __len__(self) -> int:
        return len(self.names) + len(self.numbers) + len(self.promises)


@dataclass(frozen=True, slots=True)
class Bearing:
    """What one sentence bears: its anchors as `things`, and how many words carry something."""

    names: frozenset[str]
    numbers: frozenset[str]
    promise: frozenset[str] | None
    words: int
    asks: bool

    @property
    def things(self) -> frozenset[object]:
        """Names, numbers and the promise, each with its kind."""
        found: set[object] = {("name", name) for name in self.names}
        found |= {("number", number) for number in self.numbers}
        return frozenset(found | ({self.promise} if self.promise else set()))

    def weight(self, covered: Collection[object] = ()) -> int:
        """How much a sentence is worth keeping, beside what is `covered` already.

        The numbers were set on the odd half of tests/context/passages.py (2026-11-30): words that
        carry something did most (76 % of the answers kept in half of the tokens without them, 87 %
        with); lists of cue words and of soft words did nothing more and were left out.
        """
        if not covered:
            return self._weighed(len(self.names) + len(self.numbers), self.promise is not None)
        new = self.things.difference(covered)
        promise = self.promise is not None and self.promise in new
        return self._weighed(len(new) - promise, promise)

    def _weighed(self, things: int, promise: bool) -> int:
        weight = 3 * min(things, 6) + 2 * promise + min(self.words, 8)
        return weight - (4 if self.asks else 0)


def bearing(sentence: str) -> Bearing:
    """What a sentence bears."""
    words = _lowered(sentence)
    carried, asks = _carried(words), _asks(sentence)
    promised = not asks and len(carried) >= LEAST_PROMISE and _committed(words)
    # A digit is part of a word, and most sentences have none to look for.
    said = () if "".join(words).isalpha() else numbers(sentence)
    return Bearing(
        frozenset(_names(sentence, ())),
        frozenset(said),
        carried if promised else None,
        len(carried),
        asks,
    )


def anchors(text: str, known: Collection[str] = ()) -> Anchors:
    """What a text holds on to; `known` are single words in lower case that are names anyway."""
    names: set[str] = set()
    promises: dict[frozenset[str], None] = {}
    for line in text.split("\n"):
        for sentence in sentences(line):
            names |= _names(sentence, known)
            if promising(sentence) and len(carried := content(sentence)) >= LEAST_PROMISE:
                promises[carried] = None
    return Anchors(frozenset(names), frozenset(numbers(text)), tuple(promises))


def kept(source: Anchors, text: str) -> tuple[int, int]:
    """How many of a source's anchors a text still holds, and how many there are."""
    words = {_bare(word) for word in _lowered(text)}
    said = set(numbers(text))
    held = sum(name in words for name in source.names)
    held += sum(number in said for number in source.numbers)
    spoken = [content(one) for line in text.split("\n") for one in sentences(line)]
    held += sum(any(_says(one, promise) for one in spoken) for promise in source.promises)
    return held, len(source)


def numbers(text: str) -> list[str]:
    """Numbers as they stand, with what joins their digits; thousands without their comma."""
    found = _NUMBER.findall(text)
    return [_THOUSANDS.sub("", one) if "," in one else one for one in found]


def promising(sentence: str) -> bool:
    """Whether a sentence commits somebody to something; a question does not."""
    return not _asks(sentence) and _committed(_lowered(sentence))


def _committed(words: Sequence[str]) -> bool:
    return not (_COMMITTED.isdisjoint(words) and _COMMITTED_PAIRS.isdisjoint(pairwise(words)))


def _asks(sentence: str) -> bool:
    return sentence.rstrip().endswith("?")


def _lowered(sentence: str) -> list[str]:
    if not sentence.isascii():
        return _WORD.findall(sentence.lower().replace("’", "'"))
    # The same words, in a third of the time: what stands between them becomes a blank.
    words = sentence.translate(_APART).split()
    if "'" not in sentence:
        return words
    return [bare for word in words if (bare := word.lstrip("'"))]


def content(sentence: str) -> frozenset[str]:
    """The words of a sentence that carry something, cut to a stem of five letters."""
    return _carried(_lowered(sentence))


def _carried(words: Sequence[str]) -> frozenset[str]:
    # By sets first: a word in twenty is left to be cut (0.6 of the time).
    # Without `_bare`, which would be called for every word.
    carrying = set(words).difference(COMMON)
    return frozenset([(w if w[-2:] != "'s" else w[:-2])[:5] for w in carrying])


def _bare(word: str) -> str:
    return word[:-2] if word.endswith("'s") else word


def sentences(text: str) -> list[str]:
    """Sentences end at a line end, or at a mark that white space follows (or in CJK, anything)."""
    found: list[str] = []
    for line in text.split("\n"):
        # Word by word: three times as fast as one regular expression with a lookbehind.
        start, words = 0, line.split()
        for place, word in enumerate(words, 1):
            if word[-1] in ".!?" and not _abbreviation(word, words[place : place + 1]):
                found.append(" ".join(words[start:place]))
                start = place
        found.append(" ".join(words[start:]))
    if not text.isascii():
        found = [part.strip() for s in found for part in _UNSPACED_END.split(s)]
    return [s for s in found if s]


def _abbreviation(word: str, after: list[str]) -> bool:
    """Whether a full stop ends a title or an initial ("Dr.", "J.") and no sentence."""
    if not after or word[-1] != ".":
        return False
    bare = word[:-1].lstrip("(\"'“‘")
    return bare in _TITLES or (len(bare) == 1 and bare.isupper() and bare != "I")


_TITLES = frozenset(("Dr", "Mr", "Mrs", "Ms", "Prof", "St", "No", "vs", "e.g", "i.e", "approx"))


def _names(sentence: str, known: Collection[str]) -> set[str]:
    """Capitalised words that do not only open the sentence, and words that are known as names."""
    if known:
        return _capitals(sentence) | {
            bare for word in _lowered(sentence) if (bare := _bare(word)) in known
        }
    # Many sentences have no capital after the first letter, and looking for one is the dear part.
    if sentence.isascii() and sentence[1:].islower():
        opening = _CAPITALISED.match(sentence)
        return _capitals(opening.group()) if opening else set()
    return _capitals(sentence)


def _capitals(sentence: str) -> set[str]:
    found: set[str] = set()
    for match in _CAPITALISED.finditer(sentence):
        word = match.group().removesuffix("'s").removesuffix("’s")
        lower = word.lower()
        if len(word) == 1 or not word[0].isupper() or lower in COMMON:
            continue
        if _verb(lower) and _opens(sentence[: match.start()]):
            continue
        found.add(lower)
    return found


def _opens(before: str) -> bool:
    """Whether what stands before a word leaves it to open the sentence, or a quotation in it."""
    bare = before.rstrip()
    return not bare or bare[-1] in '“":'


def _verb(word: str) -> bool:
    """Whether an opening word looks like a form of a verb or an adverb rather than a name."""
    return word.endswith(("ing", "ly", "n't", "'ll", "'re", "'ve", "'m", "'d"))


def _says(spoken: frozenset[str], promise: frozenset[str]) -> bool:
    share, of = PROMISE_SHARE
    return len(spoken & promise) * of >= len(promise) * share
