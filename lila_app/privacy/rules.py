"""policies/privacy.toml, parsed: what is replaced before which sink."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import cast

from lila_app.context import Source
from lila_app.declared import Table, inner, loaded, only, refused
from lila_app.privacy.spans import ALWAYS, GROUPS, SURE, Group, Kind, Sure

_TABLES = ("wire", "storage", "allow", "deny")
_SINK = ("redact", "sure", "also")
_LISTS = ("values", "patterns")


@dataclass(frozen=True, slots=True)
class Sink:
    """What is replaced before one sink: nothing unless `redact`."""

    redact: bool
    sure: tuple[Sure, ...]
    also: tuple[Group, ...]

    @property
    def kinds(self) -> frozenset[Kind]:
        """The kinds that are replaced; none where nothing is."""
        if not self.redact:
            return frozenset()
        kinds: set[Kind] = {*self.sure, *ALWAYS}
        return frozenset(kinds.union(*(GROUPS[group] for group in self.also)))


@dataclass(frozen=True, slots=True)
class Rules:
    """The rules in force; `allowed` are values in folded case."""

    wire: Sink
    storage: Sink
    allowed: frozenset[str] = frozenset()
    allow: tuple[re.Pattern[str], ...] = ()
    deny: tuple[re.Pattern[str], ...] = ()
    files: tuple[str, ...] = field(default=(), compare=False)


def parse(sources: Sequence[Source]) -> Rules:
    """The shipped table with the person's own laid over it. Raises `PolicyError`."""
    sinks: dict[str, dict[str, tuple[Source, object]]] = {"wire": {}, "storage": {}}
    allowed: list[str] = []
    allow: list[re.Pattern[str]] = []
    deny: list[re.Pattern[str]] = []
    for source in sources:
        table = loaded(source)
        only(source, "", table, _TABLES)
        for name, keys in sinks.items():
            found = inner(source, name, table.get(name, {}))
            only(source, name, found, _SINK)
            keys.update({key: (source, value) for key, value in found.items()})
        values, patterns = _lists(source, table, "allow")
        allowed += [value.casefold() for value in values]
        allow += patterns
        values, patterns = _lists(source, table, "deny")
        deny += [re.compile(rf"(?<!\w){re.escape(one)}(?!\w)", re.IGNORECASE) for one in values]
        deny += patterns
    return Rules(
        _sink("wire", sinks["wire"]),
        _sink("storage", sinks["storage"]),
        frozenset(allowed),
        tuple(allow),
        tuple(deny),
        tuple(source.name for source in sources),
    )


def _lists(
    source: Source, table: Table, name: str
) -> tuple[tuple[str, ...], tuple[re.Pattern[str], ...]]:
    """The values and the patterns of one list."""
    found = inner(source, name, table.get(name, {}))
    only(source, name, found, _LISTS)
    values = _texts(source, f"{name}.values", found.get("values", []))
    patterns: list[re.Pattern[str]] = []
    for one in _texts(source, f"{name}.patterns", found.get("patterns", [])):
        try:
            pattern = re.compile(one)
        except re.error as error:
            raise refused(
                source, f"{name}.patterns", one, f"a regular expression ({error})"
            ) from None
        if pattern.match(""):
            raise refused(source, f"{name}.patterns", one, "a pattern that matches no empty text")
        patterns.append(pattern)
    return values, tuple(patterns)


def _texts(source: Source, key: str, value: object) -> tuple[str, ...]:
    found: list[object] = cast("list[object]", value) if isinstance(value, list) else [None]
    texts = [one for one in found if isinstance(one, str) and one.strip()]
    if len(texts) < len(found):
        shown = cast(object, value)
        raise refused(source, key, shown, "a list of texts, none of them empty")
    return tuple(texts)


def _sink(name: str, keys: Mapping[str, tuple[Source, object]]) -> Sink:
    """A sink of a whole table: the shipped one has every key."""

    def read(key: str, convert: Callable[[Source, str, object], object]) -> object:
        source, value = keys.get(key, (Source(f"{name}", ""), None))
        return convert(source, f"{name}.{key}", value)

    def choice(allowed: Sequence[str]) -> Callable[[Source, str, object], object]:
        return lambda source, key, value: _chosen(source, key, value, allowed)

    return Sink(
        cast(bool, read("redact", _switch)),
        cast("tuple[Sure, ...]", read("sure", choice(SURE))),
        cast("tuple[Group, ...]", read("also", choice(tuple(GROUPS)))),
    )


def _switch(source: Source, key: str, value: object) -> bool:
    if not isinstance(value, bool):
        raise refused(source, key, value, "true or false")
    return value


def _chosen(source: Source, key: str, value: object, allowed: Sequence[str]) -> tuple[str, ...]:
    for one in _texts(source, key, value):
        if one not in allowed:
            raise refused(source, key, one, f"any of {', '.join(allowed)}")
    return tuple(dict.fromkeys(cast("list[str]", value)))
