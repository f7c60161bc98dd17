"""What no rule took: dateparser, asked only where a word or figure hints at a date.

Its search finds dates in nearly everything ("5", "second", "on"), so a find counts only where the
hint itself is in it.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Sequence
from datetime import date, datetime

from lila_app.memory.model import ResolvedDate

_HINTS = {
    "de": r"gestern|vorgestern|heute|morgen|übermorgen|januar|februar|märz|mai|juni|juli|oktober|"
    r"dezember|montag|dienstag|mittwoch|donnerstag|freitag|samstag|sonntag",
    "pt": r"ontem|anteontem|hoje|amanhã|janeiro|fevereiro|março|abril|maio|junho|julho|setembro|"
    r"outubro|novembro|dezembro|segunda-feira|terça-feira|quarta-feira|quinta-feira|sexta-feira|"
    r"sábado|domingo",
    "es": r"ayer|anteayer|hoy|mañana|enero|febrero|marzo|abril|mayo|junio|julio|septiembre|"
    r"octubre|noviembre|diciembre|lunes|martes|miércoles|jueves|viernes|sábado|domingo",
    "fr": r"hier|avant-hier|aujourd'hui|demain|janvier|février|mars|avril|juin|juillet|août|"
    r"septembre|octobre|novembre|décembre|lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche",
}
# Words that are something else in English, where they count only beside another of their tongue.
_ALSO_ENGLISH = re.compile(r"^(?:mars|mai|maio|martes|morgen|hier)$", re.IGNORECASE)
_PATTERNS = {
    language: re.compile(rf"\b(?:{words})\b", re.IGNORECASE) for language, words in _HINTS.items()
}
_SMALL = {
    "de": re.compile(r"\b(?:ich|der|die|das|und|ist|war|am|nicht|wir|haben|habe|mit|ein)\b", re.I),
    "pt": re.compile(r"\b(?:eu|o|os|da|do|em|na|no|fui|foi|não|para|com|uma?|que|comprei)\b", re.I),
    "es": re.compile(r"\b(?:yo|el|los|de|en|fui|fue|con|una?|que|la|al|compré|voy|mi)\b", re.I),
    "fr": re.compile(r"\b(?:je|j'ai|le|la|les|du|au|nous|avec|une?|est|et|suis|mon|ma)\b", re.I),
}
_LONGEST = 2_000


def found_loosely(text: str, day: date, taken: Sequence[ResolvedDate]) -> tuple[ResolvedDate, ...]:
    """Dates in other tongues, and what else dateparser reads, beside the ones already found."""
    text = text[:_LONGEST]
    language = _language(text)
    if language is None:
        return ()
    found: list[ResolvedDate] = []
    position = 0
    for words, moment in _search(text, language, day):
        start = text.find(words, position)
        if start < 0:
            continue
        position = end = start + len(words)
        if _PATTERNS[language].search(words) is None:
            continue
        if any(one.start < end and start < one.end for one in taken):
            continue
        found.append(ResolvedDate(start, end, moment, moment))
    return tuple(found)


def _language(text: str) -> str | None:
    """The tongue whose words of time are in the text, if its small words are there too."""
    best: tuple[int, str] | None = None
    for language, pattern in _PATTERNS.items():
        hints = {match[0].lower() for match in pattern.finditer(text)}
        if not hints:
            continue
        small = len(set(_SMALL[language].findall(text.lower())))
        if small == 0 and all(_ALSO_ENGLISH.match(hint) for hint in hints):
            continue
        if best is None or small + len(hints) > best[0]:
            best = (small + len(hints), language)
    return best[1] if best else None


def _search(text: str, language: str, day: date) -> list[tuple[str, date]]:
    """dateparser's finds, in order; none for a text it cannot take."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from dateparser.search import search_dates

        base = datetime(day.year, day.month, day.day, 12)
        settings: dict[str, object] = {"RELATIVE_BASE": base, "RETURN_AS_TIMEZONE_AWARE": False}
        try:
            found = search_dates(text, languages=[language], settings=settings)
        except (ValueError, OverflowError, TypeError, IndexError, AttributeError):
            # Errors it has raised on odd input (scrapinghub/dateparser issues); no date then.
            return []
    return [(words, moment.date()) for words, moment in found or []]
