"""The breaker's state is the store's: processes at half-open send one probe between them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from lila_app.costs.accounts import StoreLedger
from lila_app.gateway.calls.breaker import Admission, BreakerRules, Breakers
from lila_app.gateway.prices import Prices
from lila_app.storage.connection import Store

RULES = BreakerRules(
    failures=3,
    open_seconds=30,
    longest_seconds=240,
    rate_seconds=20,
    spend_seconds=3_600,
    probe_seconds=600,
)
NOW = 1_796_000_000.0

CHILD = """
import sys, threading
from pathlib import Path
from lila_app.storage.connection import Store
from tests.assistant.test_breaker_processes import NOW, breakers

with Store.open(Path(sys.argv[1])) as store:
    ours = breakers(store, NOW + 31)
    passed = []
    print("ready", flush=True)
    sys.stdin.readline()
    ask = lambda: passed.append(ours.admit("a/b#k"))
    threads = [threading.Thread(target=ask) for _ in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print(sum(one.passes for one in passed), flush=True)
"""


def breakers(store: Store, now: float) -> Breakers:
    return Breakers(StoreLedger(store, Prices()), RULES, lambda: now)


def test_twenty_callers_in_four_processes_send_one_probe(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    with Store.open(path) as store:
        for _ in range(3):
            breakers(store, NOW).failed("a/b#k", Admission(passes=True), "ill", reason="Down")
        assert not breakers(store, NOW + 29).admit("a/b#k").passes
    children = [
        subprocess.Popen(
            [sys.executable, "-c", CHILD, str(path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(4)
    ]
    for child in children:
        assert child.stdout is not None and child.stdout.readline() == "ready\n"
    for child in children:
        assert child.stdin is not None
        child.stdin.write("go\n")
        child.stdin.flush()
    passed = [int(child.communicate(timeout=60)[0]) for child in children]
    assert sorted(passed) == [0, 0, 0, 1]
