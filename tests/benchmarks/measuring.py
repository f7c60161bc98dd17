"""What one filled store costs to open and to ask, measured in a process of its own.

    python -m tests.benchmarks.measuring HOME        # prints JSON; assembly.py runs it

Wall time, except where it says processor time. Layers run beside each other, so their times
overlap and do not add up; each is measured from its start to its answer, waiting included.
"""

from __future__ import annotations

import json
import os
import resource
import sys
import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from itertools import pairwise
from pathlib import Path

import numpy as np

from lila_app.assistant import Lila, open_lila
from lila_app.composing import Ask, compose, specify
from lila_app.context import Context, Item, ModelLimits
from lila_app.embedding.minilm import MODEL_ID, MiniLM
from lila_app.layers.port import Layer, Question
from lila_app.moments import resolve
from lila_app.paths import shipped
from lila_app.resources import VOCABULARY
from lila_app.storage import relations
from tests.benchmarks.words import Asked, KnownVectors, questions

NOW = "2026-11-30T08:00:00+00:00"
LIMITS = ModelLimits(window=32_768, context_budget=8_000, token_ratio=10_500)
WARMING, QUESTIONS = 20, 200
_PACE_STEPS = 20_000
SLOWER = 1.25
"""How much longer than its quickest twentieth the fixed loop may take in a quiet moment."""
LAYERS = ("session", "conversation", "memory", "graph", "rag")
PARTS = ("prepare", "embedding", *LAYERS, "assemble")
"""`prepare` is policy, epoch and query; `embedding` runs beside the layers, which wait for it."""


@dataclass(frozen=True, slots=True)
class Spread:
    """Median and 95th percentile, milliseconds."""

    p50: float
    p95: float


@dataclass(frozen=True, slots=True)
class Opened:
    """Milliseconds of getting ready for a question, and mebibytes resident after each step.

    `open` is the store alone, `load` what searching needs (vectors, graph, token counter; not the
    embedding model, which is the same for every store), `first` the first question.
    """

    open_ms: float
    open_mb: float
    load_ms: float
    load_mb: float
    first_ms: float
    first_mb: float


@dataclass(frozen=True, slots=True)
class Turned:
    """Gather and assemble of a question: the whole, its processor time, and its parts.

    `others` is how many cores other processes used meanwhile, -1 where the system does not say.
    `pace` is a fixed loop timed between the questions: a virtual machine's cores may be half as
    fast from one second to the next, with nobody else to be seen on them. `quiet` are the questions
    before and after which the loop took at most a quarter longer than its quickest twentieth, as on
    cores that are idle for us; `quiet_share` of all were.
    """

    total: Spread
    quiet: Spread
    quiet_share: float
    others: float
    pace: Spread
    processor: Spread
    parts: dict[str, Spread]
    used_tokens: float
    candidates: float


@dataclass(frozen=True, slots=True)
class Result:
    """One store, without the query's embedding and with it; resident before anything was open."""

    before_mb: float
    opened: Opened
    embedder_ms: float
    embedder_mb: float
    plain: Turned
    embedded: Turned


@dataclass(slots=True)
class _Clock:
    """When the parts of one question began and ended, in seconds."""

    spans: dict[str, tuple[float, float]] = field(default_factory=dict[str, tuple[float, float]])

    @contextmanager
    def of(self, name: str) -> Generator[None]:
        """Time a part."""
        start = time.perf_counter()
        yield
        self.spans[name] = (start, time.perf_counter())

    def ms(self, name: str) -> float:
        """How long a part took, 0 if it was not done."""
        start, end = self.spans.get(name, (0.0, 0.0))
        return 1000 * (end - start)


@dataclass(frozen=True, slots=True)
class _TimedLayer:
    layer: Layer
    clock: _Clock

    @property
    def name(self) -> str:
        return self.layer.name

    @property
    def source(self) -> str:
        return self.layer.source

    def offer(self, question: Question) -> tuple[Item, ...]:
        with self.clock.of(self.name):
            return self.layer.offer(question)


@dataclass(frozen=True, slots=True)
class _Asked:
    parts: dict[str, float]
    total: float
    processor: float
    context: Context


class _Asker:
    """Asks an open LILA and times the parts."""

    def __init__(self, lila: Lila, clock: _Clock) -> None:
        self._resources = lila._resources
        self._clock = clock
        self._session = lila.sessions.latest()
        # A cached property: what is put there before it is asked for takes its place.
        timed = tuple(_TimedLayer(layer, clock) for layer in self._resources.layers)
        self._resources.__dict__["layers"] = timed

    def __call__(self, text: str, *, write: bool = False) -> _Asked:
        resources, clock = self._resources, self._clock
        assert self._session is not None
        at = resolve(NOW, resources.clock)
        ask = Ask(
            text=text,
            use_case="chat",
            session_id=self._session.id,
            now=at,
            model="benchmark/none",
            limits=LIMITS,
            budget=None,
            before_sequence=None,
            deadline=False,
        )
        clock.spans.clear()
        busy, start = time.process_time(), time.perf_counter()
        specification = specify(resources, ask, write=write)
        with clock.of("assemble"):
            context = compose(resources, specification)
        total = 1000 * (time.perf_counter() - start)
        processor = 1000 * (time.process_time() - busy)
        parts = {name: clock.ms(name) for name in PARTS}
        parts["prepare"] = 1000 * (min(clock.spans[name][0] for name in LAYERS) - start)
        return _Asked(parts, total, processor, context)


