"""Telephone numbers: a run of digits whose grouping, or the word before it, tells what it is.

Whole numbers of no grouping are amounts, ids and times as often as telephones, so those need a
word or a country's prefix. Years, dates, times and addresses of machines are none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from lila_app.privacy.spans import Span

_RUN = re.compile(
    r"(?<![\w.,:/$€£%#@-])(?P<lead>\+|00)?\(?\d[\d()]*(?:[ \u00a0.\-/]{1,2}\(?\d[\d()]*)*"
    r"(?:\s?(?:x|ext\.?|extension)\s?\d{1,5})?(?![\w%€])(?!:\d)",
    re.IGNORECASE,
)

_WORD = re.compile(
    r"\b(?:phone|telephone|tel|cell|mobile|fax|call|called|calling|ring|rang|dial|text|texts|sms"
    r"|whatsapp|signal|reach|contact|number|desk|office|home|work|line|messages?|pager|hotline"
    r"|handy|telefon)\b[^.!?\n]{0,40}$",
    re.IGNORECASE,
)

_NOT = re.compile(
    r"(?:19|20)\d\d[\-./ ](?:0?[1-9]|1[0-2])[\-./ ](?:[0-2]?\d|3[01])"  # 2026-11-30
    r"|(?:[0-2]?\d|3[01])[\-./ ](?:0?[1-9]|[12]\d|3[01])[\-./ ](?:(?:19|20)\d\d|\d\d)"
    r"|(?:(?:1[5-9]|20)\d\d[ \-/]*)+"  # years
    r"|\d{1,3}(?:\.\d{1,3}){3}(?:/\d+)?"  # an address of IP version 4
    r"|\d+\.\d+|\d{1,3}(?:[ .]000)+"
)


def phones(text: str) -> Iterator[Span]:
    """The telephone numbers of a text."""
    for match in _RUN.finditer(text):
        if _is_phone(match, text):
            yield Span(match.start(), match.end(), "phone")


def _is_phone(match: re.Match[str], text: str) -> bool:
    number = re.split(r"\s?(?:x|ext)", match[0], flags=re.IGNORECASE)[0]
    groups = re.findall(r"\d+", number)
    digits = sum(map(len, groups))
    if not 7 <= digits <= 15 or _NOT.fullmatch(number) or match[0].count("(") > 1:
        return False
    if match["lead"] == "+":
        return digits >= 8
    named = bool(_WORD.search(text, max(0, match.start() - 60), match.start()))
    if len(groups) == 1:
        return named and digits >= 8
    if number.startswith(("0", "(")):
        return digits >= 9 or named
    if len(groups) == 2 or digits < 9:
        return named
    return max(map(len, groups)) <= 5 and digits <= 12 and len(groups) <= 5
