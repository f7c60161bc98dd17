"""Files that came from elsewhere: read whole, and only if they are the bytes once looked at."""

from __future__ import annotations

import hashlib
from importlib.util import find_spec
from pathlib import Path

from lila_app.errors import ChecksumError, MissingWeightsError

REINSTALL = "install LILA again, so that its packages and assets are whole"


def package_folder(module: str) -> Path:
    """Return the folder of an installed module without running its code.

    Raises `MissingWeightsError` when it is not installed.
    """
    try:
        found = find_spec(module)
    except ModuleNotFoundError:
        found = None
    if found is None or not found.origin:
        raise MissingWeightsError(f"the package {module} is not installed", hint=REINSTALL)
    return Path(found.origin).parent


def read_published(path: Path, sha256: str) -> bytes:
    """Read the file and return its bytes, the very ones that were checked.

    Raises `MissingWeightsError` when it cannot be read, `ChecksumError` when it is not what was
    published (`sha256` in hex).
    """
    try:
        content = path.read_bytes()
    except OSError as problem:
        raise MissingWeightsError(
            f"{path} cannot be read ({problem.strerror})", hint=REINSTALL
        ) from problem
    found = hashlib.sha256(content).hexdigest()
    if found != sha256:
        raise ChecksumError(
            f"{path} is not the published file: its SHA-256 is {found}, expected is {sha256}",
            hint=f"do not use it; {REINSTALL}",
        )
    return content
