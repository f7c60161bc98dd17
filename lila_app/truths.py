"""What must be true of a model's answer and no schema can say.

Each check is a plain function of the answer and of what the model was shown; it returns what is
wrong, with its place and without the words themselves, or None.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from typing import cast

Answer = Mapping[str, object]

TITLE_CHARACTERS = 60
"""What a list of sessions has room for beside dates and counts on 100 columns."""

_TEXTS = ("text", "why", "query", "goal", "id", "value", "subject", "old", "new", "entity", "other")
"""Keys whose values must say something, where they have one."""

_SPEAKER = ("me", "i", "the person")
"""How whoever speaks is named as the subject of what they say."""

_WORDS = re.compile(r"\w+")
_NUMBER = re.compile(r"\d+")
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")


@dataclass(frozen=True, slots=True)
class Material:
    """What the model was shown: the texts by the ids they were shown under."""

    texts: Mapping[str, str]

    @property
    def whole(self) -> str:
        """All of it as one text."""
        return "\n".join(self.texts.values())


Check = Callable[[Answer, Material], str | None]
"""A truth check; the first line of its docstring says what it holds an answer to."""


def ids_exist(answer: Answer, material: Material) -> str | None:
    """Every id it names was given."""
    for at, id in _named(answer, ("id", "turn", "turns")):
        if id not in material.texts:
            return f"{at} names an id that was not given"
    return None


def quotes_occur(answer: Answer, material: Material) -> str | None:
    """Every quote stands, letter for letter but for spacing, in the text it is taken from."""
    for at, entry in _entries(answer):
        if "quote" not in entry:
            continue
        quote = _spaced(str(entry["quote"]))
        source = material.texts.get(str(entry.get("turn", entry.get("id", ""))), "")
        if not quote:
            return f"{at}.quote is empty"
        if quote not in _spaced(source):
            return f"{at}.quote does not stand in the text it names"
    return None


def names_occur(answer: Answer, material: Material) -> str | None:
    """Every name and every number it uses was really said."""
    for at, entry in _entries(answer):
        named = entry.get("turns", entry.get("turn"))
        ids = cast("list[object]", named) if isinstance(named, list) else [named]
        source = "\n".join(material.texts.get(str(id), "") for id in ids)
        if named is None:
            source = material.whole
        if said := _invented(entry, source):
            return f"{at}.{said}"
    return None


def values_occur(answer: Answer, material: Material) -> str | None:
    """Every value stands in the turn it is taken from, and every subject was named."""
    whole = f" {_plain(material.whole)} "
    for at, entry in _entries(answer):
        if "value" not in entry:
            continue
        source = material.texts.get(str(entry.get("turn", "")), "")
        value, subject = _plain(str(entry["value"])), _plain(str(entry["subject"]))
        if not value or f" {value} " not in f" {_plain(source)} ":
            return f"{at}.value does not stand in the turn it names"
        if subject not in _SPEAKER and f" {subject} " not in whole:
            return f"{at}.subject was not named"
    return None


def dates_are_real(answer: Answer, material: Material) -> str | None:
    """Every day exists in the calendar, and none begins after its end."""
    del material
    for at, entry in _entries(answer):
        days: list[date] = []
        for key in ("holds_from", "holds_until"):
            value = entry.get(key)
            if value is None:
                continue
            day = _day(str(value))
            if day is None:
                return f"{at}.{key} is not a day as YYYY-MM-DD"
            days.append(day)
        if days != sorted(days):
            return f"{at} ends before it begins"
    return None


def shorter_than_its_source(answer: Answer, material: Material) -> str | None:
    """Its texts together are no longer than what they are drawn from."""
    length = sum(len(_said(entry)) for _, entry in _entries(answer))
    if length > len(material.whole):
        return f"its texts have {length} characters and what they are drawn from has fewer"
    return None


def texts_say_something(answer: Answer, material: Material) -> str | None:
    """No text in it is empty, and each is one line."""
    del material
    for at, entry in _entries(answer):
        for key in _TEXTS:
            text = entry.get(key)
            if text is None or isinstance(text, bool):
                continue
            if not isinstance(text, str) or len(text.splitlines()) > 1:
                return f"{at}.{key} has several lines"
            if not any(character.isalnum() for character in text):
                return f"{at}.{key} says nothing"
    return None


def every_turn_is_named(answer: Answer, material: Material) -> str | None:
    """Every sentence says which turns it follows from."""
    del material
    for at, entry in _entries(answer):
        if "turns" in entry and not entry["turns"]:
            return f"{at}.turns is empty"
    return None


def fits_a_list(answer: Answer, material: Material) -> str | None:
    """A title is one short line with words in it."""
    del material
    title = str(answer["title"])
    if not any(character.isalnum() for character in title):
        return "$.title says nothing"
    if len(title) > TITLE_CHARACTERS or len(title.splitlines()) > 1:
        return f"$.title must be one line of at most {TITLE_CHARACTERS} characters"
    return None


def each_judged_once(answer: Answer, material: Material) -> str | None:
    """Every candidate is judged, and none twice."""
    ids = [str(entry["id"]) for _, entry in _entries(answer) if "id" in entry]
    if len(set(ids)) != len(ids):
        return "$.items judges a candidate twice"
    if set(material.texts) - set(ids):
        return "$.items leaves a candidate out"
    return None


def verdicts_follow(answer: Answer, material: Material) -> str | None:
    """Nothing ungrounded is said, and silence is right exactly when nothing is to be said."""
    del material
    said = [entry for _, entry in _entries(answer) if entry.get("verdict") == "say"]
    if any(not entry["grounded"] for entry in said):
        return "$.items says something that is not grounded"
    silence = cast("Answer", answer["silence"])
    if bool(silence["right"]) == bool(said):
        return "$.silence.right contradicts the verdicts"
    return None


def _entries(answer: Answer) -> Iterator[tuple[str, Answer]]:
    """The answer itself and every object in it, each with its place."""
    waiting: list[tuple[str, object]] = [("$", answer)]
    while waiting:
        at, value = waiting.pop(0)
        if isinstance(value, Mapping):
            entry = cast("Answer", value)
            yield at, entry
            waiting += [(f"{at}.{key}", inner) for key, inner in entry.items()]
        elif isinstance(value, list):
            inner = cast("list[object]", value)
            waiting += [(f"{at}[{number}]", one) for number, one in enumerate(inner)]


def _named(answer: Answer, keys: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    for at, entry in _entries(answer):
        for key in keys:
            value = entry.get(key)
            ids = cast("list[object]", value) if isinstance(value, list) else [value]
            for id in ids:
                if isinstance(id, str):
                    yield f"{at}.{key}", id


def _said(entry: Answer) -> str:
    return str(entry.get("text", entry.get("title", "")))


def _invented(entry: Answer, source: str) -> str:
    """Which part of an entry names what its source does not."""
    folded = _folded(source)
    names = entry.get("names")
    for name in cast("list[object]", names) if isinstance(names, list) else []:
        if not _folded(str(name)) or _folded(str(name)) not in folded:
            return "names holds a name that was not said"
    numbers = set(_NUMBER.findall(_folded(source)))
    if any(number not in numbers for number in _NUMBER.findall(_folded(_said(entry)))):
        return "text holds a number that was not said"
    return ""


def _day(text: str) -> date | None:
    if not _DAY.fullmatch(text):
        return None
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None


def _spaced(text: str) -> str:
    return " ".join(unicodedata.normalize("NFC", text).split())


def _plain(text: str) -> str:
    """Words alone: whether a full stop follows a name says nothing about it."""
    return " ".join(_WORDS.findall(_folded(text)))


def _folded(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())
