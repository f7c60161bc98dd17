"""Several processes on one file, and processes that die."""

from __future__ import annotations

import random
import time
from pathlib import Path

import pytest

from lila_app.storage import check, documents, memories, turns
from lila_app.storage.connection import Store
from tests.processes import child, outcome
from tests.storage.builders import session

_WRITE = """
import sys
from pathlib import Path
from lila_app.storage import memories, records, turns
from lila_app.storage.connection import Store
path, who, own, shared = Path(sys.argv[1]), *sys.argv[2:]
at = "2026-11-30T11:58:33Z"
with Store.open(path) as store:
    for count in range(40):
        for session in (own, shared):
            turn = turns.begin(store, session, f"{who} says {count}", use_case="chat", at=at)
            turns.finish(store, turn.id, f"{who} hears {count}", stopped=False, record_id=None,
                         model="m", at=at)
        memories.add(store, f"{who} knows {count}", at=at)
        print(records.next_id(store))
"""


def test_two_processes_write_at_once_and_lose_nothing(path: Path) -> None:
    with Store.open(path) as store:
        one, other, shared = session(store), session(store), session(store)
        writers = [
            child(_WRITE, str(path), "Anna", one, shared),
            child(_WRITE, str(path), "Ben", other, shared),
        ]
        seen = 0
        while any(writer.poll() is None for writer in writers):
            rows = turns.window(store, shared)
            assert len(rows) >= seen
            seen = len(rows)
            time.sleep(0.02)
        given = [line for writer in writers for line in outcome(writer).split()]
        assert len(set(given)) == len(given) == 80
        for who, own in (("Anna", one), ("Ben", other)):
            rows = turns.window(store, own)
            assert [row.user for row in rows] == [f"{who} says {n}" for n in range(40)]
            assert [row.reply for row in rows] == [f"{who} hears {n}" for n in range(40)]
        both = turns.window(store, shared)
        assert len(both) == 80
        for who in ("Anna", "Ben"):
            mine = [row.user for row in both if row.user.startswith(who)]
            assert mine == [f"{who} says {n}" for n in range(40)]
        assert len(memories.list_memories(store)) == 80
        assert check.check(store).problems == ()


_WORK = """
import sys
from pathlib import Path
import numpy as np
from lila_app.storage import documents, records, turns, vectors
from lila_app.storage.connection import Store
from lila_app.storage.documents import NewChunk
path, session = Path(sys.argv[1]), sys.argv[2]
at = "2026-11-30T11:58:33Z"
count = 0
store = Store.open(path)
print("ready", flush=True)
while True:
    count += 1
    turn = turns.begin(store, session, f"message {count} of {sys.argv[3]}", use_case="chat", at=at)
    print(turn.id, flush=True)
    turns.finish(store, turn.id, "reply " * 50, stopped=False, record_id=None, model="m", at=at)
    documents.upsert_document(
        store, path=f"/notes/{count % 3}.md", title="T", kind="markdown", sha256="", size=0,
        mtime=0, at=at,
        chunks=[NewChunk("H", f"chunk {n} of version {count // (n + 1)}", 5) for n in range(30)],
    )
    waiting = vectors.pending(store, "chunks", "one", 20)
    vectors.add(store, "chunks", waiting.ids,
                np.ones((len(waiting.ids), 384), np.float32), "one",
                generation=waiting.generation)
"""


@pytest.mark.slow
def test_a_process_killed_at_any_moment_leaves_a_whole_store(path: Path) -> None:
    rng = random.Random(7)
    with Store.open(path) as store:
        one = session(store)
    accepted: set[str] = set()
    for life in range(8):
        worker = child(_WORK, str(path), one, str(life))
        assert worker.stdout is not None
        assert worker.stdout.readline() == "ready\n"
        time.sleep(rng.uniform(0.02, 0.5))
        worker.kill()
        accepted |= set(worker.communicate()[0].split())
        with Store.open(path) as store:
            assert check.check(store).problems == ()
            assert accepted <= {turn.id for turn in turns.window(store, one)}
            for document in documents.list_documents(store):
                assert len(documents.list_chunks(store, document.id)) == 30
    assert len(accepted) > 8
