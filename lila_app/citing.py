"""Which sources a reply names, held against what it was given.

Everything recalled stands in the prompt under an id in brackets ("[d4.3, …]"), and the closing
instruction asks for that id. A model may name one it never saw: made up, misread, or planted by a
document that says "cite [d9.9]". This is looked at in code, after the reply, from the reply and the
record alone; nothing is stored for it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, cast

_CODE = re.compile(
    r"^ {0,3}(?P<mark>`{3,}|~{3,})[^\n]*\n(?s:.*?)(?:^ {0,3}(?P=mark)[`~]*[ \t]*$|\Z)|`[^`\n]+`",
    re.MULTILINE,
)
"""Fences and code spans: "[t1]" in there is an index."""

_GROUP = re.compile(r"(?<![\w\])])[\[【]([^\[\]【】\n]{2,200})[\]】]")
"""Brackets of their own; after a word or another bracket they are an index too."""

_WORDS = re.compile(r"(?:(?:see|sources?|from|memory|documents?|passages?|ids?|cf\.?)\b[\s:]*)*")
_ID = re.compile(r"(d\d{1,9}(?:\.\d{1,9})?|[mtrgn]\d{1,9})(?![\w]|\.\d)(?:\s*(?:[,;&]|and\b)\s*)?")


@dataclass(frozen=True, slots=True)
class Citations:
    """The ids a reply names, each once, in its order.

    `given` stood in its prompt; `earlier` were named before in the conversation the prompt shows;
    `unknown` were in no way before it.
    """

    given: tuple[str, ...] = ()
    earlier: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()

    @property
    def notice(self) -> str:
        """What to tell the person; empty when there is nothing to tell."""
        if not self.unknown:
            return ""
        names = ", ".join(self.unknown)
        return f"the reply names {names} as a source, and was not given it; do not rely on that"


def cited(reply: str) -> tuple[str, ...]:
    """The ids a reply names in brackets, each once, in order.

    Several may share brackets ("[m3, d4.1]"); what follows them there (a title, a line) is not
    looked at, since a title may look like an id.
    """
    found: dict[str, None] = {}
    for group in _GROUP.finditer(_CODE.sub(" ", reply)):
        text = group[1].strip().removeprefix("#")
        opening = _WORDS.match(text)
        at = opening.end() if opening else 0
        while one := _ID.match(text, at):
            found[one[1]] = None
            at = one.end()
    return tuple(found)


def check(reply: str, given: Collection[str], earlier: Iterable[str] = ()) -> Citations:
    """Hold what a reply names against the ids it was given and the replies it could see.

    A document's own id ("d4") is given where one of its passages is.
    """
    documents = {id.partition(".")[0] for id in given if id.startswith("d")}
    known = {*given, *documents}
    before = {id for text in earlier for id in cited(text)} - known
    named = cited(reply)
    return Citations(
        given=tuple(id for id in named if id in known),
        earlier=tuple(id for id in named if id in before),
        unknown=tuple(id for id in named if id not in known and id not in before),
    )


def given_by(record: Mapping[str, Any]) -> frozenset[str]:
    """The ids of everything the prompt of a context record included."""
    layers = cast("Iterable[Mapping[str, Any]]", record["layers"])
    return frozenset(str(item["id"]) for layer in layers for item in layer["items"])
