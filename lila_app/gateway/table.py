"""The gateway's policy table: who answers, and what each model can take."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import cast

from lila_app import declared
from lila_app.context import Source
from lila_app.context.items import ModelLimits
from lila_app.declared import Table
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
_TOOLS, _CAPABLE = _FLAGS = "tools", "capable"
_WORDS = ("as_of", "source")


@dataclass(frozen=True, slots=True)
class GatewayTable:
    """`chains` name models in the order they are asked, by job; `limits` are by name or pattern.

    `calling` says how long is waited, how often tried and when a model is left alone. `able` says
    by name or pattern whether a model may be asked for what feeds memory.
    """

    chains: Mapping[str, tuple[str, ...]]
    limits: Mapping[str, ModelLimits]
    calling: CallingRules
    able: Mapping[str, bool] = field(default_factory=dict[str, bool])

    def capable(self, model: str) -> bool:
        """Whether a model may be asked for summaries and facts; the most exact name decides."""
        for name in (model, f"{model.partition('/')[0]}/*", "*"):
            if name in self.able:
                return self.able[name]
        return False

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
        table = declared.loaded(source)
        declared.only(source, "", table, ("version", "jobs", "calling", "limits"))
        if table.get("version", 1) != 1:
            raise declared.refused(source, "version", table["version"], "1")
        chains.update(_jobs(source, declared.inner(source, "jobs", table.get("jobs", {}))))
        for name, numbers in _calling(
            source, declared.inner(source, "calling", table.get("calling", {}))
        ).items():
            calling[name].update(numbers)
        for model, entry in declared.inner(source, "limits", table.get("limits", {})).items():
            key = f'limits."{model}"'
            if not isinstance(entry, dict):
                raise declared.refused(source, key, entry, "a table")
            limits.setdefault(model, {}).update(_limits(source, key, cast(Table, entry)))
    last = sources[-1]
    if missing := [job for job in JOBS if job not in chains]:
        raise declared.refused(last, f"jobs.{missing[0]}", None, "a list of models")
    if "*" not in limits:
        raise declared.refused(last, 'limits."*"', None, "a table with window and context_budget")
    return GatewayTable(
        chains,
        {name: _whole(last, name, found) for name, found in limits.items()},
        calling_rules(_complete(last, calling)),
        {name: bool(found[_CAPABLE]) for name, found in limits.items() if _CAPABLE in found},
    )


def _jobs(source: Source, table: Table) -> dict[str, tuple[str, ...]]:
    declared.only(source, "jobs", table, JOBS)
    return {job: _chain(source, f"jobs.{job}", chain) for job, chain in table.items()}


def _chain(source: Source, key: str, found: object) -> tuple[str, ...]:
    names: list[object] = cast(list[object], found) if isinstance(found, list) else [found]
    chain = tuple(name for name in names if isinstance(name, str) and name.find("/") > 0)
    if not chain or len(chain) != len(names) or not isinstance(found, list):
        shown = ", ".join(repr(name) for name in names)
        allowed = 'a list of models such as ["ollama/llama3.2"]'
        raise declared.refused(source, key, found=None, allowed=allowed, shown=shown)
    return chain


def _limits(source: Source, path: str, entry: Table) -> dict[str, int]:
    declared.only(source, path, entry, (*_NUMBERS, *_FLAGS, *_WORDS))
    for word in _WORDS:
        if not isinstance(entry.get(word, ""), str | date):
            raise declared.refused(source, f"{path}.{word}", entry[word], "a date or a text")
    found = _numbers(source, path, entry, _NUMBERS)
    for flag in _FLAGS:
        if flag not in entry:
            continue
        if not isinstance(entry[flag], bool):
            raise declared.refused(source, f"{path}.{flag}", entry[flag], "true or false")
        found[flag] = int(entry[flag] is True)
    return found


def _calling(source: Source, table: Table) -> dict[str, dict[str, int]]:
    """The numbers of `[calling]` and of the tables in it, by dotted name."""
    inner = [name.partition(".")[2] for name in NUMBERS if "." in name]
    declared.only(source, "calling", table, (*NUMBERS["calling"], *inner))
    found = {"calling": _numbers(source, "calling", table, NUMBERS["calling"])}
    for name in inner:
        path = f"calling.{name}"
        entry = declared.inner(source, path, table.get(name, {}))
        declared.only(source, path, entry, tuple(NUMBERS[path]))
        found[path] = _numbers(source, path, entry, NUMBERS[path])
    return found


def _complete(
    source: Source, calling: Mapping[str, Mapping[str, int]]
) -> Mapping[str, Mapping[str, int]]:
    for name, known in NUMBERS.items():
        if missing := [number for number in known if number not in calling[name]]:
            raise declared.refused(source, f"{name}.{missing[0]}", None, "a number")
    for name, first, longest in GROWING:
        least, most = calling[name][first], calling[name][longest]
        if most < least:
            raise declared.refused(
                source, f"{name}.{longest}", most, f"at least {first}, {least:,}"
            )
    return calling


def _numbers(
    source: Source, path: str, entry: Table, allowed: Mapping[str, tuple[int, int]]
) -> dict[str, int]:
    numbers: dict[str, int] = {}
    for name, bounds in allowed.items():
        if name not in entry:
            continue
        numbers[name] = declared.number(source, f"{path}.{name}", entry[name], bounds)
    return numbers


def _whole(source: Source, model: str, found: Mapping[str, int]) -> ModelLimits:
    for name in ("window", "context_budget"):
        if name not in found:
            raise declared.refused(source, f'limits."{model}".{name}', None, "a number of tokens")
    numbers = {name: value for name, value in found.items() if name not in _FLAGS}
    return ModelLimits(**numbers, tools=bool(found.get(_TOOLS, False)))
