"""What each spoken turn took: one line of JSON a turn in the state folder, with no word of it.

All times are milliseconds of the loop's clock. The stages are differences between consecutive
milestones, each no earlier than the one before it, so that together they are the whole wait: work
that was hidden in a silence costs nothing, and only what the person waited for is counted.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import cast

from lila_app.errors import StorageError
from lila_app.paths import Home, make_private

STAGES = (
    "endpoint_wait",
    "stt_exposed",
    "first_token",
    "chunk_wait",
    "synthesis",
    "device",
    "voice_to_voice",
)
"""In the order of a turn; the last is the sum of the others."""

_BYTES = 1_000_000
"""A line takes about 500 bytes: 2,000 turns a file, and one file before it is kept."""


@dataclass(frozen=True, slots=True)
class Setup:
    """What a turn was taken with: the same words `lila voice stats` groups by."""

    policy: str
    model: str
    recogniser: str
    engine: str


@dataclass(slots=True)
class Trace:
    """A turn's times; None is what did not happen.

    `voiced` is when the person's last frame of speech came from the microphone (whose own delay
    nobody here knows), `endpoint` when they were taken to have finished, `recognise` and
    `recognised` the reading of the words that counted, `ask` when their reply was asked for,
    `audible` when its first sample left the speaker. `speculated` says that the reply was asked for
    before the endpoint, `asked` how many replies were begun.
    """

    turn: int
    revision: int = 0
    voiced: int | None = None
    endpoint: int | None = None
    recognise: int | None = None
    recognised: int | None = None
    ask: int | None = None
    first_token: int | None = None
    first_piece: int | None = None
    first_sound: int | None = None
    audible: int | None = None
    interrupted: int | None = None
    ended: int | None = None
    asked: int = 0
    speculated: bool = False
    failed: bool = False
    said: int = 0
    """Characters of the reply that were given to be spoken."""
    heard: int = 0
    """Characters of it that were heard; `said` where nobody interrupted it."""
    starved: int = 0
    """Milliseconds of silence within the reply, because its sound was late."""


Milestones = ("endpoint", "recognised", "first_token", "first_piece", "first_sound", "audible")


def stages(trace: Trace) -> dict[str, int]:
    """What each stage of `STAGES` took, in ms; empty where nothing was answered aloud."""
    if trace.voiced is None or trace.audible is None:
        return {}
    found: dict[str, int] = {}
    before = trace.voiced
    for stage, milestone in zip(STAGES, Milestones, strict=False):
        at = min(_at(trace, milestone) or before, trace.audible)
        found[stage] = max(0, at - before)
        before = max(before, at)
    found["voice_to_voice"] = trace.audible - trace.voiced
    return found


def _at(trace: Trace, milestone: str) -> int | None:
    return cast("int | None", getattr(trace, milestone))


Keep = Callable[[Trace], None]
"""Takes the trace of a turn that is over."""


class Traces:
    """The file of one home: lines are appended, and it is begun anew when it is full."""

    def __init__(self, home: Home, setup: Setup) -> None:
        self._path = folder(home) / "turns.jsonl"
        self._setup = setup

    def keep(self, trace: Trace) -> None:
        """Append a turn. A home that cannot be written loses the line, never the turn."""
        line = json.dumps({**asdict(self._setup), **asdict(trace)}, separators=(",", ":"))
        with contextlib.suppress(OSError, StorageError):
            make_private(self._path.parent)
            if self._path.is_file() and self._path.stat().st_size > _BYTES:
                self._path.replace(self._path.with_suffix(".1.jsonl"))
            flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT
            handle = os.open(self._path, flags, 0o600)
            with os.fdopen(handle, "a", encoding="utf-8") as file:
                file.write(line + "\n")


def folder(home: Home) -> Path:
    """Where the traces of a home lie."""
    return home.state_dir / "voice"


def kept(home: Home) -> Iterator[tuple[Setup, Trace]]:
    """The turns of a home, oldest first; lines of another LILA's form are left out."""
    for name in ("turns.1.jsonl", "turns.jsonl"):
        path = folder(home) / name
        if path.is_file():
            yield from _parsed(path.read_text(encoding="utf-8").splitlines())


def _parsed(lines: Iterable[str]) -> Iterator[tuple[Setup, Trace]]:
    for line in lines:
        try:
            found = json.loads(line)
            setup = Setup(**{field.name: str(found.pop(field.name)) for field in fields(Setup)})
            if all(each is None or isinstance(each, int) for each in found.values()):
                yield setup, Trace(**found)
        except (ValueError, TypeError, KeyError, AttributeError):
            continue
