"""Policy tables from TOML text, refused with file, key, what was found and what is allowed.

Sources are layered: what is shipped first, then the person's own file, whose tables are laid over
it key by key. An error names the file that set the offending key.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, cast

from lila_app.context.items import TOP_SCORE
from lila_app.context.policy import (
    LAYERS,
    TOTAL_RATIO,
    BlockPolicy,
    LayerPolicy,
    Lifetime,
    Policy,
    QueryPolicy,
    UseCase,
    WindowPolicy,
)
from lila_app.errors import PolicyError

BLOCKS = (
    "tools",
    "identity",
    "profile",
    "goals",
    "summary",
    "conversation",
    "memory",
    "graph",
    "documents",
    "state",
    "clock",
    "closing",
    "turn",
    "results",
)
"""Every block the assembler can render; a policy orders them and may leave none out."""

_LARGEST = 10_000_000
_USE_CASE_KEYS = (
    "budget",
    "reply_reserve",
    "deadline_ms",
    "tools",
    "identity",
    "closing",
    *LAYERS,
)


@dataclass(frozen=True, slots=True)
class Source:
    """One policy file: the name a person knows it by, and its text."""

    name: str
    text: str


Table = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class _Reader:
    """Reads checked values out of the merged table of one kind of policy file."""

    sources: tuple[tuple[str, Table], ...]
    table: Table
    path: tuple[str, ...] = ()

    def refuse(self, key: str, found: object, allowed: str) -> PolicyError:
        path = (*self.path, key) if key else self.path
        shown = "nothing" if found is None else _shown(found)
        return PolicyError(file=self.origin(path), key=".".join(path), found=shown, allowed=allowed)

    def origin(self, path: tuple[str, ...]) -> str:
        """The last source that sets `path`, else the last that sets a table around it."""
        for depth in range(len(path), 0, -1):
            for name, table in reversed(self.sources):
                if _lookup(table, path[:depth]) is not None:
                    return name
        return self.sources[0][0]

    def sub(self, key: str) -> _Reader:
        value = self.table.get(key)
        if not isinstance(value, Mapping):
            raise self.refuse(key, value, "a table")
        return _Reader(self.sources, cast("Table", value), (*self.path, key))

    def only(self, allowed: Sequence[str]) -> None:
        for key in self.table:
            if key not in allowed:
                close = get_close_matches(key, allowed, 1)
                hint = f" (did you mean {close[0]}?)" if close else ""
                raise self.refuse(key, "an unknown key", ", ".join(allowed) + hint)

    def integer(self, key: str, least: int, most: int = _LARGEST) -> int:
        value = self.table.get(key)
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
            raise self.refuse(key, value, f"a whole number from {least} to {most}")
        return value

    def text(self, key: str, default: str | None = None) -> str:
        value = self.table.get(key, default)
        if not isinstance(value, str):
            raise self.refuse(key, value, "a text in quotes")
        return value

    def names(self, key: str, allowed: Sequence[str] | None = None) -> tuple[str, ...]:
        value = self.table.get(key)
        if not isinstance(value, list) or not all(
            isinstance(v, str) for v in cast("list[object]", value)
        ):
            raise self.refuse(key, value, "a list of texts")
        found = tuple(cast("list[str]", value))
        for name in found:
            if allowed is not None and name not in allowed:
                raise self.refuse(key, name, "a list of " + ", ".join(allowed or ("nothing",)))
        if len(set(found)) != len(found):
            raise self.refuse(key, found, "a list without repetition")
        return found


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _lookup(table: Table, path: tuple[str, ...]) -> object:
    value: object = table
    for key in path:
        if not isinstance(value, Mapping) or key not in value:
            return None
        value = cast("Table", value)[key]
    return value


def _merged(base: Table, over: Table) -> dict[str, Any]:
    result = dict(base)
    for key, value in over.items():
        below = result.get(key)
        result[key] = (
            _merged(cast("Table", below), cast("Table", value))
            if isinstance(below, Mapping) and isinstance(value, Mapping)
            else value
        )
    return result


def _read(sources: Sequence[Source]) -> _Reader:
    parsed: list[tuple[str, Table]] = []
    merged: dict[str, Any] = {}
    for source in sources:
        try:
            table = tomllib.loads(source.text)
        except tomllib.TOMLDecodeError as error:
            raise PolicyError(
                file=source.name, key="", found=f"text that is not TOML ({error})", allowed="TOML"
            ) from error
        parsed.append((source.name, table))
        merged = _merged(merged, table)
    return _Reader(tuple(parsed), merged)


def parse_policy(
    allocation: Sequence[Source],
    blocks: Sequence[Source],
    prompts: Mapping[str, str],
    known_tools: Sequence[str] = (),
) -> Policy:
    """A whole policy from its two tables and the prompts they name. Raises PolicyError."""
    spending = _read(allocation)
    layers = spending.names("layers", LAYERS)
    if len(layers) != len(LAYERS):
        raise spending.refuse("layers", list(layers), "each of " + ", ".join(LAYERS))
    layout = _read(blocks)
    layout.only(("version", "breakpoints", "window", "block"))
    rows = _blocks(layout)
    fixed = ("version", "layers", "token_ratio", "query")
    return Policy(
        layers=layers,
        use_cases=tuple(
            _use_case(spending.sub(name), layers, sorted(prompts), known_tools)
            for name in sorted(spending.table)
            if name not in fixed
        ),
        blocks=rows,
        breakpoints=layout.names("breakpoints", [row.name for row in rows]),
        window=_window(layout.sub("window")),
        query=_query(spending.sub("query")),
        token_ratio=spending.integer("token_ratio", TOTAL_RATIO, 10 * TOTAL_RATIO),
        prompts=tuple(sorted(prompts.items())),
    )


def _use_case(
    row: _Reader, layers: Sequence[str], prompts: Sequence[str], known_tools: Sequence[str]
) -> UseCase:
    row.only(_USE_CASE_KEYS)
    shares = tuple(_layer(row.sub(name), name) for name in layers)
    total = sum(share.ratio for share in shares)
    if total not in (0, TOTAL_RATIO):
        raise row.refuse(
            "", f"ratios that sum to {total:,}", f"ratios that sum to {TOTAL_RATIO:,}, or all zero"
        )
    for key in ("identity", "closing"):
        if (name := row.text(key, "")) and name not in prompts:
            raise row.refuse(key, name, "one of the prompts " + ", ".join(prompts))
    return UseCase(
        name=row.path[-1],
        budget=row.integer("budget", 1),
        reply_reserve=row.integer("reply_reserve", 1),
        deadline_ms=row.integer("deadline_ms", 1),
        tools=row.names("tools", known_tools),
        identity=row.text("identity"),
        closing=row.text("closing", ""),
        layers=shares,
    )


def _layer(row: _Reader, name: str) -> LayerPolicy:
    row.only(("ratio", "cap", "floor"))
    return LayerPolicy(
        name=name,
        ratio=row.integer("ratio", 0, TOTAL_RATIO),
        cap=row.integer("cap", 0),
        floor=row.integer("floor", 0, TOP_SCORE),
    )


def _window(row: _Reader) -> WindowPolicy:
    row.only(("grid", "keep_turns", "idle_minutes", "keep_results"))
    return WindowPolicy(
        grid=row.integer("grid", 1),
        keep_turns=row.integer("keep_turns", 2),
        idle_minutes=row.integer("idle_minutes", 1),
        keep_results=row.integer("keep_results", 1),
    )


def _query(row: _Reader) -> QueryPolicy:
    row.only(("short_words", "leaning_words", "leaning"))
    return QueryPolicy(
        row.integer("short_words", 0), row.integer("leaning_words", 0), row.names("leaning")
    )


def _blocks(layout: _Reader) -> tuple[BlockPolicy, ...]:
    raw = layout.table.get("block")
    if not isinstance(raw, list):
        raise layout.refuse("block", raw, "an array of tables, one [[block]] a block")
    rows: list[BlockPolicy] = []
    for number, entry in enumerate(cast("list[object]", raw), 1):
        if not isinstance(entry, Mapping):
            raise layout.refuse("block", entry, "a table")
        rows.append(_block(_Reader(layout.sources, cast("Table", entry), (f"block[{number}]",))))
    names = [row.name for row in rows]
    if sorted(names) != sorted(BLOCKS):
        odd = sorted(set(BLOCKS).symmetric_difference(names)) or names
        raise layout.refuse("block", f"not exactly once: {', '.join(odd)}", ", ".join(BLOCKS))
    order = [row.lifetime for row in rows]
    if order != sorted(order):
        raise layout.refuse("block", " ".join(order), "lifetimes in order from L0 to L5")
    return tuple(rows)


def _block(row: _Reader) -> BlockPolicy:
    row.only(("name", "lifetime", "ceiling", "owner", "heading"))
    lifetime = row.text("lifetime")
    if lifetime not in Lifetime.__members__:
        raise row.refuse("lifetime", lifetime, ", ".join(Lifetime))
    return BlockPolicy(
        name=row.text("name"),
        lifetime=Lifetime(lifetime),
        ceiling=row.integer("ceiling", 0),
        owner=row.text("owner"),
        heading=row.text("heading", ""),
    )


def concerns(policy: Policy) -> tuple[str, ...]:
    """What is allowed but argues against itself, one sentence each, for `lila policy check`.

    A block that changes on every request may be placed above a breakpoint (a test does it, to
    prove that the measure can fail), and then nothing below it is ever read from a cache.
    """
    found: list[str] = []
    marks = [i for i, block in enumerate(policy.blocks) if block.name in policy.breakpoints]
    last = max(marks, default=-1)
    for i, block in enumerate(policy.blocks):
        if i < last and block.name in ("memory", "graph", "documents", "state", "clock", "turn"):
            found.append(
                f"block {block.name} changes on every request and stands above a breakpoint: "
                "nothing after it will be read from a cache"
            )
    for row in policy.use_cases:
        found.extend(
            f"{row.name}.{share.name}: a ratio of {share.ratio} with a cap of 0 can never be spent"
            for share in row.layers
            if share.ratio and not share.cap
        )
    return tuple(found)
