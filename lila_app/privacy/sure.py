"""What patterns find surely: addresses of mail, numbers with a checksum or a word before them.

The standard library alone, under a millisecond for a message: this runs on every request that
leaves the machine.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from lila_app.privacy import checksums
from lila_app.privacy.checksums import Check, plain
from lila_app.privacy.phones import phones
from lila_app.privacy.spans import Kind, Span


@dataclass(frozen=True, slots=True)
class Pattern:
    """A form and what its plain text must fulfil; the span is the group `it`, else the match.

    `needs` is a sign without which the form cannot match, so that most texts are never searched.
    """

    kind: Kind
    form: re.Pattern[str]
    check: Check | None = None
    needs: str = ""


def _form(text: str, flags: int = 0) -> re.Pattern[str]:
    return re.compile(text, flags | re.VERBOSE)


_BEFORE, _AFTER = r"(?<![\w])", r"(?![\w])"

_SAID = r"(?:\s*(?:number|no\.?|nr\.?|num|id|code|card|\#|:|=|is|was|are|as|the)){0,4}[\s:\#=]*"
"""What may stand between the name of a number and the number."""

_NAMED = r"(?P<it>(?=(?:[A-Z\-]*\d){4})[A-Z0-9][A-Z0-9\-]{3,21}[A-Z0-9])"
"""A number with perhaps letters, of which only the word before it tells what it is."""

_NUMBER = r"(?P<it>\d(?:[ \-]?\d){5,18})"

PATTERNS = (
    Pattern(
        "mail",
        _form(
            r"""(?<![\w.+\-])[\w.!\#$%&'*+/=?^`{|}~\-]{1,64}
            @(?:[\w](?:[\w\-]{0,61}[\w])?\.)+[^\W\d_]{2,24}(?![\w@])"""
        ),
        needs="@",
    ),
    Pattern(
        "iban",
        _form(
            rf"{_BEFORE}[A-Z]{{2}}\d{{2}}(?:[ \-]?[A-Z0-9]{{4}}){{2,7}}(?:[ \-]?[A-Z0-9]{{1,3}})?"
            rf"{_AFTER}",
            re.IGNORECASE,
        ),
        checksums.iban,
    ),
    Pattern(  # called one: also with a digit mistyped
        "iban",
        _form(
            rf"\biban{_SAID}(?P<it>[A-Z]{{2}}\d{{2}}(?:[ \-]?[A-Z0-9]{{2,4}}){{3,8}}){_AFTER}",
            re.IGNORECASE,
        ),
    ),
    Pattern(
        "card",
        _form(
            r"""(?<![\w.+])(?:(?:\d{4}[ \-]){3}\d{4}(?:[ \-]\d{3})?|\d{4}[ \-]\d{6}[ \-]\d{4,5}
            |\d{12,19})(?!\w)"""
        ),
        checksums.card,
    ),
    Pattern(  # called one: also with a digit mistyped
        "card",
        _form(rf"\bcard{_SAID}(?P<it>\d(?:[ \-]?\d){{12,18}}){_AFTER}", re.IGNORECASE),
    ),
    Pattern(
        "id", _form(rf"{_BEFORE}\d{{3}}([\- .])\d{{2}}\1\d{{4}}{_AFTER}"), checksums.social_security
    ),
    Pattern(
        "id",
        _form(
            rf"{_BEFORE}(?!BG|GB|NK|KN|TN|NT|ZZ)[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z]\s?"
            rf"\d{{2}}\s?\d{{2}}\s?\d{{2}}\s?[A-D]{_AFTER}"
        ),
    ),
    Pattern(  # without the word every eleventh American telephone would be one
        "id",
        _form(rf"\bnhs{_SAID}(?P<it>\d{{3}}[ \-]?\d{{3}}[ \-]?\d{{4}}){_AFTER}", re.IGNORECASE),
        checksums.nhs,
    ),
    Pattern("id", _form(rf"{_BEFORE}[XYZ\d]\d{{7}}-?[A-HJ-NP-TV-Z]{_AFTER}"), checksums.dni),
    Pattern(
        "id",
        _form(rf"{_BEFORE}[A-Z]{{6}}\d{{2}}[A-EHLMPRST]\d{{2}}[A-Z]\d{{3}}[A-Z]{_AFTER}"),
        checksums.codice_fiscale,
    ),
    Pattern(
        "id",
        _form(
            rf"{_BEFORE}[12]\s?\d{{2}}\s?\d{{2}}\s?(?:\d{{2}}|2[AB])\s?\d{{3}}\s?\d{{3}}\s?\d{{2}}"
            rf"{_AFTER}"
        ),
        checksums.nir,
    ),
    Pattern("id", _form(rf"{_BEFORE}\d{{3}}\.\d{{3}}\.\d{{3}}-\d{{2}}{_AFTER}"), checksums.cpf),
    Pattern("id", _form(rf"{_BEFORE}\d{{4}}[ \-]\d{{4}}[ \-]\d{{4}}{_AFTER}"), checksums.aadhaar),
    Pattern(
        "id",
        _form(rf"{_BEFORE}(?:19|20)?\d{{6}}[\-+]\d{{4}}{_AFTER}"),
        lambda text: checksums.personnummer(text.replace("+", "")),
    ),
    Pattern(
        "id",
        _form(rf"\bPESEL{_SAID}(?P<it>\d{{11}}){_AFTER}", re.IGNORECASE),
        checksums.pesel,
    ),
    Pattern(
        "id",
        _form(
            rf"""\b(?:passport|driver(?:'?s|s')?\s+licen[cs]e|driving\s+licen[cs]e|licen[cs]e
            |national\s+id(?:entity)?|id(?:entity)?\s+card|social\s+security|ssn|itin|nino|tax\s+id
            |tax\s+file|tin|tfn|bsn|steuer-?id|aadhaar|medicare|insurance|medical\s+record|mrn
            |(?-i:PAN)|(?-i:SIN)|visa\s+(?=number|no)|patient){_SAID}{_NAMED}{_AFTER}""",
            re.IGNORECASE,
        ),
    ),
    Pattern(
        "account",
        _form(
            rf"""\b(?:account|acct|a/c|konto|routing|aba|customer\s+(?:number|no|id)
            |member(?:ship)?\s+(?:number|no|id)|policy\s+(?:number|no)){_SAID}{_NUMBER}{_AFTER}""",
            re.IGNORECASE,
        ),
    ),
    Pattern(
        "account",
        _form(rf"\bsort\s+code{_SAID}(?P<it>\d\d[ \-]?\d\d[ \-]?\d\d){_AFTER}", re.IGNORECASE),
    ),
    Pattern(
        "account",
        _form(
            rf"\b(?:swift|bic){_SAID}(?P<it>[A-Z]{{6}}[A-Z0-9]{{2}}(?:[A-Z0-9]{{3}})?){_AFTER}",
            re.IGNORECASE,
        ),
    ),
    Pattern(
        "card",
        _form(
            rf"""\b(?:cvv|cvc|security\s+code|pin){_SAID}(?P<it>\d{{3,6}})(?!\d|\.\d)""",
            re.IGNORECASE,
        ),
    ),
    Pattern(
        "key",
        _form(
            r"""(?<![\w\-])(?:sk-[A-Za-z0-9_\-]{16,}|gh[pousr]_[A-Za-z0-9]{30,}
            |github_pat_\w{30,}|xox[abeprs]-[\w\-]{10,}|AKIA[A-Z0-9]{16}|AIza[\w\-]{35}
            |glpat-[\w\-]{20,}|hf_[A-Za-z0-9]{30,}|[rs]k_(?:live|test)_[A-Za-z0-9]{16,}
            |eyJ[\w\-]{8,}\.eyJ[\w\-]{8,}\.[\w\-]{8,})(?![\w\-])"""
        ),
    ),
    Pattern(
        "key",
        _form(
            r"-----BEGIN\ [A-Z ]*PRIVATE\ KEY-----(?:.*?-----END\ [A-Z ]*PRIVATE\ KEY-----)?",
            re.DOTALL,
        ),
        needs="-----BEGIN",
    ),
    Pattern(
        "key",
        _form(
            r"""\b(?:password|passwort|passphrase|passcode)\b(?:\s+is|\s*[:=])\s*["'“]?
            (?P<it>[^\s"'”,;]*[^\s"'”,;.!?])""",
            re.IGNORECASE,
        ),
    ),
)


def find(text: str) -> Iterator[Span]:
    """Everything these patterns find; finds may overlap."""
    for pattern in PATTERNS:
        if pattern.needs in text:
            yield from _matches(pattern, text)
    if _DIGIT.search(text):  # last: what has a name of its own is no telephone
        yield from phones(text)


_DIGIT = re.compile(r"\d")


def _matches(pattern: Pattern, text: str) -> Iterator[Span]:
    group = "it" if "it" in pattern.form.groupindex else 0
    for match in pattern.form.finditer(text):
        if pattern.check is None or pattern.check(plain(match[group])):
            yield Span(*match.span(group), pattern.kind)
