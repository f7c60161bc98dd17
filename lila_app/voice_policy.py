"""`policies/voice.toml`, parsed: one frozen row for each of its tables.

It lies outside the room of the spoken assistant because `lila policy` shows and checks it, which
stands below that room.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import TypeVar, cast

from lila_app.context import Source
from lila_app.declared import Table, inner, loaded, number, only, refused

_MOST = 600_000
"""Ten minutes in milliseconds: no number of this table is larger."""


@dataclass(frozen=True, slots=True)
class ActivityRules:
    """When speech begins and ends; chances per mille, times in ms."""

    begins: int
    ends: int
    frames: int
    before: int
    shortest: int
    longest: int
    hangs: int


@dataclass(frozen=True, slots=True)
class EndpointRules:
    """When a silence ends a turn; ms, but for `attempts`."""

    speculate: int
    wait: int
    complete: int
    trailing: int
    thinking: int
    question: int
    reopen: int
    attempts: int
    speculable: int
    reading: int


@dataclass(frozen=True, slots=True)
class WordRules:
    """Words that say something about the turn they are in; lower case."""

    short: tuple[str, ...]
    stop: tuple[str, ...]
    trailing: tuple[str, ...]
    perhaps: tuple[str, ...]
    thinking: tuple[str, ...]
    agreeing: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class InterruptionRules:
    """What counts as speaking over LILA; chances and shares per mille, times in ms."""

    begins: int
    frames: int
    within: int
    tail: int
    speaker: int
    voice: int
    fade: int
    echo_share: int
    echo_window: int


@dataclass(frozen=True, slots=True)
class RecogniserRules:
    """How a turn is read and what is refused; `least_likely` by model, per mille."""

    least: int
    extra: int
    tokens: int
    tokens_per_second: int
    beam: int
    circles: int
    hotwords: int
    least_likely: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class ChunkRules:
    """How a reply is cut into pieces to speak: characters, words, ms."""

    first_clause: int
    first_words: int
    longest: int
    stalled: int


@dataclass(frozen=True, slots=True)
class Costs:
    """What work takes on the clock of a simulation, in ms."""

    recognise: int
    first_token: int
    per_token: int
    synthesise: int
    output_latency: int


@dataclass(frozen=True, slots=True)
class VoicePolicy:
    """The whole table; `endpoint` is already the fast one where that was asked for."""

    activity: ActivityRules
    endpoint: EndpointRules
    words: WordRules
    interruption: InterruptionRules
    recogniser: RecogniserRules
    chunks: ChunkRules
    simulation: Costs


_TABLES = {
    "activity": ActivityRules,
    "endpoint": EndpointRules,
    "words": WordRules,
    "interruption": InterruptionRules,
    "recogniser": RecogniserRules,
    "chunks": ChunkRules,
    "simulation": Costs,
}
_NEGATIVE = ("least_likely",)
_CHANCES = ("begins", "ends", "echo_share")
_COUNTS = ("frames", "beam", "tokens", "first_words", "longest", "least", "hangs")
"""Nothing works with none of these."""

T = TypeVar("T")


def load(sources: Sequence[Source], *, fast: bool = False) -> VoicePolicy:
    """The table, a person's own laid over the shipped one (which comes first).

    With `fast` the keys of `[fast]` take the place of those of `[endpoint]`. Raises `PolicyError`
    that names file and key.
    """
    merged: dict[str, dict[str, object]] = {}
    origin: dict[str, Source] = {}
    for source in sources:
        table = loaded(source)
        only(source, "", table, ("version", *_TABLES, "fast"))
        for name, found in table.items():
            if name == "version":
                number(source, name, found, (1, 1))
                continue
            given = inner(source, name, found)
            _lay_over(merged.setdefault(name, {}), _checked(source, name, given))
            origin[name] = source
    rows = {name: _row(kind, merged.get(name, {}), name, origin) for name, kind in _TABLES.items()}
    policy = VoicePolicy(**rows)  # pyright: ignore[reportArgumentType]
    quick = cast("Mapping[str, int]", merged.get("fast", {}))
    quicker = replace(policy, endpoint=replace(policy.endpoint, **quick))
    _consistent(policy, "endpoint", origin)
    _consistent(quicker, "fast" if "fast" in origin else "endpoint", origin)
    return quicker if fast else policy


def _consistent(policy: VoicePolicy, waits: str, origin: Mapping[str, Source]) -> None:
    """Refuse numbers that contradict each other; `waits` is the table the waits came from."""
    activity, endpoint = policy.activity, policy.endpoint
    if activity.ends > activity.begins:
        allowed = f"a number up to activity.begins, {activity.begins}"
        raise refused(origin["activity"], "activity.ends", activity.ends, allowed)
    shortest = min(endpoint.complete, endpoint.wait)
    if endpoint.speculate > shortest:
        allowed = f"a number up to the shortest wait, {shortest}"
        raise refused(origin[waits], f"{waits}.speculate", endpoint.speculate, allowed)


def _lay_over(table: dict[str, object], given: Mapping[str, object]) -> None:
    """Put keys over those of an earlier table, within tables of its own too."""
    for key, value in given.items():
        inside = table.get(key)
        if isinstance(inside, dict) and isinstance(value, dict):
            value = {**cast("dict[str, object]", inside), **cast("dict[str, object]", value)}
        table[key] = value


def _row(kind: type[T], given: Mapping[str, object], name: str, origin: Mapping[str, Source]) -> T:
    for field in fields(cast("type[ActivityRules]", kind)):
        if field.name not in given:
            source = origin.get(name, Source("policies/voice.toml", ""))
            raise refused(source, f"{name}.{field.name}", None, "a value")
    return kind(**given)


def _checked(source: Source, name: str, given: Table) -> dict[str, object]:
    kind = EndpointRules if name == "fast" else _TABLES[name]
    only(source, name, given, [field.name for field in fields(kind)])
    return {key: _value(source, name, key, value) for key, value in given.items()}


def _value(source: Source, name: str, key: str, value: object) -> object:
    path = f"{name}.{key}"
    if name == "words":
        return _words(source, path, value)
    if key in _NEGATIVE:
        table = inner(source, path, value)
        return {
            model: number(source, f"{path}.{model}", least, (-20_000, 0))
            for model, least in table.items()
        }
    least, most = int(key in _COUNTS), 1_000 if key in _CHANCES else _MOST
    return number(source, path, value, (least, most))


def _words(source: Source, path: str, value: object) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise refused(source, path, value, "a list of words")
    found = cast("list[object]", value)
    for word in found:
        if not isinstance(word, str) or not word.strip():
            raise refused(source, path, word, "words")
    return tuple(cast("str", word).casefold() for word in found)
