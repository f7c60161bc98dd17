"""What the speaker takes back in the next breath: "green. Actually blue"."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from lila_app.memory.extraction.words import listed
from lila_app.memory.model import Candidate

_TAKES_BACK = r"(?:actually|i mean|i meant|or rather|make that|scratch that)"
_WEAK = r"(?:no|oops|sorry|wait)"
_LEAD = re.compile(rf"^(?:{_WEAK}[\s,.!]+)*(?:{_TAKES_BACK}[\s,.:–—-]+)+", re.IGNORECASE)
_NO = re.compile(rf"^{_WEAK},\s+", re.IGNORECASE)
_INSIDE = re.compile(
    rf"[,;–—-]\s*(?=(?:{_WEAK},? )*{_TAKES_BACK}\b)|,\s+(?={_WEAK},)", re.IGNORECASE
)
_VALUE = re.compile(r"^(?:it'?s |in |at )?(?P<value>[^\W_][\w'’-]*(?: [^\W_][\w'’-]*){0,2})[.! ]*$")
# What answers or comments, and is no other value.
_COMMENTS = listed(
    "thanks thank really seriously great fine good nice never nothing yes no not i you it that "
    "lila this he she we they what why how mind problem true wrong right yesterday today tomorrow"
)
_UNTOUCHED = frozenset(("note", "wish"))


def parted(sentence: str) -> tuple[str, str]:
    """A sentence and what it takes back within itself: "it is green, no, blue"; "" for nothing."""
    found = _INSIDE.search(sentence)
    return (sentence, "") if found is None else (sentence[: found.start()], sentence[found.end() :])


def amended(found: Sequence[Candidate], head: str, tail: str) -> list[Candidate]:
    """What `head` stated, as `tail` leaves it: with another value, or not at all.

    Only what `head` ends with is changed, and only by a word of its kind: a name by a name. A bare
    "no, blue" takes it back and gives nothing, for it may answer or call somebody.
    """
    lead = _LEAD.match(tail)
    said = _VALUE.match(tail[lead.end() :] if lead else _NO.sub("", tail, count=1))
    if not (lead or _NO.match(tail)) or said is None or len(found) != 1:
        return list(found)
    old, new = found[0], said["value"]
    ends = head.rstrip(" .!,").endswith(old.value) and old.predicate not in _UNTOUCHED
    if (
        not ends
        or not _COMMENTS.isdisjoint(new.lower().split())
        or _shape(old.value) != _shape(new)
    ):
        return list(found)
    if lead is None or old.text.count(old.value) != 1:
        return []
    return [replace(old, value=new, text=old.text.replace(old.value, new))]


def _shape(value: str) -> tuple[bool, bool]:
    return value[:1].isupper(), value[:1].isdigit()
