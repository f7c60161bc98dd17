"""Policy tables from TOML text, refused with file, key, what was found and what is allowed.

Sources are layered: what is shipped first, then the person's own file, whose tables are laid over
it key by key. An error names the file that set the offending key.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from difflib import get_close_matches
from typing import Any, cast

from lila_app.context.items import TOP_SCORE
from lila_app.context.policy import (
    FORMER_PAST,
    LAYERS,
    TOTAL_RATIO,
    BlockPolicy,
    LayerPolicy,
    Lifetime,
    Policy,
    QueryPolicy,
    ToolsPolicy,
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

VERSION = 1
"""Of the form of both tables."""

_PLACED = {"conversation": Lifetime.L3, "turn": Lifetime.L4, "results": Lifetime.L5}
_OPTIONAL = ("rules", "closing", "past", "whole", "answers")
_PROMPTS = ("rules", "closing")
_UNHEADED = ("tools", "identity", "conversation", "closing", "results")
_VOLATILE = ("memory", "graph", "documents", "state", "clock", "closing", "turn", "results")
_LARGEST = 10_000_000
_GENERAL_KEYS = ("version", "layers", "token_ratio", "query", "tools")
_USE_CASE_KEYS = (
    "budget",
    "reply_reserve",
    "deadline_ms",
    "tools",
    "identity",
    "rules",
    "closing",
    "past",
    "whole",
    "answers",
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
        """The error for a value found (None: nothing there) under a key of this table."""
        return self.refuse_for(key, "nothing" if found is None else _shown(found), allowed)

    def refuse_for(self, key: str, found: str, allowed: str) -> PolicyError:
        """The same, with what is wrong in words; an empty key is the table itself."""
        path = (*self.path, key) if key else self.path
        return PolicyError(file=self.origin(path), key=".".join(path), found=found, allowed=allowed)

    def origin(self, path: tuple[str, ...]) -> str:
        """The last source that sets `path`, else the last that sets a table around it."""
        # The third [[block]] is called block[3]; it stands in the file that sets `block`.
        keys = tuple(key.partition("[")[0] for key in path)
        for depth in range(len(keys), 0, -1):
            for name, table in reversed(self.sources):
                if _lookup(table, keys[:depth]) is not None:
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
                raise self.refuse_for(
                    key, "an unknown key", ", ".join(allowed) + _guess(key, allowed)
                )

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

    def switch(self, key: str, *, default: bool) -> bool:
        value = self.table.get(key, default)
        if not isinstance(value, bool):
            raise self.refuse(key, value, "true or false")
        return value

    def names(self, key: str, allowed: Sequence[str] | None = None) -> tuple[str, ...]:
        value: object = self.table.get(key)
        entries = cast("list[object]", value) if isinstance(value, list) else [None]
        found = tuple(entry for entry in entries if isinstance(entry, str))
        if len(found) < len(entries):
            raise self.refuse(key, cast("object", value), "a list of texts")
        for name in found:
            if allowed is not None and name not in allowed:
                raise self.refuse(key, name, "a list of " + ", ".join(allowed or ("nothing",)))
        if len(set(found)) != len(found):
            raise self.refuse(key, found, "a list without repetition")
        return found


def _shown(value: object) -> str:
    if isinstance(value, int) and value.bit_length() > 200:
        return "a number of more than 60 digits"  # repr refuses the largest
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _guess(key: str, names: Sequence[str]) -> str:
    close = get_close_matches(key, names, 1)
    return f" (did you mean {close[0]}?)" if close else ""


def _lookup(table: Table, path: Sequence[str]) -> object:
    value: object = table.get(path[0])
    if len(path) == 1:
        return value
    return _lookup(cast("Table", value), path[1:]) if isinstance(value, Mapping) else None


def _merged(base: Table, over: Table) -> dict[str, Any]:
    result = dict(base)
    for key, value in over.items():
        below = result.get(key)
        if isinstance(below, Mapping) and isinstance(value, Mapping):
            value = _merged(cast("Table", below), cast("Table", value))
        result[key] = value
    return result


def _read(sources: Sequence[Source]) -> _Reader:
    parsed: list[tuple[str, Table]] = []
    merged: dict[str, Any] = {}
    for source in sources:
        try:
            table = tomllib.loads(source.text.removeprefix("\ufeff"))
        except (ValueError, RecursionError) as error:
            # Beyond syntax errors: numbers of thousands of digits, brackets nested as deep.
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
    spending.integer("version", VERSION, VERSION)
    layers = spending.names("layers", LAYERS)
    if len(layers) != len(LAYERS):
        raise spending.refuse("layers", list(layers), "each of " + ", ".join(LAYERS))
    layout = _read(blocks)
    layout.only(("version", "breakpoints", "window", "block"))
    layout.integer("version", VERSION, VERSION)
    rows = _blocks(layout)
    return Policy(
        layers=layers,
        use_cases=_use_cases(spending, layers, sorted(prompts), known_tools),
        blocks=rows,
        breakpoints=layout.names("breakpoints", [row.name for row in rows]),
        window=_window(layout.sub("window")),
        query=_query(spending.sub("query")),
        tools=_tools(spending.sub("tools")),
        token_ratio=spending.integer("token_ratio", TOTAL_RATIO, 10 * TOTAL_RATIO),
        prompts=tuple(sorted(prompts.items())),
    )


def _use_cases(
    spending: _Reader, layers: Sequence[str], prompts: Sequence[str], known_tools: Sequence[str]
) -> tuple[UseCase, ...]:
    names = sorted(name for name in spending.table if name not in _GENERAL_KEYS)
    _, shipped = spending.sources[0]
    for name in names:
        if not isinstance(spending.table[name], Mapping):
            known = [key for key in (*_GENERAL_KEYS, *names) if key != name]
            allowed = ", ".join(_GENERAL_KEYS) + ", or a table for a use case"
            raise spending.refuse_for(name, "an unknown key", allowed + _guess(name, known))
    return tuple(
        _use_case(
            spending.sub(name),
            layers,
            prompts,
            known_tools,
            # A misspelt name looks like a new use case with most of its keys missing.
            "" if name in shipped else _guess(name, [key for key in names if key in shipped]),
        )
        for name in names
    )


def _use_case(
    row: _Reader,
    layers: Sequence[str],
    prompts: Sequence[str],
    known_tools: Sequence[str],
    guess: str,
) -> UseCase:
    row.only(_USE_CASE_KEYS)
    for key in _USE_CASE_KEYS:
        if key not in row.table and key not in _OPTIONAL:
            raise row.refuse(key, None, "a value, as in every use case" + guess)
    shares = tuple(_layer(row.sub(name), name) for name in layers)
    total = sum(share.ratio for share in shares)
    if total not in (0, TOTAL_RATIO):
        raise row.refuse_for(
            "", f"ratios that sum to {total:,}", f"ratios that sum to {TOTAL_RATIO:,}, or all zero"
        )
    named = {"identity": row.text("identity")} | {key: row.text(key, "") for key in _PROMPTS}
    for key, name in named.items():
        if name not in prompts and (name or key not in _PROMPTS):
            raise row.refuse(key, name, "one of the prompts " + ", ".join(prompts))
    return UseCase(
        name=row.path[-1],
        budget=row.integer("budget", 1),
        reply_reserve=row.integer("reply_reserve", 1),
        deadline_ms=row.integer("deadline_ms", 1),
        tools=row.names("tools", known_tools),
        identity=named["identity"],
        rules=named["rules"],
        closing=named["closing"],
        layers=shares,
        past=row.integer("past", 0, 10_000) if "past" in row.table else FORMER_PAST,
        whole=row.switch("whole", default=False),
        answers=row.switch("answers", default=True),
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
    row.only([field.name for field in fields(QueryPolicy)])
    return QueryPolicy(
        short_words=row.integer("short_words", 0),
        leaning_words=row.integer("leaning_words", 0),
        leaning=row.names("leaning"),
        faint=row.names("faint") if "faint" in row.table else (),
        opening=row.names("opening") if "opening" in row.table else (),
        empty=row.names("empty") if "empty" in row.table else (),
        topic_words=row.integer("topic_words", 0) if "topic_words" in row.table else 0,
        back=row.integer("back", 1, 20) if "back" in row.table else 1,
    )


def _tools(row: _Reader) -> ToolsPolicy:
    row.only(("steps", "result_tokens", "deadline_ms"))
    return ToolsPolicy(
        steps=row.integer("steps", 1, 50),
        result_tokens=row.integer("result_tokens", 50),
        deadline_ms=row.integer("deadline_ms", 1),
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
    wrong = [name for name in dict.fromkeys([*BLOCKS, *names]) if names.count(name) != 1]
    wrong += [name for name in names if name not in BLOCKS and name not in wrong]
    if wrong:
        counted = ", ".join(f"{name} {names.count(name)} times" for name in wrong)
        raise layout.refuse_for("block", counted, "one each of " + ", ".join(BLOCKS))
    order = [row.lifetime for row in rows]
    if order != sorted(order):
        raise layout.refuse_for("block", " ".join(order), "lifetimes in order from L0 to L5")
    return tuple(rows)


def _block(row: _Reader) -> BlockPolicy:
    row.only(("name", "lifetime", "ceiling", "owner", "heading"))
    name, heading = row.text("name"), row.text("heading", "")
    lifetime = row.text("lifetime")
    places = [_PLACED[name]] if name in _PLACED else list(Lifetime)
    if lifetime not in places:
        raise row.refuse("lifetime", lifetime, ", ".join(places))
    if heading and name in _UNHEADED:
        raise row.refuse("heading", heading, f"none for {name}")
    return BlockPolicy(
        name=name,
        lifetime=Lifetime(lifetime),
        ceiling=row.integer("ceiling", 0),
        owner=row.text("owner"),
        heading=heading,
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
        if i <= last and block.name in _VOLATILE:
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
