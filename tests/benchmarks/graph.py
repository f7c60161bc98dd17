"""How long the graph takes to open, to follow a change and to answer.

    python -m tests.benchmarks.graph               # 50,000 relations; filling takes a minute
    python -m tests.benchmarks.graph --relations 5000 --json

Wall time of one process; compare the lines of one run, not runs. What is counted as opening goes
from the closed store file to the graph layer's first answer, without the token counter, which every
prompt has loaded already.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from lila_app import policies
from lila_app.context import Policy
from lila_app.graph import loading
from lila_app.graph.mirror import Mirror
from lila_app.layers.graph import GraphLayer
from lila_app.layers.port import Question
from lila_app.paths import Home
from lila_app.storage import relations
from lila_app.storage.connection import Store
from tests.benchmarks import words
from tests.benchmarks.synthetic import BATCH

RELATIONS = 50_000
QUESTIONS, CHANGES = 200, 50
NOW = "2026-11-30T08:00:00+00:00"
PREDICATES = (
    "reports_to", "works_at", "lives_in", "friend_of", "sister_of", "married_to", "likes", "owns",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Times:
    """Milliseconds. `follow` is a question after one added relation, `reload` reading all again."""

    relations: int
    entities: int
    store_ms: float
    load_ms: float
    first_ms: float
    question_p50_ms: float
    question_p95_ms: float
    follow_p50_ms: float
    follow_p95_ms: float
    reload_p50_ms: float

    @property
    def open_ms(self) -> float:
        """From the file to the first answer."""
        return self.store_ms + self.load_ms + self.first_ms


def fill(path: Path, count: int) -> tuple[str, ...]:
    """Make a store of so many relations; the names of its entities."""
    write = words.writer(11)
    names = ("me", *dict.fromkeys(write.name() for _ in range(count // 3)))
    # A few entities have many relations, most have few: the person first of all.
    shares = [1 / (rank + 20) for rank in range(len(names))]
    with Store.open(path) as store:
        for start in range(0, count, BATCH):
            ends = write.random.choices(names, shares, k=2 * min(BATCH, count - start))
            with store.write() as connection:
                for place in range(0, len(ends), 2):
                    relations.add(
                        connection,
                        ends[place],
                        PREDICATES[place // 2 % len(PREDICATES)],
                        ends[place + 1],
                        valid_from=write.day() if place % 3 else None,
                        at=write.day(),
                    )
            print(f"\r  filling {start:,} of {count:,}", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    return names


def measure(path: Path, names: tuple[str, ...], policy: Policy) -> Times:
    """Open the store and ask."""
    write = words.writer(12)
    asked = [_question(write, names, number, policy) for number in range(QUESTIONS)]
    start = time.perf_counter()
    store = Store.open(path)
    opened = time.perf_counter()
    mirror = Mirror(store)
    layer = GraphLayer(mirror, len)
    mirror.warm()
    loaded = time.perf_counter()
    assert layer.offer(asked[0])
    first = time.perf_counter()
    questions = [_ms(lambda one=one: layer.offer(one)) for one in asked]
    followed, reloaded = [], []
    for number in range(CHANGES):
        relations.add(store, names[number], "friend_of", names[-1 - number], at=NOW)
        followed.append(_ms(mirror.current))
        with store.read() as connection:
            now = loading.stamp(connection)
            reloaded.append(_ms(lambda c=connection, n=now: loading.whole(c, n)))
    graph = mirror.current()
    store.close()
    return Times(
        len(graph.edges),
        len(graph.entities),
        *(1000 * (opened - start), 1000 * (loaded - opened), 1000 * (first - loaded)),
        *(_percentile(questions, 50), _percentile(questions, 95)),
        *(_percentile(followed, 50), _percentile(followed, 95)),
        _percentile(reloaded, 50),
    )


def _question(write: words.Writer, names: tuple[str, ...], number: int, policy: Policy) -> Question:
    one, other = write.random.choice(names[:500]), write.random.choice(names)
    text = (
        f"Who is {one}'s manager?",
        f"What do you know about {one} and {other}?",
        f"I met {other} yesterday, and we talked about my plans with {one}.",
        f"Where does my sister's husband live, and who does {other} report to?",
        f"Who was {one}'s friend in 2025?",
    )[number % 5]
    return Question(text, lambda: np.zeros(384, np.float32), None, None, None, NOW, policy)


def _ms(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return 1000 * (time.perf_counter() - start)


def _percentile(values: list[float], rank: int) -> float:
    return float(np.percentile(values, rank))


def main(arguments: list[str]) -> None:
    """Run the benchmark and print the table, or one JSON document."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json", action="store_true", help="one JSON document instead of a table")
    parser.add_argument("--relations", type=int, default=RELATIONS)
    chosen = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "graph.db"
        names = fill(path, chosen.relations)
        times = measure(path, names, policies.load(Home.at(Path(folder) / "none")).policy)
    if chosen.json:
        print(json.dumps({"schema_version": 1, **asdict(times), "open_ms": times.open_ms}))
        return
    print(f"{times.relations:,} relations between {times.entities:,} entities, ms")
    print(f"  from the file to the first answer   {times.open_ms:8.0f}")
    print(f"    open the store                    {times.store_ms:8.0f}")
    print(f"    load the graph                    {times.load_ms:8.0f}")
    print(f"    answer                            {times.first_ms:8.1f}")
    print(f"  a question, p50 / p95               {times.question_p50_ms:8.1f} / ", end="")
    print(f"{times.question_p95_ms:.1f}")
    print(f"  follow one change, p50 / p95        {times.follow_p50_ms:8.1f} / ", end="")
    print(f"{times.follow_p95_ms:.1f}")
    print(f"  read all again instead, p50         {times.reload_p50_ms:8.0f}", end="")
    print(f"  ({times.reload_p50_ms / times.follow_p50_ms:.0f} times as long)")


if __name__ == "__main__":
    main(sys.argv[1:])
