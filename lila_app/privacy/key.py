"""Where the key of a home's vaults lies: a 0600 file, or the system's keyring.

One key for all profiles of a home: their stores are files of their own already. The file is looked
for first, because a keyring can take seconds to say nothing; a new key goes to the keyring where
there is one that keeps it.
"""

from __future__ import annotations

import base64
import os
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path

from lila_app.errors import ConfigError
from lila_app.keys.ring import NoRing, Ring, SilentRing
from lila_app.paths import Home, explained, make_private
from lila_app.privacy.cipher import BYTES

_ENTRY = "vault"
FILE = "vault.key"


class VaultKey:
    """The key of one home's vaults; looked up once, when something has to be hidden or read."""

    def __init__(
        self, home: Home, ring: Ring | None = None, random: Callable[[int], bytes] = os.urandom
    ) -> None:
        self._ring = ring or Ring(f"lila {home.root}" if home.root else "lila")
        self._path = home.config_dir / FILE
        self._random = random
        self._lock = threading.Lock()
        self._key: bytes | None = None

    def need(self, *, fresh: bool) -> bytes:
        """The key; a `fresh` vault, which holds nothing yet, may have a new one made.

        Blocking, for seconds where a keyring is slow. Raises `ConfigError` for a key that is gone
        or cannot be read, `StorageError` where a new one cannot be written.
        """
        with self._lock:
            if self._key is None:
                self._key = self._found(fresh=fresh) or self._made()
            return self._key

    def where(self) -> str:
        """The place it is in, "" while there is none, or what stands in the way of looking."""
        if self._path.is_file():
            return str(self._path)
        try:
            return f"keyring ({self._ring.name()})" if self._ring.get(_ENTRY) else ""
        except NoRing:
            return ""
        except SilentRing as error:
            return f"keyring ({error.message})"

    def _found(self, *, fresh: bool) -> bytes | None:
        text = _read(self._path)
        if text is None:
            try:
                text = self._ring.get(_ENTRY)
            except NoRing:
                text = None
            except SilentRing as error:
                if not fresh:
                    raise ConfigError(
                        f"the vault's key cannot be read: {error.message}",
                        hint="unlock the keyring and do it again; without the key nothing can be "
                        "hidden from models on the network, so nothing is sent to them",
                    ) from None
        if text is not None:
            return _decoded(text, str(self._path))
        if not fresh:
            raise ConfigError(
                "the vault's key is gone: it is neither in the keyring nor in " + str(self._path),
                hint="put it back; or `lila privacy reset` empties the vault, and what is kept "
                "under placeholders stays unreadable",
            )
        return None

    def _made(self) -> bytes:
        key = self._random(BYTES)
        text = base64.b64encode(key).decode()
        try:
            self._ring.set(_ENTRY, text)
        except (NoRing, SilentRing):
            return _decoded(_written(self._path, text), str(self._path))
        return key


def _read(path: Path) -> str | None:
    try:
        with path.open("rb") as file:
            mode = os.fstat(file.fileno()).st_mode & 0o777 if os.name == "posix" else 0o600
            text = file.read(1_024).decode("ascii", "replace")
    except FileNotFoundError:
        return None
    except OSError as error:
        raise ConfigError(
            f"{path} cannot be read: {error.strerror}", hint="make it readable for you"
        ) from None
    if mode & 0o077:
        raise ConfigError(
            f"others on this machine may read the vault's key in {path} (mode {mode:04o}), so LILA "
            "does not use it",
            hint=f"chmod 600 '{path}'",
        )
    return text


def _written(path: Path, text: str) -> str:
    """What the file holds afterwards: of two processes that make a key the first one's counts.

    Written beside it and linked into place whole: whoever finds the file finds a key in it.
    """
    make_private(path.parent)
    try:
        handle, beside = tempfile.mkstemp(dir=path.parent, prefix=path.name)
        try:
            with os.fdopen(handle, "w", encoding="ascii") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            _placed(Path(beside), path)
        finally:
            Path(beside).unlink(missing_ok=True)
    except FileExistsError:
        return _read(path) or text
    except OSError as error:
        raise explained(error, path) from error
    return text


def _placed(beside: Path, path: Path) -> None:
    """Give a file its name unless there is one of that name; `FileExistsError` then."""
    try:
        os.link(beside, path)
    except FileExistsError:
        raise
    except OSError:  # a file system without hard links (FAT): two at once are not told apart there
        if path.exists():
            raise FileExistsError(path) from None
        beside.rename(path)


def _decoded(text: str, where: str) -> bytes:
    try:
        key = base64.b64decode(text.strip(), validate=True)
    except ValueError:
        key = b""
    if len(key) != BYTES:
        raise ConfigError(
            f"what is kept as the vault's key is none ({where}, or the keyring)",
            hint="put back the right one",
        )
    return key
