"""How recalled text stands in a prompt: quoted, so that nothing in it can pass for anything else.

A document, an imported chat or a note holds whatever somebody wrote there: lines that look like a
role, a heading of the prompt, another item, the end of a fence. A fence can be closed by what it
holds; a mark before every line cannot. So each line of recalled text carries one, and the only
lines without are those LILA writes herself. The bytes depend on the text alone.

The mark is Markdown's for quoted text, which models know. It costs about a token a line, 2 to 5 %
of a chunk of prose. Of published defences, marking the text all through held better than fencing
it (Hines et al. 2024, "spotlighting": successful attacks fell to under 3 %, with marks at both ends
alone to about half); neither is a guarantee, so nothing a model says is done as it stands either
(see `tool_loop`).
"""

from __future__ import annotations

import re

MARK = ">"

_INVISIBLE = re.compile(
    "["
    "\u200b\u2060-\u2064\ufeff\u180e"  # no width: they split words for search, not for a model
    "\u202a-\u202e\u2066-\u2069"  # turn the direction of what follows: it reads as it is not
    "\U000e0000-\U000e007f"  # tags, an invisible copy of ASCII
    "\U000e0100-\U000e01ef"  # selectors that no script in use needs, an invisible copy of bytes
    "]"
)
_BRACKETS = str.maketrans("[]", "()")
_STANDS_FOR = re.compile(r"(\[[A-Z]+[1-9][0-9]{0,8}[A-Z]{0,2}\])", re.ASCII)
"""What privacy puts in a value's place; no id of LILA's has this form, they begin small."""


def quoted(head: str, text: str) -> str:
    """`head`, which LILA wrote, and a recalled text under it, each further line marked.

    A head that ends a line stands above the text, else it opens the text's first line. Characters
    nobody can see are left out; blank lines keep their place.
    """
    lines = visible(text).splitlines()
    opening = [head.removesuffix("\n")] if head else []
    if lines and head and not head.endswith("\n"):
        opening = [head + lines.pop(0)]
    return "\n".join([*opening, *(f"{MARK} {line}" if line.strip() else MARK for line in lines)])


def continued(text: str) -> str:
    """A text that goes on after a head on its own first line: each further line marked."""
    return quoted(" ", text)[1:]


def visible(text: str) -> str:
    """The text without characters that are there for a machine and not for a reader."""
    return text if text.isascii() else _INVISIBLE.sub("", text)


def label(text: str) -> str:
    """A title or a heading fit to stand in the head of an item: one line, no brackets of its own.

    The head stands in brackets, by which a reply names its source. A placeholder keeps its own, or
    the value it stands for could not be put back.
    """
    line = " ".join(visible(text).split())
    pieces = _STANDS_FOR.split(line)
    pieces[::2] = [piece.translate(_BRACKETS) for piece in pieces[::2]]
    return "".join(pieces)
