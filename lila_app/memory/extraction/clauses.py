"""Clauses of a sentence: who, which verbs, and what follows them.

Read from the tags, left to right. The parser's tree alone is not enough on how people chat (it
takes "I like tea and dislike coffee" for one object of two nouns); where it says that a clause
depends on another, that is believed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from lila_app.memory.extraction.lexicon import ATTRIBUTES
from lila_app.memory.extraction.words import Word, Words, is_name, listed

_FINITE = ("VBZ", "VBP", "VBD", "MD")
_VERBS = (*_FINITE, "VB", "VBN", "VBG")
_NOT = frozenset(("not", "n't", "never", "nt"))
# Verbs that take another one into their group: "started learning", "stopped taking".
_LEADING = listed("be have get go start begin stop quit finish give keep do use")
# Where the lemmatizer is wrong ("hat", "getting").
_LEMMAS = {
    "getting": "get",
    "hates": "hate",
    "hated": "hate",
    "lives": "live",
    "left": "leave",
    **dict.fromkeys(("hope", "hopes", "hoped", "hoping"), "hope"),
}
_PARTICLES = ("de", "da", "do", "del", "van", "von")
_DISLIKED = listed("dislike like hate enjoy prefer")
_AFTER_I = _DISLIKED | listed("love live work play speak own")
_STARTS = listed("because although though while when so but whereas until")


@dataclass(frozen=True, slots=True)
class Clause:
    """`subject` and `rest` as words; `verbs` the lemmas of the group, the main one last.

    `tags` are the verbs' tags, `denied` says that the group is negated, `shared` that the subject
    is the one of the clause before. `depends` is the parser's word for what the clause is,
    `begin` its offset.
    """

    subject: Words
    verbs: tuple[str, ...]
    tags: tuple[str, ...]
    denied: bool
    rest: Words
    shared: bool
    depends: str
    adverbs: frozenset[str]
    begin: int

    @property
    def main(self) -> str:
        """The lemma of the last verb."""
        return self.verbs[-1]

    @property
    def progressive(self) -> bool:
        """Is it "am doing"?"""
        return "be" in self.verbs[:-1] and "VBG" in self.tags

    @property
    def continuing(self) -> bool:
        """Is it "have been doing"?"""
        return self.verbs[:2] == ("have", "be") and self.tags[-1] == "VBG"

    @property
    def past(self) -> bool:
        """Is it over: "did", "have done"?"""
        return self.tags[0] == "VBD" or (self.verbs[0] == "have" and self.tags[-1] == "VBN")

    @property
    def present(self) -> bool:
        """Is it "do" or "does", as a habit?"""
        return (
            self.tags[0] in ("VBP", "VBZ", "VB") and len(self.verbs) <= 2 and not self.progressive
        )


@dataclass(slots=True)
class _Group:
    start: int
    end: int
    verbs: list[int]
    denied: bool


def clauses(words: Words) -> list[Clause]:
    """The clauses of one sentence, in order."""
    words = _mended(words)
    groups = _groups(words)
    if not groups:
        words = _finite(words)
        groups = _groups(words)
    found: list[Clause] = []
    subject: Words = ()
    starts = [_subject(words, group, groups[:n]) for n, group in enumerate(groups)]
    for n, group in enumerate(groups):
        begin, own, adverbs = starts[n]
        end = _boundary(words, starts[n + 1][0], group.end) if n + 1 < len(groups) else len(words)
        shared = not own
        subject = own or (subject if _joined(words, begin) else ())
        main = words[group.verbs[-1]]
        found.append(
            Clause(
                subject,
                tuple(words[i].lemma for i in group.verbs),
                tuple(words[i].tag for i in group.verbs),
                group.denied or "never" in adverbs,
                words[group.end : end],
                shared,
                main.dep,
                adverbs,
                words[min(begin, group.start)].start,
            )
        )
    return found


def _mended(words: Words) -> Words:
    """Tags the tagger gets wrong in ways that can be told from the words beside."""
    return [_mended_word(words, place) for place in range(len(words))]


def _finite(words: Words) -> Words:
    """With a participle behind a noun as the verb: "my doctor prescribed it" has no other."""
    for place, word in enumerate(words):
        if word.tag == "VBN" and place and words[place - 1].tag in ("NN", "NNS", "NNP", "PRP"):
            return [*words[:place], replace(word, tag="VBD"), *words[place + 1 :]]
    return words


def _mended_word(words: Words, place: int) -> Word:
    word = words[place]
    before = words[place - 1] if place else None
    after = words[place + 1] if place + 1 < len(words) else None
    if before and after and (word.low in _PARTICLES or word.tag == "POS"):
        return _mended_joint(word, before, after, place)
    if word.low in _LEMMAS and word.tag.startswith("V"):
        return replace(word, lemma=_LEMMAS[word.low])
    if before and _not_a_verb(word, before, words[place - 2] if place > 1 else None):
        return replace(word, tag="NN", lemma=word.low)
    if word.tag == "VB" and place > 2 and words[place - 2].low in ("just", "only", "allergic"):
        return replace(word, tag="NN", lemma=word.low)
    return _mended_verb(word, before, after)


def _not_a_verb(word: Word, before: Word, further: Word | None) -> bool:
    """The second of two infinitives side by side ("eat gluten"); "my hobby is sailing"."""
    if word.tag == "VB" and before.tag == "VB":
        return before.lemma not in ("help", "let", "go", "come")
    hobby = further is not None and further.low in ("hobby", "pastime", "passion", "job")
    return word.tag == "VBG" and hobby and before.low in ("is", "'s", "was")


def _mended_joint(word: Word, before: Word, after: Word, place: int) -> Word:
    """Rua do Sal, Escola da Doca; "my wife's an architect" has a verb, "my wife's car" has none."""
    if word.tag == "POS":
        named = before.lemma == "name" or before.tag == "PRP"
        is_verb = after.tag in ("DT", "VBG", "VBN", "CD", "IN", "PRP$") or after.low == "not"
        return replace(word, tag="VBZ", lemma="be") if named or is_verb else word
    between = before.text[:1].isupper() and after.text[:1].isupper() and place > 1
    return replace(word, tag="NNP") if between else word


def _mended_verb(word: Word, before: Word | None, after: Word | None) -> Word:
    if word.low in ("'s", "'m", "'re", "is", "am", "are", "was", "were") and word.tag != "POS":
        got = word.low == "'s" and after is not None and after.tag == "VBN" and after.low == "got"
        return replace(
            word, lemma="have" if got else "be", tag="VBD" if word.low[0] == "w" else "VBZ"
        )
    if word.low in ("'ve", "have", "has") and word.tag.startswith("V"):
        return replace(word, lemma="have")
    likely = _DISLIKED if before and before.tag == "CC" else _AFTER_I
    if before is not None and word.low in likely and not word.tag.startswith("V"):
        joined = before.tag in ("CC", "PRP") or before.low in ("really", "also", "n't", "do")
        if joined and word.tag != "IN" and (after is not None and after.low not in ("of", ",")):
            return replace(word, tag="VBP", lemma=word.low)
    return word


def _groups(words: Words) -> list[_Group]:
    found: list[_Group] = []
    place = 0
    while place < len(words):
        if words[place].tag in _FINITE or (words[place].tag == "VB" and not words[place].dated):
            group = _group(words, place)
            found.append(group)
            place = group.end
        else:
            place += 1
    return found


def _group(words: Words, start: int) -> _Group:
    """The verbs that belong together from here on, with what denies them."""
    group = _Group(start, start + 1, [start], False)
    place = start + 1
    while place < len(words):
        word = words[place]
        if word.low in _NOT:
            group.denied, group.end = True, place + 1
        elif word.tag == "TO" and _next_verb(words, place + 1) is not None:
            pass
        elif word.tag in _VERBS and _goes_on(words, group, place):
            group.verbs.append(place)
            group.end = place + 1
        elif not (word.tag in ("RB", "RBR") and _next_verb(words, place + 1) is not None):
            break
        place += 1
    return group


def _goes_on(words: Words, group: _Group, place: int) -> bool:
    word, last = words[place], words[group.verbs[-1]]
    if word.dated or is_name(word):
        return False
    if word.tag in ("VB", "MD") or words[place - 1].tag == "TO":
        return True
    return last.lemma in _LEADING or last.tag == "MD"


def _next_verb(words: Words, place: int) -> int | None:
    """The verb that follows, over adverbs and "to"."""
    while place < len(words) and words[place].tag in ("RB", "RBR", "TO"):
        place += 1
    return place if place < len(words) and words[place].tag in _VERBS else None


_INSIDE = ("NN", "NNS", "NNP", "NNPS", "JJ", "JJR", "JJS", "CD", "POS", "DT", "PRP$", "VBG", "VBN")


def _subject(
    words: Words, group: _Group, before: Sequence[_Group]
) -> tuple[int, Words, frozenset[str]]:
    """Where the clause begins, the words of its own subject, and the adverbs before the verb."""
    floor = before[-1].end if before else 0
    place = group.start - 1
    adverbs: set[str] = set()
    while place >= floor and (words[place].tag in ("RB", "RBR") or words[place].low == "no"):
        adverbs.add(words[place].low)
        place -= 1
    if place >= floor and words[place].tag in ("WP", "WDT"):
        place -= 1
        if place >= floor and words[place].low == ",":
            place -= 1
        head = _phrase_start(words, place, floor, lists=False)
        return place + 1, words[head : place + 1], frozenset(adverbs)
    if place > floor and words[place].low == ",":
        return _apposed(words, place, floor, frozenset(adverbs))
    start = _phrase_start(words, place, floor, lists=not before)
    own = () if _hangs(words, start, floor) else words[start : place + 1]
    return start, own, frozenset(adverbs)


_JOINTS = listed("of in from with at on by near behind")


def _hangs(words: Words, start: int, floor: int) -> bool:
    """Does it only say whose or where the subject is: the son of my boss, nobody in my family?"""
    if start - 2 < floor or words[start - 1].low not in _JOINTS:
        return False
    head = words[start - 2]
    return head.tag in ("NN", "NNS", "CD", "DT", "JJ")


def _apposed(
    words: Words, place: int, floor: int, adverbs: frozenset[str]
) -> tuple[int, Words, frozenset[str]]:
    """My sister, Joana, lives; Joana, my sister, lives: both as "my sister Joana"."""
    head = _phrase_start(words, place - 1, floor, lists=False)
    inner = words[head:place]
    if not inner or head - 1 <= floor or words[head - 1].low != ",":
        return place + 1, (), adverbs
    start = _phrase_start(words, head - 2, floor, lists=False)
    outer = words[start : head - 1]
    named = [all(is_name(word) or word.tag == "NNP" for word in part) for part in (outer, inner)]
    if not outer or named[0] == named[1]:
        return place + 1, (), adverbs
    return start, [*inner, *outer] if named[0] else [*outer, *inner], adverbs


def _phrase_start(words: Words, place: int, floor: int, *, lists: bool) -> int:
    """Where the noun phrase that ends at `place` begins; `place + 1` where there is none."""
    end = place
    while place >= floor:
        word = words[place]
        inside = word.tag in _INSIDE and not word.dated
        if word.tag == "PRP" and (place == end or _coordinates(words, place + 1)):
            inside = True
        if word.tag == "IN":
            inside = place < end and (word.low == "of" or _about(words, place, floor))
        if word.tag == "CC" or word.low == ",":
            inside = lists and place < end and _coordinates(words, place)
        if not inside:
            break
        if word.tag == "PRP" and not (place > floor and _coordinates(words, place - 1)):
            return place
        place -= 1
    return place + 1


def _about(words: Words, place: int, floor: int) -> bool:
    """My appointment with Dr Valente, the flight to Oslo: what stands behind belongs to it."""
    apt = words[place].low in ("with", "to", "for", "at") and words[place].dep != "mark"
    noun = place > floor and words[place - 1].tag in ("NN", "NNS") and not words[place - 1].dated
    after = words[place + 1]
    named = is_name(after) or (words[place].low == "with" and after.low in ("the", "my", "our"))
    held = words[place - 1].lemma in ATTRIBUTES and after.low in ("the", "my", "our")
    return (apt and noun and named and floor == 0) or (noun and held and floor == 0)


def _coordinates(words: Words, place: int) -> bool:
    """Does the word here join two nouns?"""
    if not 0 < place < len(words) - 1:
        return False
    if words[place].low == ",":
        # "my sister, Joana," and "Ana, Rui and I"; not "on Friday, my parents".
        return is_name(words[place + 1]) and words[place - 1].tag in ("NN", "NNP")
    joins = words[place].tag == "CC" and words[place].low in ("and", "&")
    return (
        joins and words[place - 1].tag in ("NN", "NNS", "NNP", "PRP") and not words[place - 1].dated
    )


def _joined(words: Words, begin: int) -> bool:
    """Does the clause without a subject go on with the one before it?"""
    return begin > 0 and (words[begin - 1].tag == "CC" or words[begin - 1].low == ",")


def _boundary(words: Words, start: int, floor: int) -> int:
    """Where a clause ends: before the words that lead into the next."""
    place = start
    while place > floor:
        word = words[place - 1]
        leads = (
            word.low in _STARTS
            or word.tag in ("CC", "WP", "WDT", "WRB")
            or word.low in (",", ":", ";")
        )
        if not (
            leads or (word.tag == "IN" and word.low in ("that", "as", "since", "after", "before"))
        ):
            break
        place -= 1
    return place
