"""A reply as it is said: its Markdown, numbers, signs and addresses in words.

English and German are written out in full, so that every engine says the same and every word has a
time of its own; of another language only markup, code, signs of decoration and sources go, and the
engine reads its numbers.
"""

from __future__ import annotations

from lila_app.voice.model import Spoken
from lila_app.voice.speakable import addresses, amounts, calendar, markup, numbers, signs
from lila_app.voice.speakable.english import ENGLISH
from lila_app.voice.speakable.german import GERMAN
from lila_app.voice.speakable.rewriting import as_written

_LANGUAGES = {"en": ENGLISH, "de": GERMAN}


def speakable(text: str, language: str = "en") -> Spoken:
    """The text as it is said in a language (ISO 639); "" where nothing of it can be said.

    `origin` never falls. What was written out ("1984", "Dr.") has the place where that begins, and
    only its last character the one where it ends: it is heard once all of it is.
    """
    spoken = as_written(text)
    chosen = _LANGUAGES.get(language)
    spoken = markup.strip(spoken, chosen.code_omitted if chosen else "")
    if chosen:
        for step in (
            signs.abbreviations,
            addresses.rewrite_addresses,
            numbers.rewrite_ranges,
            calendar.rewrite_dates,
            calendar.rewrite_times,
            amounts.rewrite_amounts,
            numbers.rewrite_numbers,
            signs.in_words,
        ):
            spoken = step(spoken, chosen)
    said_of_it = signs.tidied(spoken)
    if not said_of_it.text and chosen is ENGLISH:
        return signs.tidied(signs.named(spoken))
    return said_of_it
