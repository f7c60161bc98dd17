from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from lila_app.documents.index import ingest
from lila_app.documents.pending import embed_pending
from lila_app.embedding import Counter
from lila_app.storage import documents, vectors
from lila_app.storage.connection import Store
from lila_app.storage.search import search_text
from tests.documents.conftest import Digests

NOW = "2026-11-30T12:00:00+00:00"

CHILD = """
import os, sys
from pathlib import Path
from lila_app.documents.index import ingest
from lila_app.storage import documents, vectors
from lila_app.storage.connection import Store
from tests.documents.conftest import Digests

store, folder, where, left = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3], int(sys.argv[4])

def die_after(name, function):
    def counted(*arguments, **named):
        global left
        if name == where:
            left -= 1
            if left < 0:
                os.kill(os.getpid(), 9)
        return function(*arguments, **named)
    return counted

documents._insert_chunk = die_after("chunk", documents._insert_chunk)
documents.events.append = die_after("event", documents.events.append)
vectors._put = die_after("vector", vectors._put)
class Dying(Digests):
    embed = die_after("embed", Digests.embed)
ingest(Store.open(store), Dying(), len, [folder], now="2026-11-30T12:00:00+00:00")
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("where", "calls"),
    [("chunk", 0), ("chunk", 7), ("chunk", 23), ("event", 0), ("event", 3), ("embed", 0),
     ("embed", 1), ("vector", 0), ("vector", 17)],
)  # fmt: skip
def test_a_process_killed_while_ingesting_leaves_whole_documents(
    tmp_path: Path, counter: Counter, where: str, calls: int
) -> None:
    folder = tmp_path / "notes"
    folder.mkdir()
    for number in range(6):
        (folder / f"{number}.md").write_text(
            "\n".join(f"# H{n}\n\ndocument {number} section {n}\n" for n in range(5))
        )
    path = tmp_path / "default.db"
    died = subprocess.run(
        [sys.executable, "-c", CHILD, str(path), str(folder), where, str(calls)],
        cwd=Path(__file__).parents[2],
        check=False,
    )
    assert died.returncode == -9
    model = Digests()
    with Store.open(path) as store:
        whole = documents.list_documents(store)
        for row in whole:
            assert len(documents.list_chunks(store, row.id)) == row.chunks == 5
        with store.read() as connection:
            assert connection.execute("pragma integrity_check").fetchall() == [("ok",)]
            assert connection.execute("pragma foreign_key_check").fetchall() == []
            (chunks,) = connection.execute("select count(*) from chunks").fetchone()
        assert chunks == 5 * len(whole)
        assert len(search_text(store, "chunks", "section", k=99)) == chunks
        stored = vectors.models(store, "chunks").get("digests", 0)
        assert embed_pending(store, model) == chunks - stored
        report = ingest(store, model, counter, [folder], now=NOW)
        assert (report.unchanged, report.added) == (len(whole), 6 - len(whole))
        assert vectors.models(store, "chunks") == {"digests": 30}
