"""Programs in interpreters of their own, with the repository importable."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]


def child(script: str, *arguments: str, **options: Any) -> subprocess.Popen[str]:
    """Another process running a script."""
    return subprocess.Popen(
        [sys.executable, "-c", script, *arguments],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **options,
    )


def outcome(process: subprocess.Popen[str]) -> str:
    """What a child printed; its failure is the test's."""
    out, err = process.communicate(timeout=100)
    assert process.returncode == 0, err
    return out


def printed(script: str, **options: Any) -> str:
    """What a script prints, from its beginning to its end."""
    return outcome(child(script, **options))