def measure(home: Path) -> Result:
    """Open, load, ask; then the same questions with the real model's time for the query."""
    before = resident()
    names = _names(home)
    asked = questions(WARMING + QUESTIONS, names)
    clock = _Clock()
    opened, plain = _plain(home, asked, clock)
    model = MiniLM(shipped("assets") / VOCABULARY)
    held, start = resident(), time.perf_counter()
    model.embed(["ready"])
    embedder_ms = 1000 * (time.perf_counter() - start)
    embedder_mb = resident() - held

    def paid(texts: Sequence[str]) -> None:
        with clock.of("embedding"):
            model.embed(texts)

    with open_lila(home, embedder=KnownVectors(asked, MODEL_ID, paid)) as lila:
        lila._resources.ready()
        embedded = _turned(_Asker(lila, clock), asked)
    return Result(before, opened, embedder_ms, embedder_mb, plain, embedded)


def _plain(home: Path, asked: list[Asked], clock: _Clock) -> tuple[Opened, Turned]:
    marks = [(time.perf_counter(), resident())]

    def mark() -> None:
        marks.append((time.perf_counter(), resident()))

    with open_lila(home, embedder=KnownVectors(asked, MODEL_ID)) as lila:
        mark()
        lila._resources.ready()
        mark()
        ask = _Asker(lila, clock)
        ask(asked[-1].text, write=True)
        mark()
        turned = _turned(ask, asked)
    times = [1000 * (after[0] - before[0]) for before, after in pairwise(marks)]
    held = [mb for _, mb in marks[1:]]
    return Opened(times[0], held[0], times[1], held[1], times[2], held[2]), turned


def _names(home: Path) -> tuple[str, ...]:
    with open_lila(home) as lila:
        return tuple(entity.name for entity in relations.all_entities(lila._resources.store))


def _turned(ask: _Asker, asked: list[Asked]) -> Turned:
    for one in asked[:WARMING]:
        ask(one.text)
    start, busy, own = time.perf_counter(), _busy(), time.process_time()
    rows: list[_Asked] = []
    paces = [_pace()]
    for one in asked[WARMING:]:
        rows.append(ask(one.text))
        paces.append(_pace())
    elapsed = time.perf_counter() - start
    others = (_busy() - busy - (time.process_time() - own)) / elapsed if busy >= 0 else -1.0
    totals = [row.total for row in rows]
    quiet = undisturbed(totals, paces)
    return Turned(
        spread(totals),
        spread(quiet) if quiet else Spread(float("nan"), float("nan")),
        len(quiet) / len(totals),
        others,
        spread(paces),
        spread([row.processor for row in rows]),
        {name: spread([row.parts[name] for row in rows]) for name in PARTS},
        float(np.median([row.context.record["token_budget"]["used"] for row in rows])),
        float(np.median([_candidates(row.context) for row in rows])),
    )


def undisturbed(totals: Sequence[float], paces: Sequence[float]) -> list[float]:
    """The times with a good pace before and after; `paces` holds one more than there are."""
    good = SLOWER * float(np.percentile(paces, 5))
    around = zip(totals, pairwise(paces), strict=True)
    return [total for total, two in around if max(two) <= good]


def _pace() -> float:
    """Milliseconds of one and the same work: 1.0 where this was written, in a good minute."""
    start, total = time.perf_counter(), 0
    for number in range(_PACE_STEPS):
        total += number * number
    return 1000 * (time.perf_counter() - start)


def _candidates(context: Context) -> int:
    record = context.record
    included = sum(len(layer["items"]) for layer in record["layers"])
    return included + len(record["dropped_items"])


def spread(values: list[float]) -> Spread:
    """Of some milliseconds."""
    return Spread(float(np.percentile(values, 50)), float(np.percentile(values, 95)))


def _busy() -> float:
    """Seconds all cores together have worked since the machine started, -1 if it does not say."""
    file = Path("/proc/stat")
    if not file.exists():
        return -1.0
    ticks = [int(field) for field in file.read_text().splitlines()[0].split()[1:9]]
    idle, waiting = ticks[3], ticks[4]
    return (sum(ticks) - idle - waiting) / os.sysconf("SC_CLK_TCK")


def resident() -> float:
    """Memory of this process in MiB: what it holds now, or, where that cannot be read, its peak."""
    file = Path("/proc/self/statm")
    if file.exists():
        return int(file.read_text().split()[1]) * resource.getpagesize() / 2**20
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (2**20 if sys.platform == "darwin" else 2**10)


if __name__ == "__main__":
    print(json.dumps(asdict(measure(Path(sys.argv[1])))))
