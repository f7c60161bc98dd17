"""Runs the command line as a person does: a process of its own, its streams read back."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).parents[2]


@dataclass(frozen=True, slots=True)
class Outcome:
    code: int
    out: str
    err: str

    @property
    def json(self) -> dict[str, Any]:
        return json.loads(self.out)


def environment(home: Path, **more: str) -> dict[str, str]:
    kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    return {
        **kept,
        "LILA_HOME": str(home),
        "PYTHONPATH": str(REPOSITORY),
        "LANG": "C.UTF-8",
        **more,
    }


def lila(home: Path, *args: str, stdin: bytes | None = b"", **env: str) -> Outcome:
    done = subprocess.run(
        [sys.executable, "-m", "lila_app", *args],
        input=stdin,
        capture_output=True,
        env=environment(home, **env),
        timeout=100,
        check=False,
    )
    return Outcome(done.returncode, done.stdout.decode(), done.stderr.decode())
