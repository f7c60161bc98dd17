"""The fixed forms an item may take: in full, and condensed to half and a quarter.

The shorter ones are made when somebody looks at them (`lila_app.context.items.Forms`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache, partial

from lila_app.context.fold import Sentences
from lila_app.context.items import Counter, Forms, Variant, exchange, recalled
from lila_app.privacy.placeholders import cut
from lila_app.quoting import quoted

WORTH_SHORTENING = 60
"""Below this many tokens a shorter form saves too little to lose a sentence for."""

STUB_CHARACTERS = 160
"""What is left of each side of a turn that fits in no other form."""

REMEMBERED = 512
"""Items whose forms are remembered, some 3 KB each: what one turn of a conversation is offered, the
next one mostly is again."""

Shortened = Callable[[str, str, Counter], Sequence[Variant]]
"""Gives the forms of an item, from its two texts."""


def text_forms() -> Shortened:
    """`of_text`, worked out once for what is offered again."""
    return lru_cache(REMEMBERED)(of_text)


def turn_forms() -> Shortened:
    """`of_turn`, worked out once for what is offered again."""
    return lru_cache(REMEMBERED)(of_turn)


def of_text(head: str, text: str, count: Counter) -> Sequence[Variant]:
    """`head` (time, source) and a text, in full and, where it is long, in half and a quarter.

    The text is quoted: whatever stands in it, only the head speaks for LILA.
    """
    full = recalled("full", quoted(head, text), count)
    if full.tokens <= WORTH_SHORTENING:
        return (full,)
    # A quarter that is less than half of what it may be is none, and its head comes on top.
    least = full.tokens // 8
    return Forms(full, least, partial(_short_texts, full, head, text, count))


def _short_texts(full: Variant, head: str, text: str, count: Counter) -> tuple[Variant, ...]:
    forms = [full]
    overhead = count(head)
    sentences = Sentences.of(text, full.tokens - overhead)
    sizes: dict[str, int] = {}

    def measure(kept: str) -> int:
        sizes[kept] = recalled("", quoted(head, kept), count).tokens
        return sizes[kept] - overhead

    for name, share in (("half", 2), ("quarter", 4)):
        room = full.tokens // share - overhead
        short = sentences.within(room, measure)
        if short:
            form = Variant(name, quoted(head, short), sizes[short])
            # Less than half of what it may be is a scrap ("Sarah agreed."), worse than nothing.
            if room <= 2 * (form.tokens - overhead) and form.tokens < forms[-1].tokens:
                forms.append(form)
    return tuple(forms[1:])


def whole(head: str, text: str, count: Counter) -> tuple[Variant, ...]:
    """`head` and a text in the one form that says all of it."""
    return (recalled("full", quoted(head, text), count),)


def of_turn(user: str, reply: str, count: Counter) -> Sequence[Variant]:
    """A turn of the window in full, and, where it is long, in half, in a quarter and as a stub.

    The stub always exists for a long turn, so that even a pasted book leaves a trace.
    """
    full = exchange("full", user, reply, count)
    if full.tokens <= WORTH_SHORTENING:
        return (full,)
    return Forms(full, 0, partial(_short_turns, full, user, reply, count))


def _short_turns(full: Variant, user: str, reply: str, count: Counter) -> tuple[Variant, ...]:
    forms = [full]
    said, answered = count(user), count(reply)
    of_user, of_reply = Sentences.of(user, said), Sentences.of(reply, answered)
    for name, share in (("half", 2), ("quarter", 4)):
        short_user = of_user.within(said // share, count) or _stub(user)
        short_reply = of_reply.within(answered // share, count) or _stub(reply)
        form = exchange(name, short_user, short_reply, count)
        if form.tokens < forms[-1].tokens:
            forms.append(form)
    stub = exchange("stub", _stub(user), _stub(reply), count)
    if stub.tokens < forms[-1].tokens:
        forms.append(stub)
    return tuple(forms[1:])


def _stub(text: str) -> str:
    line = " ".join(text[: 4 * STUB_CHARACTERS].split())
    return line if len(line) <= STUB_CHARACTERS else cut(line, STUB_CHARACTERS).rstrip() + " […]"
