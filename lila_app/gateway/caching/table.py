"""Parsing policies/caching.toml, strictly: a table that is not understood is refused."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from typing import get_args

from lila_app import declared
from lila_app.context import Source
from lila_app.declared import Table
from lila_app.gateway.caching.contract import CacheContract, Kind
from lila_app.gateway.caching.rule import Caching, Rule, matching
from lila_app.gateway.port import Ttl

_MULTIPLIER = (0, 1_000_000)
_SECONDS = (0, 31_536_000)
_NUMBERS: Mapping[str, tuple[int, int]] = {
    "minimum": (0, 10_000_000),
    "short_seconds": _SECONDS,
    "long_seconds": _SECONDS,
    "read": _MULTIPLIER,
    "write_short": _MULTIPLIER,
    "write_long": _MULTIPLIER,
    "storage": _MULTIPLIER,
}
_WORDS = ("as_of", "source")
_KINDS: tuple[Kind, ...] = get_args(Kind)
_DEFAULTS: Mapping[str, Ttl | None] = {"short": "short", "long": "long", "none": None}
_LEAST = (1, 200)


def parse_caching(sources: Sequence[Source]) -> Caching:
    """Parse the shipped table with the person's laid over it, key by key.

    Raises `PolicyError` with file, key, what was found and what is allowed.
    """
    entries: dict[str, dict[str, object]] = {}
    rule: dict[str, object] = {}
    for source in sources:
        table = declared.loaded(source)
        declared.only(source, "", table, ("version", "rule", "contracts"))
        if table.get("version", 1) != 1:
            raise declared.refused(source, "version", table["version"], "1")
        rule.update(_rule(source, declared.inner(source, "rule", table.get("rule", {}))))
        contracts = declared.inner(source, "contracts", table.get("contracts", {}))
        for pattern, entry in contracts.items():
            key = f'contracts."{pattern}"'
            if "*" in pattern[:-1] or not pattern:
                raise declared.refused(
                    source, key, pattern, "a model's name, or its beginning and *"
                )
            entries.setdefault(pattern, {}).update(
                _entry(source, key, declared.inner(source, key, entry))
            )
    last = sources[-1]
    if "kind" not in entries.get("*", {}):
        raise declared.refused(last, 'contracts."*".kind', None, f"one of {', '.join(_KINDS)}")
    return Caching(
        {pattern: _whole(last, pattern, entries) for pattern in entries},
        Rule(**rule),  # pyright: ignore[reportArgumentType]
    )


def _whole(
    source: Source, pattern: str, entries: Mapping[str, Mapping[str, object]]
) -> CacheContract:
    """A contract with what less exact patterns say beneath it."""
    values: dict[str, object] = {}
    for beneath in matching(pattern, entries):
        values.update(entries[beneath])
    contract = CacheContract(**values)  # pyright: ignore[reportArgumentType]
    if contract.long_seconds and contract.long_seconds < contract.short_seconds:
        raise declared.refused(
            source,
            f'contracts."{pattern}".long_seconds',
            contract.long_seconds,
            f"0, or at least short_seconds ({contract.short_seconds})",
        )
    return contract


def _entry(source: Source, path: str, entry: Table) -> dict[str, object]:
    declared.only(source, path, entry, ("kind", *_NUMBERS, *_WORDS))
    values: dict[str, object] = {}
    for name, value in entry.items():
        key = f"{path}.{name}"
        if name == "kind":
            if value not in _KINDS:
                raise declared.refused(source, key, value, f"one of {', '.join(_KINDS)}")
            values[name] = value
        elif name in _WORDS:
            if not isinstance(value, str | date):
                raise declared.refused(source, key, value, "a date or a text")
            values[name] = str(value)
        else:
            values[name] = declared.number(source, key, value, _NUMBERS[name])
    return values


def _rule(source: Source, table: Table) -> dict[str, object]:
    declared.only(source, "rule", table, ("least", "default"))
    values: dict[str, object] = {}
    if "least" in table:
        values["least"] = declared.number(source, "rule.least", table["least"], _LEAST)
    if "default" in table:
        said = table["default"]
        if not isinstance(said, str) or said not in _DEFAULTS:
            raise declared.refused(source, "rule.default", said, f"one of {', '.join(_DEFAULTS)}")
        values["default"] = _DEFAULTS[said]
    return values
