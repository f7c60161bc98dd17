"""The gateway's policy table: who answers, and what each model can take."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import cast

from lila_app.context import Source
from lila_app.context.items import ModelLimits
from lila_app.errors import PolicyError
from lila_app.gateway.calls.rules import GROWING, NUMBERS, CallingRules, calling_rules
from lila_app.gateway.port import Job

JOBS: tuple[Job, ...] = ("reply", "summary", "extraction", "title")
"""What a model is needed for."""

_LARGEST = 10_000_000
_NUMBERS = {
    "window": (256, _LARGEST),
    "context_budget": (64, _LARGEST),
    "token_ratio": (10_000, 100_000),
}
_TOOLS = "tools"
_WORDS = ("as_of", "source")

Table = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class GatewayTable:
    """`chains` name models in the order they are asked, by job; `limits` are by name or pattern.

    `calling` says how long is waited, how often tried and when a model is left alone.
    """

    chains: Mapping[str, tuple[str, ...]]
    limits: Mapping[str, ModelLimits]
    calling: CallingRules

    def limits_of(self, model: str) -> ModelLimits:
        """The limits of `provider/model`: its own, else the provider's, else everybody's."""
        provider = model.partition("/")[0]
        for name in (model, f"{provider}/*"):
            if name in self.limits:
                return self.limits[name]
        return self.limits["*"]


def parse_gateway(sources: Sequence[Source]) -> GatewayTable:
    """Parse the shipped table with the person's laid over it, key by key.

    Raises `PolicyError` with file, key, what was found and what is allowed.
    """
    chains: dict[str, tuple[str, ...]] = {}
    limits: dict[str, dict[str, int]] = {}
    calling: dict[str, dict[str, int]] = {name: {} for name in NUMBERS}
    for source in sources:
        table = _loaded(source)
        _only(source, "", table, ("version", "jobs", "calling", "limits"))
        if table.get("version", 1) != 1:
            raise _refuse(source, "version", table["version"], "1")
        chains.update(_jobs(source, _table(source, table, "jobs", "")))
        for name, numbers in _calling(source, _table(source, table, "calling", "")).items():
            calling[name].update(numbers)
        for model, entry in _table(source, table, "limits", "").items():
            key = f'limits."{model}"'
            if not isinstance(entry, dict):
                raise _refuse(source, key, entry, "a table")
            limits.setdefault(model, {}).update(_limits(source, key, cast(Table, entry)))
    last = sources[-1]
    if missing := [job for job in JOBS if job not in chains]:
        raise _refuse(last, f"jobs.{missing[0]}", None, "a list of models")
    if "*" not in limits:
        raise _refuse(last, 'limits."*"', None, "a table with window and context_budget")
    return GatewayTable(
        chains,
        {name: _whole(last, name, found) for name, found in limits.items()},
        calling_rules(_complete(last, calling)),
    )


def _loaded(source: Source) -> Table:
    try:
        return tomllib.loads(source.text)
    except tomllib.TOMLDecodeError as error:
        raise PolicyError(
            file=source.name, key="", found=f"no TOML: {error}", allowed="a TOML table"
        ) from error


def _table(source: Source, table: Table, name: str, path: str) -> Table:
    found = table.get(name, {})
    if not isinstance(found, dict):
        raise _refuse(source, f"{path}{name}", found, "a table")
    return cast(Table, found)


def _jobs(source: Source, table: Table) -> dict[str, tuple[str, ...]]:
    _only(source, "jobs", table, JOBS)
    return {job: _chain(source, f"jobs.{job}", chain) for job, chain in table.items()}


def _chain(source: Source, key: str, found: object) -> tuple[str, ...]:
    names: list[object] = cast(list[object], found) if isinstance(found, list) else [found]
    chain = tuple(name for name in names if isinstance(name, str) and name.find("/") > 0)
    if not chain or len(chain) != len(names) or not isinstance(found, list):
        shown = ", ".join(repr(name) for name in names)
        allowed = 'a list of models such as ["ollama/llama3.2"]'
        raise _refuse(source, key, found=None, allowed=allowed, shown=shown)
    return chain


def _limits(source: Source, path: str, entry: Table) -> dict[str, int]:
    _only(source, path, entry, (*_NUMBERS, _TOOLS, *_WORDS))
    for word in _WORDS:
        if not isinstance(entry.get(word, ""), str | date):
            raise _refuse(source, f"{path}.{word}", entry[word], "a date or a text")
    found = _numbers(source, path, entry, _NUMBERS)
    if _TOOLS in entry:
        if not isinstance(entry[_TOOLS], bool):
            raise _refuse(source, f"{path}.{_TOOLS}", entry[_TOOLS], "true or false")
        found[_TOOLS] = int(entry[_TOOLS] is True)
    return found


def _calling(source: Source, table: Table) -> dict[str, dict[str, int]]:
    """The numbers of `[calling]` and of the tables in it, by dotted name."""
    inner = [name.partition(".")[2] for name in NUMBERS if "." in name]
    _only(source, "calling", table, (*NUMBERS["calling"], *inner))
    found = {"calling": _numbers(source, "calling", table, NUMBERS["calling"])}
    for name in inner:
        path = f"calling.{name}"
        entry = _table(source, table, name, "calling.")
        _only(source, path, entry, tuple(NUMBERS[path]))
        found[path] = _numbers(source, path, entry, NUMBERS[path])
    return found


def _complete(
    source: Source, calling: Mapping[str, Mapping[str, int]]
) -> Mapping[str, Mapping[str, int]]:
    for name, known in NUMBERS.items():
        if missing := [number for number in known if number not in calling[name]]:
            raise _refuse(source, f"{name}.{missing[0]}", None, "a number")
    for name, first, longest in GROWING:
        least, most = calling[name][first], calling[name][longest]
        if most < least:
            raise _refuse(source, f"{name}.{longest}", most, f"at least {first}, {least:,}")
    return calling


def _numbers(
    source: Source, path: str, entry: Table, allowed: Mapping[str, tuple[int, int]]
) -> dict[str, int]:
    numbers: dict[str, int] = {}
    for name, (least, most) in allowed.items():
        if name not in entry:
            continue
        value = entry[name]
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
            raise _refuse(source, f"{path}.{name}", value, f"a number from {least:,} to {most:,}")
        numbers[name] = value
    return numbers


def _whole(source: Source, model: str, found: Mapping[str, int]) -> ModelLimits:
    for name in ("window", "context_budget"):
        if name not in found:
            raise _refuse(source, f'limits."{model}".{name}', None, "a number of tokens")
    numbers = {name: value for name, value in found.items() if name != _TOOLS}
    return ModelLimits(**numbers, tools=bool(found.get(_TOOLS, False)))


def _only(source: Source, path: str, table: Table, allowed: Sequence[str]) -> None:
    for key in table:
        if key not in allowed:
            where = f"{path}.{key}" if path else key
            raise _refuse(source, where, key, f"one of {', '.join(allowed)}", shown=key)


def _refuse(
    source: Source, key: str, found: object, allowed: str, *, shown: str = ""
) -> PolicyError:
    text = shown or ("nothing" if found is None else repr(found))
    return PolicyError(file=source.name, key=key, found=text, allowed=allowed)
