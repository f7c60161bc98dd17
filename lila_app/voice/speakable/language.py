"""What the rules need of a language to write something out in it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Amount:
    """How a unit is said: with exactly one of it, and after any other number."""

    one: str
    many: str


@dataclass(frozen=True, slots=True)
class Currency:
    """How a currency and its hundredth are said."""

    whole: Amount
    part: Amount


@dataclass(frozen=True, slots=True, eq=False)
class Language:
    """Numbers, dates and signs of a language, in its words; there is one of each.

    `clock(hour, minute, half)` takes "a", "p" or "" for the half of the day; `date(year, month,
    day, before)` takes what stands before it, since some languages inflect after it, and a year of
    0 where none is said. `money(whole, hundredths, currency)`.
    """

    code_omitted: str
    decimal: str
    thousands: str
    point: str
    dot: str
    at: str
    dash: str
    minus: str
    plus: str
    to: str
    ratio: str
    per: str
    slash: str
    out_of: str
    """Between a mark and the best one: "4.5/5"."""
    number_dot: str
    """The points of a version."""
    by: str
    times: str
    about: str
    number: str
    power: str
    cardinal: Callable[[int], str]
    ordinal: Callable[[int], str]
    year: Callable[[int], str]
    clock: Callable[[int, int, str], str]
    date: Callable[[int, int, int, str], str]
    money: Callable[[int, int, Currency], str]
    fraction: Callable[[int, int], str]
    ordinal_suffix: str
    """A pattern of what follows a number that counts a place; matched right behind it."""
    spelled: Callable[[str], bool]
    """Whether a word in capitals must be spelled for the engines to say it right."""
    months: tuple[str, ...]
    short_months: tuple[str, ...]
    weekdays: tuple[str, ...]
    """Where their first three letters are short for them; empty where not."""
    day_first: bool
    units: Mapping[str, Amount]
    currencies: Mapping[str, Currency]
    scales: Mapping[str, Amount]
    """Words after an amount ("million", "bn"), as they are said."""
    bare_scales: Mapping[str, str]
    """Scales that are written right behind a number, without a currency: "10k"."""
    abbreviations: Mapping[str, str]
    counted: Mapping[str, str]
    """Abbreviations that are that only before a number: "p. 12"."""
    closing: frozenset[str]
    """Abbreviations that may end a sentence: before a capital they do."""
    signs: Mapping[str, str]
