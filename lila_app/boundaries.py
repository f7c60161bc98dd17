"""Every place where a model's answer feeds code, declared in one list.

A boundary is a job, the schema of its answer (assets/schemas/), what the answer feeds and the truth
checks that a schema cannot express. Arguments of tools are boundaries too; their schemas are the
tools' own definitions (assets/schemas/tool-*.json).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import cast

from lila_app import truths
from lila_app.gateway.port import Job
from lila_app.gateway.strict_schema import lint
from lila_app.gateway.structured import Form
from lila_app.paths import read_text, shipped
from lila_app.truths import Check, Material

TOOL_PREFIX = "tool-"
"""Files of tools' definitions begin with it; the rest of the name is the tool's."""


@dataclass(frozen=True, slots=True)
class Boundary:
    """One place where a model's answer feeds code; `schema` is a file of assets/schemas."""

    name: str
    job: Job
    schema: str
    feeds: str
    checks: tuple[Check, ...]

    def form(self, material: Material) -> Form:
        """What an answer drawn from this material must be."""
        bound = tuple(partial(_bound, check, material) for check in self.checks)
        return Form(self.name, load(self.schema), bound)

    @property
    def checked(self) -> tuple[str, ...]:
        """The truth checks in words."""
        return tuple((check.__doc__ or "").partition("\n")[0] for check in self.checks)


SUMMARY = Boundary(
    "conversation summary",
    "summary",
    "conversation-summary",
    "the summary of a cut, above the conversation",
    (
        truths.ids_exist,
        truths.every_turn_is_named,
        truths.names_occur,
        truths.texts_say_something,
        truths.shorter_than_its_source,
    ),
)
EXTRACTION = Boundary(
    "memory extraction",
    "extraction",
    "memory-extraction",
    "candidates for memory, each with the words that say it",
    (
        truths.ids_exist,
        truths.quotes_occur,
        truths.values_occur,
        truths.dates_are_real,
        truths.texts_say_something,
    ),
)
TITLE = Boundary(
    "session title",
    "title",
    "session-title",
    "the title of a session in lists",
    (truths.fits_a_list, truths.names_occur),
)
RUBRIC = Boundary(
    "restraint rubric",
    "extraction",
    "restraint-rubric",
    "what a briefing says, and whether it says anything",
    (
        truths.ids_exist,
        truths.quotes_occur,
        truths.each_judged_once,
        truths.verdicts_follow,
        truths.texts_say_something,
    ),
)
DECLARED = (SUMMARY, EXTRACTION, TITLE, RUBRIC)


def every() -> tuple[Boundary, ...]:
    """The declared boundaries, then the arguments of every tool by name."""
    return (*DECLARED, *(arguments(name) for name in tool_names()))


@lru_cache(maxsize=1)
def tool_names() -> tuple[str, ...]:
    """The tools there are definitions of, sorted; every turn asks, and they are shipped."""
    found = (shipped("assets") / "schemas").glob(f"{TOOL_PREFIX}*.json")
    return tuple(sorted(path.stem.removeprefix(TOOL_PREFIX) for path in found))


@lru_cache(maxsize=64)
def load(schema: str) -> Mapping[str, object]:
    """A schema as it is sent; which JSON Schema it is written in is not part of that."""
    text = read_text(shipped("assets") / "schemas" / f"{schema}.json")
    found = cast("dict[str, object]", json.loads(text))
    return {key: value for key, value in found.items() if key != "$schema"}


@lru_cache(maxsize=64)
def definition(tool: str) -> str:
    """A tool as it stands in the prompt: canonical JSON with name, description and parameters."""
    parameters = dict(load(f"{TOOL_PREFIX}{tool}"))
    described = {"name": tool, "description": parameters.pop("description")}
    whole = {**described, "parameters": parameters}
    return json.dumps(whole, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def unsayable(boundary: Boundary) -> tuple[str, ...]:
    """What in a boundary's schema strict modes cannot express; empty as shipped."""
    return tuple(f"{boundary.schema}.json: {said}" for said in lint(load(boundary.schema)))


def arguments(tool: str) -> Boundary:
    """What a tool is called with; whether an id or a goal exists, the tool finds out itself."""
    return Boundary(
        f"arguments of {tool}",
        "reply",
        f"{TOOL_PREFIX}{tool}",
        f"the tool {tool}",
        (truths.texts_say_something,),
    )


def _bound(check: Check, material: Material, answer: Mapping[str, object]) -> str | None:
    return check(answer, material)
