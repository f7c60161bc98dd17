"""What importing a million messages costs, and how much of it is SQLite's.

    python -m tests.benchmarks.importing --messages 1000000 --folder /tmp/importing

Writes a ChatGPT export of invented conversations, streams it into a new store in a process of its
own whose resident memory is sampled, and puts the same messages into one plain table without index,
log or full text, in the same run. Prints JSON. The folder is left as it is.
"""

from __future__ import annotations

import argparse
import json
import sys
import threading
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path

from lila_app.moments import stored
from lila_app.storage import driver

PER_CONVERSATION = 20
SAMPLE_SECONDS = 0.5
ROWS = 500
"""Rows a transaction of the plain table, as many as an import's."""


def texts(count: int) -> Iterator[str]:
    """Messages of one to six sentences, the same every time."""
    from tests.benchmarks.words import writer

    write = writer(17)
    for number in range(count):
        yield write.text(1 + number % 6, number // PER_CONVERSATION % 500)


def conversations(messages: int) -> Iterator[dict[str, object]]:
    """A ChatGPT export of so many messages, conversation by conversation."""
    said = texts(messages)
    for first in range(0, messages, PER_CONVERSATION):
        number = first // PER_CONVERSATION
        begun = 1_600_000_000 + number * 3_000
        nodes: dict[str, object] = {}
        before = ""
        for place in range(min(PER_CONVERSATION, messages - first)):
            id = f"m{number}-{place}"
            nodes[id] = {
                "id": id,
                "parent": before or None,
                "children": [],
                "message": {
                    "id": id,
                    "author": {"role": "assistant" if place % 2 else "user"},
                    "create_time": begun + place * 60.5,
                    "content": {"content_type": "text", "parts": [next(said)]},
                    "recipient": "all",
                    "metadata": {},
                },
            }
            before = id
        yield {
            "title": f"Conversation {number}",
            "create_time": begun,
            "conversation_id": f"c{number}",
            "current_node": before,
            "mapping": nodes,
        }


def write(path: Path, messages: int) -> None:
    """Write the export, in one list as real ones are."""
    partial = path.with_suffix(".partial")
    with partial.open("w", encoding="utf-8") as file:
        for number, one in enumerate(conversations(messages)):
            file.write("[" if not number else ",\n")
            json.dump(one, file)
        file.write("]")
    partial.replace(path)


def plain(path: Path, messages: int) -> float:
    """Messages a second into one table, in transactions as large, with the same settings."""
    path.unlink(missing_ok=True)
    path.touch()
    connection = driver.connect(path, "rw")
    connection.execute("pragma journal_mode = wal")
    connection.execute("create table said (id integer primary key, at text, text text)")
    rows = [(None, "2026-11-30T08:00:00+00:00", text) for text in texts(messages)]
    began = time.perf_counter()
    for start in range(0, len(rows), ROWS):
        connection.execute("begin immediate")
        connection.executemany("insert into said values (?, ?, ?)", rows[start : start + ROWS])
        connection.execute("commit")
    seconds = time.perf_counter() - began
    connection.close()
    return len(rows) / seconds


def resident() -> float:
    """Mebibytes of this process."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1]) / 1024
    return 0.0


class Sampler:
    """Resident memory and messages over time."""

    def __init__(self) -> None:
        self.samples: list[tuple[float, float]] = []
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._sample, daemon=True)

    def __enter__(self) -> Sampler:
        self._began = time.perf_counter()
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    def _sample(self) -> None:
        while not self._stop.wait(SAMPLE_SECONDS):
            self.samples.append((time.perf_counter() - self._began, resident()))

    def quarter(self, number: int) -> float:
        """The largest of a quarter of the samples."""
        size = max(1, len(self.samples) // 4)
        return max(mb for _, mb in self.samples[number * size : (number + 1) * size] or [(0, 0.0)])


def measure(export: Path, database: Path) -> dict[str, object]:
    """Import into a new store; rates of each tenth, memory of each quarter."""
    from zoneinfo import ZoneInfo

    from lila_app.importing.running import Choice, Watch, run
    from lila_app.storage.connection import Store

    rates: list[tuple[float, int]] = []

    def progress(_done: int, _total: int, label: str) -> None:
        rates.append((time.perf_counter(), int(label.split(" ")[0].replace(",", ""))))

    watch = Watch(progress, lambda _: None, lambda: False, lambda: stored(datetime.now(UTC)))
    with Store.open(database) as store, Sampler() as memory:
        before = resident()
        began = time.process_time()
        outcome = run(store, export, Choice(ZoneInfo("UTC")), watch)
        spent = time.process_time() - began
        wal = database.with_name(database.name + "-wal").stat().st_size
    step = max(1, len(rates) // 10)
    tenths = [*rates[::step], rates[-1]]
    return {
        "messages": outcome.messages,
        "sessions": outcome.sessions,
        "seconds": round(outcome.seconds, 1),
        "per_second": round(outcome.messages / outcome.seconds),
        # Of one core, whatever else runs on the machine.
        "per_processor_second": round(outcome.messages / spent),
        "per_second_by_tenth": [
            round((count - earlier_count) / (at - earlier))
            for (earlier, earlier_count), (at, count) in pairwise(tenths)
            if at > earlier
        ],
        "resident_mb_before": round(before),
        "resident_mb_by_quarter": [round(memory.quarter(number)) for number in range(4)],
        "store_mb": round(database.stat().st_size / 2**20),
        "wal_mb": round(wal / 2**20, 1),
    }


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--messages", type=int, default=20_000)
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--no-plain", action="store_true")
    chosen = parser.parse_args()
    chosen.folder.mkdir(parents=True, exist_ok=True)
    export = chosen.folder / f"conversations-{chosen.messages}.json"
    if not export.exists():
        write(export, chosen.messages)
    database = chosen.folder / "importing.db"
    for old in chosen.folder.glob("importing.db*"):
        old.unlink()
    found = measure(export, database)
    found["export_mb"] = round(export.stat().st_size / 2**20)
    if not chosen.no_plain:
        rate = plain(chosen.folder / "plain.db", min(chosen.messages, 100_000))
        found["plain_per_second"] = round(rate)
        found["times_plain"] = round(rate / float(str(found["per_second"])), 1)
    json.dump(found, sys.stdout, indent=2)
    print()


if __name__ == "__main__":
    main()
