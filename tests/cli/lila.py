"""Runs the command line: in a process of its own as a person does, or quickly in this one."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from click.testing import CliRunner

from lila_app.cli.root import lila as command

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
        "PYTHON_KEYRING_BACKEND": "keyring.backends.fail.Keyring",
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


@contextmanager
def launched(
    home: Path, *command: str, stdin: int = subprocess.DEVNULL
) -> Iterator[subprocess.Popen[bytes]]:
    """Python with these arguments, to talk to while it runs; at the end it is waited for."""
    with subprocess.Popen(
        [sys.executable, *command],
        stdin=stdin,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(home),
    ) as process:
        yield process


def here(home: Path, *args: str, stdin: bytes = b"") -> Outcome:
    """The same within this process, without a terminal; imports are paid once."""
    done = CliRunner(env={"LILA_HOME": str(home)}).invoke(command, args, input=stdin)
    return Outcome(done.exit_code, done.stdout_bytes.decode(), done.stderr)
