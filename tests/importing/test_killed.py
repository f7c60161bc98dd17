"""Twenty thousand messages, and a process that is killed again and again on the way."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from lila_app.storage import check, imports
from lila_app.storage.connection import Store
from tests.benchmarks import importing as benchmark
from tests.importing.support import bring, rows

MESSAGES = 20_000
KILLS = 16
LEAST_PER_SECOND = 2_000
"""Messages; 5,400 were measured on 2026-11-30."""
WORKING_MB = 60
"""What an import may need beyond an interpreter with an open store: SQLite's cache of 16 MB, a
window on the file, a batch."""
GROWTH_MB = 15
"""From the first quarter to the last: the cache still fills."""


@pytest.fixture(scope="module")
def export(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("export") / "conversations.json"
    benchmark.write(path, MESSAGES)
    return path


def lived(database: Path, path: Path, seconds: float) -> bool:
    """Let an import live so long past its first batch; True if it came to its end before."""
    command = [sys.executable, "-m", "tests.importing.child", str(database), str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        first = process.stdout.readline()
        time.sleep(seconds)
        process.send_signal(signal.SIGKILL)
        rest = process.stdout.read()
    return "done" in first + rest


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_killed_at_any_instant_it_goes_on_without_loss_or_double(
    export: Path, tmp_path: Path
) -> None:
    chance = random.Random(20261130)
    database = tmp_path / "data" / "a.db"
    before = kill = 0
    for kill in range(KILLS):
        ended = lived(database, export, chance.uniform(0.0, 0.15))
        with Store.open(database) as store:
            assert check.check(store).problems == (), f"after kill {kill}"
            row = imports.list_imports(store)[0]
            keys = rows(store, "select count(*) from imported")[0][0]
            said = "select sum(user != '') + sum(reply is not null) from turns"
            assert row.messages == keys == rows(store, said)[0][0], f"after kill {kill}"
            assert row.messages >= before, f"after kill {kill}"
            before = row.messages
        if ended:
            break
    assert kill + 1 >= 15, "it was over before it was killed fifteen times"
    with Store.open(database) as store, Store.open(tmp_path / "whole" / "b.db") as whole:
        bring(store, export)
        bring(whole, export)
        everything = (
            "select t.user, t.reply, t.at, t.external_ids, t.sequence, s.title, s.last_at "
            "from turns t join sessions s on s.id = t.session_id order by t.sequence"
        )
        assert rows(store, everything) == rows(whole, everything)
        assert imports.list_imports(store)[0].messages == MESSAGES
        assert check.check(store).problems == ()


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_thousands_of_messages_a_second_in_flat_memory(export: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tests.benchmarks.importing", "--messages", str(MESSAGES)]
    command += ["--folder", str(tmp_path), "--no-plain"]
    (tmp_path / f"conversations-{MESSAGES}.json").symlink_to(export)
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    found = json.loads(done.stdout)
    assert found["messages"] == MESSAGES
    # Of a core: on a machine that does nothing else it is also what a clock shows.
    assert found["per_processor_second"] >= LEAST_PER_SECOND, found
    first, *_, last = found["resident_mb_by_quarter"]
    assert last - first <= GROWTH_MB
    assert last - found["resident_mb_before"] <= WORKING_MB
    with Store.open(tmp_path / "importing.db") as store:
        assert check.check(store).problems == ()
