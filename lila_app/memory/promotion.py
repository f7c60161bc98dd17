"""When a fact has earned its place: policies/promotion.toml, and the decisions it takes.

Nothing here touches the store; `learning` does what is decided.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, cast, get_args

from lila_app.context import Source
from lila_app.declared import Table, inner, loaded, number, only, refused
from lila_app.memory.model import ME, Kind

Why = Literal["", "explicit", "confirmed", "days", "uses", "at_once", "successor", "core", "hand"]
"""What earned a promotion; "" is none."""

KINDS: tuple[Kind, ...] = get_args(Kind)
DAYS = (0, 100_000)
POINTS = (0, 10_000)


@dataclass(frozen=True, slots=True)
class Fading:
    """How a kind of memory fades; days, and basis points of its score."""

    full: int
    until: int
    least: int
    grace: int


@dataclass(frozen=True, slots=True)
class Revising:
    """When two statements without a common slot are looked at as contradicting.

    `related` leads a word to the one its group is known by; `values` are the exclusive values of
    some predicates.
    """

    cues: tuple[str, ...]
    shared_words: int
    shared_percent: int
    leading_percent: int
    looked_at: int
    related: Mapping[str, str]
    values: Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Rules:
    """The table in force; `at_once`, `core` and `graph_kinds` are predicates, families written with
    a star."""

    days: int
    uses: int
    at_once: tuple[str, ...]
    at_once_confidence: int
    never: tuple[str, ...]
    core: tuple[str, ...]
    core_most: int
    core_confidence: int
    graph_confidence: int
    graph_kinds: tuple[str, ...]
    retention: Mapping[str, Fading]
    revision: Revising


@dataclass(frozen=True, slots=True)
class Record:
    """What speaks for a fact: what it is, and on how many days and in how many replies it came up.

    `about_me` says that its subject or its value is the person.
    """

    predicate: str
    kind: str
    confidence: int
    about_me: bool
    explicit: bool
    confirmed: bool
    negated: bool
    days: int
    uses: int


@dataclass(frozen=True, slots=True)
class Lack:
    """What a candidate still needs: any one of these."""

    days: int
    uses: int


def earned(record: Record, rules: Rules) -> Why:
    """What earns a candidate its place as a memory, if anything does."""
    if record.explicit:
        return "explicit"
    if record.confirmed:
        return "confirmed"
    if record.kind in rules.never:
        return ""
    if record.days >= rules.days:
        return "days"
    if record.uses >= rules.uses:
        return "uses"
    if listed(record.predicate, rules.at_once) and record.confidence >= rules.at_once_confidence:
        return "at_once"
    return ""


def core(record: Record, held: int, rules: Rules) -> bool:
    """Whether a memory belongs to the profile pack, which holds so many already."""
    return (
        held < rules.core_most
        and record.about_me
        and not record.negated
        and record.confidence >= rules.core_confidence
        and listed(record.predicate, rules.core)
    )


def lacking(record: Record, rules: Rules) -> Lack:
    """How many more days or replies a candidate needs."""
    return Lack(max(0, rules.days - record.days), max(0, rules.uses - record.uses))


def listed(predicate: str, names: Sequence[str]) -> bool:
    """Whether a predicate is one of the names, or of a family among them."""
    return any(
        predicate == name or (name.endswith("*") and predicate.startswith(name[:-1]))
        for name in names
    )


def is_me(subject_key: str, value_key: str) -> bool:
    """Whether a fact is about the person."""
    return ME in (subject_key, value_key)


@lru_cache(maxsize=4)
def load(sources: Sequence[Source]) -> Rules:
    """The table the sources declare, later ones laid over earlier. Raises `PolicyError`."""
    merged: dict[str, dict[str, object]] = {}
    for source in sources:
        table = loaded(source)
        only(source, "", table, ("version", *_SHAPES))
        for section, shape in _SHAPES.items():
            if section not in table:
                continue
            found = inner(source, section, table[section])
            only(source, section, found, shape)
            if section == "retention":
                for kind, fading in found.items():
                    keys = inner(source, f"retention.{kind}", fading)
                    only(source, f"retention.{kind}", keys, ("full", "until", "least", "grace"))
                    merged.setdefault(f"retention.{kind}", {}).update(keys)
            else:
                merged.setdefault(section, {}).update(found)
    return _rules(sources[-1], merged)


_SHAPES: Mapping[str, tuple[str, ...]] = {
    "long_term": ("days", "uses", "at_once", "at_once_confidence", "never"),
    "core": ("most", "predicates", "confidence"),
    "graph": ("confidence", "kinds"),
    "retention": KINDS,
    "revision": (
        "cues",
        "shared_words",
        "shared_percent",
        "leading_percent",
        "looked_at",
        "related",
        "values",
    ),
}


def _rules(source: Source, merged: Mapping[str, Table]) -> Rules:
    def whole(section: str, key: str, allowed: tuple[int, int]) -> int:
        return number(source, f"{section}.{key}", merged.get(section, {}).get(key), allowed)

    def names(section: str, key: str) -> tuple[str, ...]:
        return _names(source, f"{section}.{key}", merged.get(section, {}).get(key))

    retention = {kind: _fading(source, kind, merged.get(f"retention.{kind}", {})) for kind in KINDS}
    return Rules(
        days=whole("long_term", "days", (1, 1_000)),
        uses=whole("long_term", "uses", (1, 1_000)),
        at_once=names("long_term", "at_once"),
        at_once_confidence=whole("long_term", "at_once_confidence", POINTS),
        never=names("long_term", "never"),
        core=names("core", "predicates"),
        core_most=whole("core", "most", (0, 1_000)),
        core_confidence=whole("core", "confidence", POINTS),
        graph_confidence=whole("graph", "confidence", POINTS),
        graph_kinds=names("graph", "kinds"),
        retention=retention,
        revision=Revising(
            names("revision", "cues"),
            whole("revision", "shared_words", (1, 100)),
            whole("revision", "shared_percent", (1, 100)),
            whole("revision", "leading_percent", (1, 100)),
            whole("revision", "looked_at", (0, 1_000)),
            _related(source, merged.get("revision", {}).get("related")),
            _values(source, merged.get("revision", {}).get("values")),
        ),
    )


def _fading(source: Source, kind: str, table: Table) -> Fading:
    path = f"retention.{kind}"
    full = number(source, f"{path}.full", table.get("full"), DAYS)
    until = number(source, f"{path}.until", table.get("until"), DAYS)
    if until < full:
        raise refused(source, f"{path}.until", until, f"a number from {full:,} (`full`) on")
    return Fading(
        full,
        until,
        number(source, f"{path}.least", table.get("least"), POINTS),
        number(source, f"{path}.grace", table.get("grace", 0), DAYS),
    )


def _related(source: Source, found: object) -> Mapping[str, str]:
    groups = cast("list[object]", found) if isinstance(found, list) else [None]
    named = [_names(source, "revision.related", group) for group in groups]
    return {word: group[0] for group in named for word in group}


def _values(source: Source, found: object) -> Mapping[str, tuple[str, ...]]:
    table = inner(source, "revision.values", found)
    return {name: _names(source, f"revision.values.{name}", of) for name, of in table.items()}


def _names(source: Source, key: str, found: object) -> tuple[str, ...]:
    names = cast("list[object]", found) if isinstance(found, list) else [None]
    given = [one for one in names if isinstance(one, str) and one]
    if len(given) != len(names):
        shown = "nothing" if found is None else "no such list"
        raise refused(source, key, None, "a list of names", shown=shown)
    return tuple(given)
