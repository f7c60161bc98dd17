"""The policy in force as tables a person can read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypedDict, cast

from lila_app.cli.output import answer, table
from lila_app.views import BoundaryInfo


class _Share(TypedDict):
    name: str
    ratio: int
    cap: int
    floor: int


class _UseCase(TypedDict):
    name: str
    budget: int
    reply_reserve: int
    deadline_ms: int
    tools: list[str]
    layers: list[_Share]


class _Block(TypedDict):
    name: str
    lifetime: str
    ceiling: int
    owner: str


class _Contract(TypedDict):
    kind: str
    minimum: int
    short_seconds: int
    long_seconds: int
    read: int
    write_short: int
    write_long: int
    as_of: str


class _Rule(TypedDict):
    least: int
    default: str | None


class _Caching(TypedDict):
    contracts: dict[str, _Contract]
    rule: _Rule


class _Policy(TypedDict):
    """The part of the policy that is shown; `--json` has all of it."""

    policy_hash: str
    files: list[str]
    use_cases: list[_UseCase]
    blocks: list[_Block]
    breakpoints: list[str]
    caching: _Caching
    voice: dict[str, dict[str, object]]


def print_policy(values: Mapping[str, object]) -> None:
    """Print what each use case gives its layers, and the order of the blocks."""
    policy = cast("_Policy", values)
    answer(f"policy {policy['policy_hash'][:16]}, from")
    for file in policy["files"]:
        answer(f"  {file}")
    for case in policy["use_cases"]:
        _print_case(case)
    answer("\nblocks, in the order they are sent (| ends a stretch that stays the same)")
    rows = [
        (
            block["lifetime"],
            block["name"],
            "|" if block["name"] in policy["breakpoints"] else "",
            block["ceiling"] or "",
            block["owner"],
        )
        for block in policy["blocks"]
    ]
    table(("", "block", "", "ceiling", "owner"), rows)
    _print_caching(policy["caching"])
    _print_voice(policy["voice"])


def print_boundaries(boundaries: Sequence[BoundaryInfo]) -> None:
    """Print where a model's answer feeds code, and what is true of it beyond its schema."""
    answer("boundaries: every answer is held to its schema in code, and to what stands below it")
    table(
        ("boundary", "schema", "job", "model"),
        [(one.name, one.schema, one.job, one.model) for one in boundaries],
    )
    for one in boundaries:
        for check in one.checks:
            answer(f"  {one.name}: {check}")
    answer("")


def _print_caching(caching: _Caching) -> None:
    rule = caching["rule"]
    answer(
        f"\ncaches: lifetimes by measured reuse (`lila cache report`); below {rule['least']} calls "
        f"{rule['default'] or 'not marked'}; multipliers of an uncached token's price"
    )
    rows = [
        (
            *(name, one["kind"], one["minimum"], one["short_seconds"], one["long_seconds"]),
            *(f"{one[key] / 10_000:g}" for key in ("read", "write_short", "write_long")),
            one["as_of"],
        )
        for name, one in caching["contracts"].items()
    ]
    table(("models", "cache", "from", "short s", "long s", "read", "short", "long", "as of"), rows)


def _print_voice(voice: Mapping[str, Mapping[str, object]]) -> None:
    answer("\nvoice: times in ms, chances per mille (`lila voice stats` shows what they cost)")
    rows = [
        (part, ", ".join(f"{key} {value}" for key, value in row.items() if isinstance(value, int)))
        for part, row in voice.items()
    ]
    table(("part", "numbers"), [row for row in rows if row[1]])


def _print_case(case: _UseCase) -> None:
    tools = ", ".join(case["tools"]) or "none"
    answer(
        f"\n{case['name']}: budget {case['budget']}, reply {case['reply_reserve']}, "
        f"deadline {case['deadline_ms']} ms, tools {tools}"
    )
    if not any(share["ratio"] for share in case["layers"]):
        answer("  takes none of the layers")
        return
    table(
        ("layer", "ratio", "cap", "floor"),
        [
            (share["name"], f"{share['ratio'] / 100:g} %", share["cap"], share["floor"])
            for share in case["layers"]
        ],
    )
