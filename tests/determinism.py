"""The same store, turn, policy and time give the same bytes in any process.

    python -m tests.determinism --processes 200

asks `lila ask --dry-run --json` in as many fresh processes, each with its own random hash seed,
locale, time zone and thread counts, and says how many different prompts came out (one).
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

NOW = "2026-11-29T19:00:00+00:00"
QUESTION = "Who has our spare key, and what does E7 on the boiler mean?"
LOCALES = ("C", "C.UTF-8", "POSIX", "en_US.UTF-8", "tr_TR.UTF-8", "de_DE.ISO-8859-1")
ZONES = ("UTC", "Asia/Kolkata", "America/St_Johns", "Pacific/Chatham", "Europe/Lisbon", "EST5EDT")
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def environment(home: Path, seed: int) -> dict[str, str]:
    """A random environment that must not matter."""
    chance = random.Random(seed)
    made = {
        **os.environ,
        "LILA_HOME": str(home),
        "PYTHONHASHSEED": str(chance.randrange(2**32)),
        "LC_ALL": chance.choice(LOCALES),
        "LANG": chance.choice(LOCALES),
        "TZ": chance.choice(ZONES),
    }
    return made | {name: str(chance.randint(1, 4)) for name in THREADS}


def prompt_hash(home: Path, seed: int, profile: str = "sample") -> str:
    """`bytes_sha256` of the prompt from one fresh process."""
    command = [sys.executable, "-m", "lila_app", "--profile", profile, "ask", "--dry-run"]
    finished = subprocess.run(
        [*command, "--json", "--now", NOW, QUESTION],
        env=environment(home, seed),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
    )
    if finished.returncode != 0:
        raise RuntimeError(finished.stderr.decode(errors="replace"))
    return str(json.loads(finished.stdout)["bytes_sha256"])


def prompt_hashes(home: Path, seeds: Sequence[int], workers: int = 2) -> Counter[str]:
    """How often each prompt came out; the first process alone, since it fills the profile."""
    first = prompt_hash(home, seeds[0])
    with ThreadPoolExecutor(workers) as pool:
        return Counter([first, *pool.map(lambda seed: prompt_hash(home, seed), seeds[1:])])


def main(arguments: Sequence[str]) -> int:
    """Run the processes; exit code 1 if more than one prompt came out."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--processes", type=int, default=200)
    parser.add_argument("--home", type=Path, help="a home that is filled already")
    chosen = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        found = prompt_hashes(chosen.home or Path(folder), range(chosen.processes))
    for digest, times in found.most_common():
        print(f"{digest}  {times} of {chosen.processes}")
    return 0 if len(found) == 1 else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
