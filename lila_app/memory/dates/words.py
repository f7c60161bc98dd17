"""The words of time in English: months, weekdays, amounts, feasts, and signs of past and future."""

from __future__ import annotations

import re

from lila_app.memory.dates.days import Side

MONTHS = {
    name: number
    for number, name in enumerate(
        ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"],
        start=1,
    )
}
MONTH = (
    r"(?P<month>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|"
    r"sep(?:t(?:ember)?)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)"
)
WEEKDAYS = {
    name: number for number, name in enumerate(["mon", "tue", "wed", "thu", "fri", "sat", "sun"])
}
WEEKDAY = r"(?:mon|tues|wednes|thurs|fri|satur|sun)day"
WEEKDAY_SHORT = r"(?:mon|tues?|wed|thurs?|thu|fri|sat|(?-i:Sun))\b\.?"
DAY_NUMBER = r"(?P<day>[12]\d|3[01]|0?[1-9])(?:st|nd|rd|th)?"
YEAR = r"(?P<year>(?:19|20|21)\d\d)\b"

_NUMBERS = {
    word: number
    for number, word in enumerate(
        [
            "zero",
            "one",
            "two",
            "three",
            "four",
            "five",
            "six",
            "seven",
            "eight",
            "nine",
            "ten",
            "eleven",
            "twelve",
        ]
    )
}
_LOOSE = {
    "a few": (2, 5),
    "few": (2, 5),
    "several": (3, 7),
    "a couple of": (2, 3),
    "a couple": (2, 3),
}
AMOUNT = (
    r"(?:about |around |almost |nearly |over |exactly |just )?"
    rf"(?P<amount>\d{{1,3}}|{'|'.join(_NUMBERS)}|twenty|an?|a few|few|several|a couple of|a couple)"
)
FEAST = (
    r"(?P<feast>christmas eve|christmas(?: day)?|boxing day|new year's eve|new year's day|"
    r"new years?|"
    r"new year's|valentine's(?: day)?|halloween|easter(?: sunday)?|thanksgiving)\b"
)

_FEATURE = re.compile(
    r"(?P<digit>\d)|"
    r"(?P<feast>christmas|boxing day|new year|valentine|halloween|easter|thanksgiving)|"
    r"(?P<near>yesterday|tomorrow|tmrw|today|tonight|last night|this morning|this afternoon|"
    r"this evening|other day)|"
    r"(?P<weekday>(?:mon|tues|wednes|thurs|fri|satur|sun)day|"
    r"\b(?:last|past|this|next|coming|following) (?:mon|tues?|wed|thu(?:rs?)?|fri|sat|sun)\b)|"
    r"(?P<season>spring|summer|autumn|fall|winter)|"
    r"(?P<unit>day|week|month|year)|"
    r"(?P<month>jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)",
    re.IGNORECASE,
)


def features(text: str) -> frozenset[str]:
    """Which sorts of time words a text has: only rules that need none other are tried."""
    return frozenset(match.lastgroup or "" for match in _FEATURE.finditer(text))


_FUTURE = re.compile(
    r"\b(?:will|won't|shall|going to|gonna|plan(?:s|ning)?|hop(?:e|ing) to|want to|need to|have to|"
    r"got to|must|should|upcoming|due|starts?|begins?|arrives?|leaves?|deadline|appointment|"
    r"expir(?:es|ing|y)|valid|"
    r"(?:am|is|are) (?!was)\w+ing|is|are|let's|until|by then)\b|'ll\b|'(?:m|re|s) \w+ing\b|"
    r"\b(?:moved|postponed|rescheduled|pushed|shifted|changed|put off)(?: back| forward)? (?:to|"
    r"until)\s*(?:\d\S*|noon)?\s*$|"
    r"\b(?:i've|i have|we have|we've|has) (?:got )?(?:a|an|my|our|another)\b",
    re.IGNORECASE,
)
_PAST = re.compile(
    r"\b(?:was|were|did|didn't|had|went|met|bought|sold|got|came|made|took|saw|ate|ran|felt|gave|"
    r"found|lost|left|began|became|wrote|read|told|said|thought|knew|heard|spent|flew|drove|broke|"
    r"won|quit|been|done|since|ago|born|grew|held|kept|paid|sent|slept|spoke|taught|wore|"
    r"(?!married|engaged|tired|excited|need|speed|indeed|used to|interested|supposed)\w{2,}ed)\b",
    re.IGNORECASE,
)
_STOP = re.compile(r"[.!?;\n]+(?=\s|$)")


def amount(words: str) -> tuple[int, int]:
    """The least and the most that is meant: (2, 2) for "two", (2, 5) for "a few"."""
    if words in _LOOSE:
        return _LOOSE[words]
    if words.isdecimal():
        number = int(words)
    elif words == "twenty":
        number = 20
    else:
        number = _NUMBERS.get(words, 1)
    return number, number


def feast_name(words: str) -> str:
    """The feast as `days.FEASTS` calls it."""
    for name, stem in _FEAST_STEMS:
        if words.startswith(stem):
            return name
    return "new year"


_FEAST_STEMS = (
    ("christmas eve", "christmas eve"),
    ("christmas", "christmas"),
    ("boxing day", "boxing"),
    ("new year's eve", "new year's eve"),
    ("valentine's day", "valentine"),
    ("halloween", "halloween"),
    ("easter", "easter"),
    ("thanksgiving", "thanksgiving"),
)


def side_of(text: str, start: int, end: int) -> Side:
    """Past or future, by the nearest telling word of the sentence around an expression.

    Words before count before words after; 200 characters to each side are looked at.
    """
    left, right = text[max(0, start - 200) : start], text[end : end + 200]
    stops = list(_STOP.finditer(left))
    left = left[stops[-1].end() :] if stops else left
    stop = _STOP.search(right)
    right = right[: stop.start()] if stop else right
    past, future = _distance(_PAST, left, right), _distance(_FUTURE, left, right)
    if past == future:
        return ""
    return "past" if past < future else "future"


_NOWHERE = 10_000


def _distance(pattern: re.Pattern[str], left: str, right: str) -> int:
    """How far the nearest match is, in characters."""
    ends = [match.end() for match in pattern.finditer(left)]
    if ends:
        return len(left) - ends[-1]
    match = pattern.search(right)
    return 1_000 + match.start() if match else _NOWHERE
