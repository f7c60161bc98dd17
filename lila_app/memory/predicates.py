"""The vocabulary of facts: policies/predicates.toml as checked values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast, get_args

from lila_app.context import Source
from lila_app.declared import Table, inner, loaded, only, refused
from lila_app.memory.model import ME, Kind

_KEYS = ("many", "kind", "entity", "inverse", "sentence", "denied")

PERSON = "the person"
"""How the person is called in a sentence that stands by itself."""


@dataclass(frozen=True, slots=True)
class Predicate:
    """One predicate; `what` is the family member's own word ("colour" of favourite_colour).

    `inverse` and `denied` are "" where there is none.
    """

    name: str
    many: bool
    kind: Kind
    entity: bool
    sentence: str
    denied: str
    inverse: str
    what: str = ""

    def said(self, subject: str, value: str, *, negated: bool = False, ended: bool = False) -> str:
        """The sentence without its full stop; "" where the negation cannot be said."""
        template = self.denied if negated or ended else self.sentence
        words = {"subject": _named(subject), "value": _named(value), "what": self.what}
        if words["value"][:1].lower() in "aeio" and template.endswith(" a {value}"):
            template = template.replace(" a {value}", " an {value}")
        text = _filled(template, words)
        if not text:
            return ""
        later = " any more" if ended and not text.endswith("any more") else ""
        return text[0].upper() + text[1:] + later


@dataclass(frozen=True, slots=True)
class Predicates:
    """The predicates in force, by name; families by what stands before their *."""

    named: Mapping[str, Predicate]

    def get(self, name: str) -> Predicate | None:
        """A predicate or a member of a family; None where the table has none."""
        if name.endswith("*"):
            return None
        found = self.named.get(name)
        if found is not None:
            return found
        stem, line, what = name.partition("_")
        family = self.named.get(f"{stem}{line}*") if what else None
        if family is None:
            return None
        return Predicate(
            name,
            family.many,
            family.kind,
            family.entity,
            family.sentence,
            family.denied,
            family.inverse,
            what.replace("_", " "),
        )

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self.get(name) is not None


def load(sources: Sequence[Source]) -> Predicates:
    """The table the sources declare, later ones laid over earlier. Raises `PolicyError`."""
    merged: dict[str, dict[str, object]] = {}
    seen: dict[str, Source] = {}
    for source in sources:
        table = loaded(source)
        only(source, "", table, ("version", "predicates"))
        for name, found in inner(source, "predicates", table.get("predicates", {})).items():
            path = f"predicates.{name}"
            keys = inner(source, path, found)
            only(source, path, keys, _KEYS)
            merged.setdefault(name, {}).update(keys)
            seen[name] = source
    checked = {name: _checked(seen[name], name, table) for name, table in merged.items()}
    for one in checked.values():
        if one.inverse and one.inverse not in checked:
            key = f"predicates.{one.name}.inverse"
            raise refused(seen[one.name], key, one.inverse, "the name of a predicate here")
    return Predicates(checked)


def _checked(source: Source, name: str, table: Table) -> Predicate:
    path = f"predicates.{name}"
    kinds = get_args(Kind)
    kind = table.get("kind")
    if kind not in kinds:
        raise refused(source, f"{path}.kind", kind, f"one of {', '.join(kinds)}")
    sentence = _template(source, f"{path}.sentence", table.get("sentence"))
    if not sentence:
        raise refused(source, f"{path}.sentence", None, "a sentence with {subject} and {value}")
    return Predicate(
        name=name,
        many=_flag(source, f"{path}.many", table.get("many")),
        kind=cast(Kind, kind),
        entity=_flag(source, f"{path}.entity", table.get("entity")),
        sentence=sentence,
        denied=_template(source, f"{path}.denied", table.get("denied", "")),
        inverse=_text(source, f"{path}.inverse", table.get("inverse", "")),
    )


def _flag(source: Source, key: str, found: object) -> bool:
    if not isinstance(found, bool):
        raise refused(source, key, found, "true or false")
    return found


def _text(source: Source, key: str, found: object) -> str:
    if not isinstance(found, str):
        raise refused(source, key, found, "a text")
    return found


def _template(source: Source, key: str, found: object) -> str:
    text = _text(source, key, found)
    if text and not ("{subject}" in text and "{value}" in text):
        raise refused(source, key, text, "a sentence with {subject} and {value}")
    return text


def _filled(template: str, words: Mapping[str, str]) -> str:
    """Placeholders replaced in one pass, so that braces in a value stay what they are."""
    parts = template.split("{")
    text = parts[0]
    for part in parts[1:]:
        key, closed, rest = part.partition("}")
        text += words[key] + rest if closed and key in words else "{" + part
    return text


def _named(word: str) -> str:
    return PERSON if word == ME else word
