"""The same inputs give the same bytes in any process, whatever surrounds it."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.context.specimen import specimen

ROOT = Path(__file__).parents[2]
LOCALES = ("C", "C.UTF-8", "POSIX", "de_DE.UTF-8", "tr_TR.UTF-8", "ja_JP.eucJP")
ZONES = ("UTC", "Pacific/Kiritimati", "America/St_Johns", "Asia/Kathmandu", "")


def in_a_fresh_process(number: int) -> str:
    chance = random.Random(number)
    surroundings = {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": str(ROOT),
        "PYTHONHASHSEED": str(chance.randint(0, 4_294_967_295)),
        "PYTHONIOENCODING": "utf-8",
        "LC_ALL": chance.choice(LOCALES),
        "TZ": chance.choice(ZONES),
        "OMP_NUM_THREADS": str(chance.randint(1, 8)),
        "OPENBLAS_NUM_THREADS": str(chance.randint(1, 8)),
    }
    done = subprocess.run(
        [sys.executable, "-m", "tests.context.specimen", str(number)],
        cwd=ROOT,
        env=surroundings,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.mark.slow
def test_twenty_fresh_processes_in_random_surroundings_agree_to_the_byte() -> None:
    with ThreadPoolExecutor(2) as pool:
        found = set(pool.map(in_a_fresh_process, range(20)))
    (only,) = found
    assert only.split(" ", 1)[0] == specimen().bytes_sha256


def test_the_specimen_leaves_nothing_to_chance_untried() -> None:
    context = specimen()
    reasons = {entry["reason"] for entry in context.record["dropped_items"]}
    assert {"budget", "below_floor", "compressed"} <= reasons
    assert context.cut is not None
    variants = {e["variant"] for row in context.record["layers"] for e in row["items"]}
    assert {"full", "half"} <= variants
