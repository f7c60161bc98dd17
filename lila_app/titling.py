"""A session's name: its first words until a capable model has read how it began.

The model is asked once, in the background, after the first reply; after the second where the first
message was a mere greeting, which names nothing whoever is asked, or where LILA was closed before
the model had answered. No answer, or one that is wrong twice, leaves the first words. What the
person named is never touched.

Whether a model beyond this machine may be asked is decided by `memory.use_model`, the setting for
facts and summaries, and not by one of its own: it is the same question, whether a model may work
unseen on what was said and be paid for it, and the smallest of the three works. Who wants the
others without this one leaves the job `title` as it is shipped: it names nobody who is capable.
"""

from __future__ import annotations

import re
import unicodedata
from functools import partial

from lila_app import moments
from lila_app.composing import title as first_words
from lila_app.errors import NotFoundError
from lila_app.privacy.placeholders import cut
from lila_app.quoting import label
from lila_app.resources import Resources
from lila_app.storage import erasure, sessions, spoken, turns
from lila_app.storage.erasure import OvertakenError
from lila_app.storage.sessions import Naming
from lila_app.storage.turns import TurnRow
from lila_app.truths import TITLE_CHARACTERS

MOST_TURNS = 2
"""Turns after which a session is no longer asked about, and of which its name is made."""

LONGEST = 1_500
"""Characters of one side of a turn that are shown: what a conversation is about is said early, and
a pasted book need not be paid for twice."""

_WORDS = re.compile(r"\w+")
_GREETINGS = frozenset(
    _WORDS.findall(
        "hi hello hey heya hiya yo greetings good morning afternoon evening day howdy there lila "
        "again how are you doing today is it going what s up sup all everyone ok okay test testing "
        "hallo guten tag morgen abend moin servus grüß grüezi dich gott wie geht es dir "
        "bonjour bonsoir salut ça ca va coucou hola buenos buenas días dias tardes noches qué que "
        "tal ciao buongiorno buonasera salve come stai olá ola oi bom dia boa tarde noite tudo bem "
        "hej hei hoi goedemorgen goedemiddag hallå cześć dzień dobry ahoj merhaba selam привет "
        "здравствуй здравствуйте добрый день こんにちは 你好 您好 안녕하세요 नमस्ते مرحبا".casefold()
    )
)
"""Words of which nothing but a greeting can be made."""


def settle(resources: Resources, session_id: str) -> None:
    """After a reply: have the session named in the background, if that is due. Blocking."""
    if due(resources, session_id) and resources.completer.of("title"):
        resources.afterwards.name(session_id, partial(make, resources, session_id))


def due(resources: Resources, session_id: str) -> bool:
    """Whether a session is at its beginning, says what it is about, and has a name nobody gave."""
    store = resources.store
    if sessions.get(store, session_id).turns > MOST_TURNS:
        return False
    told = turns.window(store, session_id)
    if len(told) == 1 and is_greeting(told[0].user):
        return False
    return _given_by_nobody(resources, session_id, told) is not None


def make(resources: Resources, session_id: str) -> bool:
    """Ask a model for the session's name and give it; False where that is still to be done.

    Blocking, for the background. While LILA closes it goes on no longer than embedding does.
    """
    try:
        return _make(resources, session_id)
    except NotFoundError:  # it was deleted meanwhile
        return True
    except OvertakenError:  # something was forgotten meanwhile: anew from what is left
        return False


def is_greeting(text: str) -> bool:
    """Whether a message says nothing but hello."""
    return all(word in _GREETINGS for word in _WORDS.findall(text.casefold()))


def _make(resources: Resources, session_id: str) -> bool:
    store = resources.store
    generation = erasure.generation(store)
    told = turns.window(store, session_id)[:MOST_TURNS]
    before = _given_by_nobody(resources, session_id, told)
    if before is None:
        return True
    texts = {turn.id: _told(turn) for turn in told if turn.reply and not turn.erased}
    if not texts or spoken.unsettled(store, session_id):
        return False  # words that are spoken may still change, and their reply with them
    run = partial(resources.run_until_closing, over=resources.afterwards.hurried)
    completer = resources.completer.running(run)
    made_by, answer = completer.of("title"), completer.answer("title", texts)
    made = "" if answer is None else _usable(str(answer["title"]))
    if made:
        naming = Naming(made, made_by, tuple(texts))
        at = moments.stored(resources.clock())
        sessions.name(store, session_id, naming, instead_of=before, at=at, generation=generation)
    return True


def _given_by_nobody(resources: Resources, session_id: str, told: list[TurnRow]) -> str | None:
    """The title of a session if it is that of its first words or none; else None."""
    row = sessions.get(resources.store, session_id)
    automatic = told and row.title in ("", first_words(told[0].user))
    if not automatic or sessions.renamed(resources.store, session_id):
        return None
    return row.title


def _told(turn: TurnRow) -> str:
    return f"They: {turn.user[:LONGEST]}\nLILA: {(turn.reply or '')[:LONGEST]}"


def _usable(text: str) -> str:
    """A model's title as it may stand in a list: one short line of what can be seen.

    What it holds may come from a page somebody quoted, so no terminal may find an order in it.
    """
    seen = "".join(" " if unicodedata.category(one) in ("Cc", "Cs", "Co") else one for one in text)
    line = label(seen)
    return line if len(line) <= TITLE_CHARACTERS else cut(line, TITLE_CHARACTERS - 1) + "…"
