"""Who a fact is about, and what makes two subjects or two values the same.

Two people may share a name. What tells them apart is how they are introduced: once "my brother Sam"
is known, "my colleague Sam" is another, with a key and a name of his own, "Sam (colleague)". A bare
"Sam" may then be either, and decides nothing about any of them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from lila_app.memory.model import ANYONE, ME, Candidate
from lila_app.storage import entities, facts, traces
from lila_app.storage.connection import Source
from lila_app.storage.relations import key

_ARTICLES = frozenset(("a", "an", "the", "my", "our", "his", "her", "their", "some"))
_TRAILING = frozenset(("any", "anymore", "more", "now", "again", "too", "either", "anyway"))
"""Words that end a statement and belong to no value."""
_POSSESSIVE = r"(?:my|our|his|her|their)\s+((?:[a-z][\w'’-]*\s+){1,2})"
_FROM = r"\s*,?\s+from\s+(?:the\s+|my\s+)?([A-Za-z][\w-]*(?:\s[A-Z][\w-]*)?)"
_PASSING = frozenset(("dear", "poor", "old", "little", "good", "best", "own", "other", "new"))
"""Words before a name that tell nobody apart."""


@dataclass(frozen=True, slots=True)
class Subject:
    """`name` is how it is shown, `key` its own key, `keys` all those it may be the same as.

    `one` are those it is known to be: its own and those of its other names, as after a merge.
    `sure` says that it is known which of those of the name is meant.
    """

    name: str
    key: str
    keys: tuple[str, ...]
    one: tuple[str, ...]
    sure: bool = True


def of(source: Source, candidate: Candidate, words: str) -> Subject:
    """Who a candidate is about, by the words it stands in and those of that name who are known."""
    name = " ".join(candidate.subject.split())
    if name == ME:
        return Subject(ME, ME, (ME,), (ME,))
    bare = key(name)
    apart = [one for one in facts.keys_named(source, bare) if one != bare]
    told = "" if " " in name else epithet(name, words)
    one = _names(source, name)
    if not told:
        return Subject(name, bare, (*one, *apart), one, sure=not apart)
    own = f"{bare} ({told})"
    if own in apart or _another(source, bare, name, told):
        return Subject(f"{name} ({told})", own, (own,), (own,))
    return Subject(name, bare, one, one)


def _names(source: Source, name: str) -> tuple[str, ...]:
    """The keys of all the names of who is called so, this one first."""
    entity = entities.find_entity(source, name)
    names = [name] if entity is None else [name, entity.name, *entity.aliases]
    return tuple(dict.fromkeys(key(one) for one in names))


def _another(source: Source, bare: str, name: str, told: str) -> bool:
    """Whether the one known by the bare name was introduced as somebody else."""
    known = {epithet(name, words) for words in facts.told_in(source, bare)} - {""}
    return bool(known) and told not in known


def value_key(value: str) -> str:
    """What makes two values the same: case, spacing, articles and signs do not count.

    "" for anyone, which a denial is about: whoever it was.
    """
    words = traces.words(value)
    if words == [ANYONE]:
        return ""
    kept = [word for word in words if word not in _ARTICLES] or words
    while len(kept) > 1 and kept[-1] in _TRAILING:
        kept.pop()
    return " ".join(kept) or key(value)


def epithet(name: str, words: str) -> str:
    """How somebody is told from others of the name, in the words they are named in; else ""."""
    escaped = re.escape(name)
    before = re.search(rf"\b{_POSSESSIVE}{escaped}\b", words, re.IGNORECASE)
    if before is not None:
        return _plain(before[1].split())
    after = re.search(rf"\b{escaped}{_FROM}\b", words)
    if after is not None:
        return _plain(["from", *after[1].split()])
    return ""


def _plain(words: Sequence[str]) -> str:
    return " ".join(key(word) for word in words if key(word) not in _PASSING)
