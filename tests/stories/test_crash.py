"""Fifty processes killed in the middle of turns and ingests."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from lila_app.paths import Home
from lila_app.storage import calls, check, memories, turns
from lila_app.storage.connection import Store

KILLS = 50


def killed(home: Path, folder: Path, run: str, after: float) -> list[str]:
    """Let a process live `after` seconds past its first promise; returns what it promised."""
    command = [sys.executable, "-m", "tests.stories.crash_child", str(home), str(folder), run]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        first = process.stdout.readline()
        time.sleep(after)
        process.send_signal(signal.SIGKILL)
        rest = process.stdout.read()
    assert process.returncode == -signal.SIGKILL, "it ended by itself"
    return [line for line in (first + rest).split("\n") if line.startswith("message ")]


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_fifty_kills_leave_a_clean_store_with_every_accepted_message(tmp_path: Path) -> None:
    chance = random.Random(20261130)
    home, folder = tmp_path / "home", tmp_path / "documents"
    folder.mkdir()
    promised: list[str] = []
    for kill in range(KILLS):
        # A last line may be cut off by the kill itself; whole lines are promises.
        promised += killed(home, folder, f"run{kill}", chance.uniform(0.0, 1.0))
        with Store.open(Home.at(home).profile_db("default")) as store:
            report = check.check(store)
            assert report.problems == (), f"after kill {kill}"
            with store.read() as connection:
                kept = {row[0] for row in connection.execute("select user from turns")}
        whole = [text for text in promised if text.endswith("larch planks")]
        assert set(whole) <= kept, f"after kill {kill}"
    assert len(promised) >= KILLS


@pytest.mark.slow
def test_a_kill_between_a_call_and_its_return_leaves_a_clean_store(tmp_path: Path) -> None:
    home = tmp_path / "home"
    command = [sys.executable, "-m", "tests.stories.tool_child", str(home)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "Remember “They keep bees”?\n"
        process.send_signal(signal.SIGKILL)
    with Store.open(Home.at(home).profile_db("default")) as store:
        assert check.check(store).problems == ()
        (turn,) = turns.window(store, "s1")
        (call,) = calls.of_turns(store, [turn.id])
        assert memories.list_memories(store) == []
    assert (turn.user, turn.reply) == ("I keep bees", None)
    assert (call.name, call.returned) == ("memory_add", None)
