"""The form of what stands in for a value: `[MAIL3]`, `[PHONE4B]`.

Plain letters, so that JSON does not escape it and a model repeats it; four tokens of cl100k, where
the same between ⟦ ⟧ with a stroke has seven; one word for the search index, so that it is found
like a word. `3` is the number of the value, given once and never again; `B` says that it is the
same value written in a second way.

A text that has this form and stands for nothing is itself replaced by one (of the kind
`lookalike`), so it comes back exactly.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from lila_app.privacy.spans import Kind

LABELS: Mapping[Kind, str] = {
    "mail": "MAIL",
    "phone": "PHONE",
    "card": "CARD",
    "iban": "IBAN",
    "account": "ACCOUNT",
    "id": "ID",
    "key": "SECRET",
    "person": "PERSON",
    "title": "TITLE",
    "age": "AGE",
    "place": "PLACE",
    "address": "ADDRESS",
    "postcode": "POSTCODE",
    "organisation": "ORG",
    "date": "DATE",
    "group": "GROUP",
    "ip": "IP",
    "domain": "DOMAIN",
    "username": "USER",
    "denied": "PRIVATE",
    "lookalike": "TEXT",
}

_LABEL = "|".join(sorted(LABELS.values()))

FORM = re.compile(rf"\[(?:{_LABEL})[1-9][0-9]{{0,8}}[A-Z]{{0,2}}\]", re.ASCII)

LONGEST = max(map(len, LABELS.values())) + 13
"""Characters of the longest placeholder there can be."""

_BEGUN = re.compile(r"\[(?P<label>[A-Z]*)(?P<number>[0-9]{0,9})(?P<way>[A-Z]{0,2})\Z", re.ASCII)


def made(kind: Kind, number: int, way: int = 0) -> str:
    """The placeholder of a value; `way` counts the ways in which it is written, from 0."""
    return f"[{LABELS[kind]}{number}{_letters(way)}]"


def _letters(way: int) -> str:
    """ "", B, C … Z, AA, AB …: no A alone, so that the first way needs none."""
    if way == 0:
        return ""
    if way < 26:
        return chr(ord("A") + way)
    first, second = divmod(way - 26, 26)
    return chr(ord("A") + first) + chr(ord("A") + second)


WAYS = 26 + 26 * 26
"""How many ways of writing one value are told apart."""


def restored(text: str, value: Callable[[str], str | None]) -> str:
    """The text with each placeholder as its value, where there is one; once, never again in it."""
    return FORM.sub(lambda match: _or(value(match[0]), match[0]), text)


def _or(value: str | None, otherwise: str) -> str:
    return otherwise if value is None else value


def unfinished(text: str) -> int:
    """Where a placeholder begins that the next piece may complete; the text's length if none."""
    at = text.rfind("[")
    if at < 0 or len(text) - at >= LONGEST:
        return len(text)
    begun = _BEGUN.match(text, at)
    if begun is None:
        return len(text)
    label, number = begun["label"], begun["number"]
    if number or begun["way"]:
        fits = label in LABELS.values()
    else:
        fits = any(whole.startswith(label) for whole in LABELS.values())
    return at if fits else len(text)


def cut(text: str, length: int) -> str:
    """At most so many characters of a text, and no half of a placeholder at its end."""
    if len(text) <= length:
        return text
    for match in FORM.finditer(text, max(0, length - LONGEST)):
        if match.start() < length < match.end():
            return text[: match.start()]
    return text[:length]
