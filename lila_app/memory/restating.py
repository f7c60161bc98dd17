"""Memories given in LILA's own wording, which the list shows and people edit.

"The person reports to Alex." says of the person what "I report to Alex." says, and is read as that.
Where the rules read nothing in it, the vocabulary's own sentences are read backwards; and where a
memory is edited and only the value differs, what it said of whom stays.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from lila_app.memory.model import ME, Candidate
from lila_app.memory.predicates import PERSON, Predicate, Predicates
from lila_app.storage import facts, memories
from lila_app.storage.connection import Store
from lila_app.storage.facts import FactRow
from lila_app.storage.memories import MemoryRow

MOST_WORDS = 5
"""Words of a value read without a parser; in more of them there is likely something else too."""

_OWN = re.compile(r"\b(?:i|i'm|i've|i'd|i'll|my|me|mine|we|our|us)\b", re.IGNORECASE)
# "The person who called" and "the person in charge" are somebody else.
_SOMEBODY = r"(?!['’\w-])(?!\s+(?:who|whom|whose|that|which|i|we|he|she|you|in|at|on|with|from)\b)"
_PERSON = re.compile(
    rf"(?P<before>^|[.!?;:,]\s+|\b(?:and|but|that|because)\s+)?\bthe person{_SOMEBODY}"
    r"(?P<between>\s+(?:also|always|never|still|now|really|often|usually|just|only|no longer))?"
    r"(?:\s+(?P<verb>[a-z]+(?:n['’]t)?)\b)?",
    re.IGNORECASE,
)
_POSSESSED = re.compile(r"(?P<start>^|[.!?]\s+)?\bthe person['’]s\b", re.IGNORECASE)
_IRREGULAR = {
    "is": "am",
    "isn't": "am not",
    "has": "have",
    "hasn't": "haven't",
    "does": "do",
    "doesn't": "don't",
    "was": "was",
    "goes": "go",
}
_NO_VERB = frozenset(("always", "perhaps", "sometimes", "as", "this", "plus", "nowadays"))
_JOINED = re.compile(r",|;|\b(?:and|or|but|with|since|until|because|who|when|while)\b")


def first_person(text: str) -> str:
    """The words as the person would say them; as they are where they name nobody "the person"."""
    if _OWN.search(text):
        return text
    text = _POSSESSED.sub(lambda m: f"{m['start'] or ''}{_my(m['start'])}", text)
    return _PERSON.sub(_spoken, text)


def restated(
    store: Store, text: str, predicates: Predicates, before: Sequence[str] = ()
) -> list[Candidate]:
    """What a text, in which the rules read nothing, says in LILA's wording or by what it replaces.

    `before` are the ids of the memories it takes the place of.
    """
    held = facts.of_memories(store, before)
    for old in memories.by_ids(store, before):
        own = [one for one in held if one.memory_id == old.id]
        found = with_another_value(old, own, text, predicates)
        if found:
            return found
    return read_back(text, predicates, held)


def read_back(text: str, predicates: Predicates, before: Sequence[FactRow] = ()) -> list[Candidate]:
    """What a sentence in LILA's own wording says of the person: one fact, or none.

    Where two predicates are said alike, one that the memory had `before` decides.
    """
    words = " ".join(text.split()).rstrip(".")
    found: list[tuple[int, Predicate, str, bool]] = []
    for one in predicates.named.values():
        if one.name.endswith("*") or one.name in ("note", "wish", "did"):
            continue
        for template, negated in ((one.sentence, False), (one.denied, True)):
            value = _filling(template, words) if template else ""
            if value:
                found.append((len(template), one, value, negated))
    had = {fact.predicate for fact in before}
    best = max((length for length, *_ in found), default=0)
    chosen = [row for row in found if row[1].name in had] or [
        row for row in found if row[0] == best
    ]
    if len(chosen) != 1:
        return []
    _, predicate, value, negated = chosen[0]
    return [
        Candidate(
            *(ME, predicate.name, value),
            text=predicate.said(ME, value, negated=negated) + ".",
            kind=predicate.kind,
            is_entity=predicate.entity,
            many=predicate.many,
            start=0,
            end=len(text),
            negated=negated,
        )
    ]


def with_another_value(
    old: MemoryRow, held: Sequence[FactRow], text: str, predicates: Predicates
) -> list[Candidate]:
    """What the facts of a memory are with the words that stand where the value stood."""
    found: list[Candidate] = []
    for fact in held:
        predicate = predicates.get(fact.predicate)
        if predicate is None or fact.predicate == "note":
            continue
        value = _instead(old.text, fact.value, text)
        if value:
            found.append(
                Candidate(
                    *(fact.subject, fact.predicate, value),
                    text=predicate.said(fact.subject, value, negated=fact.negated) + ".",
                    kind=predicate.kind,
                    is_entity=predicate.entity,
                    many=fact.many,
                    start=0,
                    end=len(text),
                    negated=fact.negated,
                )
            )
    return found


def _spoken(match: re.Match[str]) -> str:
    before, verb = match["before"], match["verb"] or ""
    between = match["between"] or ""
    if before is None:  # whom something is done to
        rest = match[0][len("the person") :]
        return f"me{rest}"
    said = f" {_first(verb)}" if verb else ""
    return f"{before}I{between}{said}"


def _my(start: str | None) -> str:
    return "my" if start is None else "My"


def _first(verb: str) -> str:
    """The verb form that goes with I ("reports": "report")."""
    low = verb.lower().replace("’", "'")
    if low in _IRREGULAR:
        return _IRREGULAR[low]
    if not low.endswith("s") or low.endswith("ss") or len(low) < 4 or low in _NO_VERB:
        return verb
    if low.endswith("ies") and len(low) > 4:
        return verb[:-3] + "y"
    if re.search(r"(?:sh|ch|ss|x|zz)es$", low):
        return verb[:-2]
    return verb[:-1]


def _filling(template: str, words: str) -> str:
    """What stands for the value in a sentence about the person; "" where it is not this one."""
    if not template.startswith("{subject}"):
        return ""
    before, after = template.removeprefix("{subject}").split("{value}")
    before = f"{PERSON}{before}"
    options = [before, before.removesuffix("a ") + "an "] if before.endswith(" a ") else [before]
    for one in options:
        if words.lower().startswith(one) and words.endswith(after):
            return _plain(words[len(one) : len(words) - len(after)])
    return ""


def _instead(old: str, value: str, new: str) -> str:
    """The words of `new` where `value` stands in `old`, all others being the same."""
    old, new = (" ".join(text.split()).rstrip(".") for text in (old, new))
    at = old.lower().find(value.lower())
    if at < 0 or not value:
        return ""
    before, after = old[:at].lower(), old[at + len(value) :].lower()
    low = new.lower()
    if not (low.startswith(before) and low.endswith(after)) or len(new) <= len(before + after):
        return ""
    return _plain(new[len(before) : len(new) - len(after)])


def _plain(value: str) -> str:
    value = value.strip()
    if len(value.split()) > MOST_WORDS or _JOINED.search(value):
        return ""
    return value
