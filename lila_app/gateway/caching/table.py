"""Parsing policies/caching.toml, strictly: a table that is not understood is refused."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from datetime import date
from typing import cast, get_args

from lila_app.context import Source
from lila_app.errors import PolicyError
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

Table = Mapping[str, object]


def parse_caching(sources: Sequence[Source]) -> Caching:
    """Parse the shipped table with the person's laid over it, key by key.

    Raises `PolicyError` with file, key, what was found and what is allowed.
    """
    entries: dict[str, dict[str, object]] = {}
    rule: dict[str, object] = {}
    for source in sources:
        table = _loaded(source)
        _only(source, "", table, ("version", "rule", "contracts"))
        if table.get("version", 1) != 1:
            raise _refuse(source, "version", table["version"], "1")
        rule.update(_rule(source, _table(source, "rule", table.get("rule", {}))))
        contracts = _table(source, "contracts", table.get("contracts", {}))
        for pattern, entry in contracts.items():
            key = f'contracts."{pattern}"'
            if "*" in pattern[:-1] or not pattern:
                raise _refuse(source, key, pattern, "a model's name, or its beginning and *")
            entries.setdefault(pattern, {}).update(_entry(source, key, _table(source, key, entry)))
    last = sources[-1]
    if "kind" not in entries.get("*", {}):
        raise _refuse(last, 'contracts."*".kind', None, f"one of {', '.join(_KINDS)}")
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
        raise _refuse(
            source,
            f'contracts."{pattern}".long_seconds',
            contract.long_seconds,
            f"0, or at least short_seconds ({contract.short_seconds})",
        )
    return contract


def _entry(source: Source, path: str, entry: Table) -> dict[str, object]:
    _only(source, path, entry, ("kind", *_NUMBERS, *_WORDS))
    values: dict[str, object] = {}
    for name, value in entry.items():
        key = f"{path}.{name}"
        if name == "kind":
            if value not in _KINDS:
                raise _refuse(source, key, value, f"one of {', '.join(_KINDS)}")
            values[name] = value
        elif name in _WORDS:
            if not isinstance(value, str | date):
                raise _refuse(source, key, value, "a date or a text")
            values[name] = str(value)
        else:
            values[name] = _number(source, key, value, _NUMBERS[name])
    return values


def _rule(source: Source, table: Table) -> dict[str, object]:
    _only(source, "rule", table, ("least", "default"))
    values: dict[str, object] = {}
    if "least" in table:
        values["least"] = _number(source, "rule.least", table["least"], _LEAST)
    if "default" in table:
        said = table["default"]
        if not isinstance(said, str) or said not in _DEFAULTS:
            raise _refuse(source, "rule.default", said, f"one of {', '.join(_DEFAULTS)}")
        values["default"] = _DEFAULTS[said]
    return values


def _number(source: Source, key: str, value: object, allowed: tuple[int, int]) -> int:
    least, most = allowed
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise _refuse(source, key, value, f"a number from {least:,} to {most:,}")
    return value


def _loaded(source: Source) -> Table:
    try:
        return tomllib.loads(source.text)
    except tomllib.TOMLDecodeError as error:
        raise PolicyError(
            file=source.name, key="", found=f"no TOML: {error}", allowed="a TOML table"
        ) from error


def _table(source: Source, key: str, found: object) -> Table:
    if not isinstance(found, dict):
        raise _refuse(source, key, found, "a table")
    return cast(Table, found)


def _only(source: Source, path: str, table: Table, allowed: Sequence[str]) -> None:
    for key in table:
        if key not in allowed:
            where = f"{path}.{key}" if path else key
            raise PolicyError(
                file=source.name, key=where, found=key, allowed=f"one of {', '.join(allowed)}"
            )


def _refuse(source: Source, key: str, found: object, allowed: str) -> PolicyError:
    text = "nothing" if found is None else repr(found)
    return PolicyError(file=source.name, key=key, found=text, allowed=allowed)
