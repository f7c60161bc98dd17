"""What the person typed and LILA has not accepted yet, kept on disk so that no crash loses it."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, cast

from lila_app.errors import StorageError
from lila_app.locks import taken
from lila_app.paths import explained, make_private, write_private

_SLOTS = 16


@dataclass(frozen=True, slots=True)
class Draft:
    """Messages sent and not yet accepted, oldest first, and the text still in the prompt."""

    waiting: tuple[str, ...] = ()
    text: str = ""

    @property
    def joined(self) -> str:
        """All of it as one text for the prompt."""
        return "\n\n".join(part for part in (*self.waiting, self.text) if part.strip())


def _lock(file: IO[bytes]) -> bool:
    """Take the file for this process; one that cannot be locked is as good as taken."""
    try:
        return taken(file)
    except OSError:
        return False


class DraftFile:
    """One process's draft of one profile, `state/drafts/PROFILE-N.json`.

    Two windows on one profile must not overwrite each other, so each takes a numbered slot with a
    lock; the draft of a process that died is in a slot whose lock is free, and the next window to
    open takes that one first. Errors are `StorageError`.
    """

    def __init__(self, path: Path, lock: IO[bytes], found: Draft) -> None:
        self._path = path
        self._lock = lock
        self._last = found
        self.found = found

    @classmethod
    def take(cls, state_dir: Path, profile: str) -> DraftFile:
        """The slot with a draft left by a dead process, else the first free one."""
        folder = state_dir / "drafts"
        make_private(folder)
        names = [f"{profile}-{number}" for number in range(1, _SLOTS + 1)]
        left_behind = [name for name in names if (folder / f"{name}.json").exists()]
        for name in (*left_behind, *names):
            slot = cls._try(folder, name)
            if slot is not None:
                return slot
        raise StorageError(
            f"more than {_SLOTS} windows of LILA are open on this profile",
            hint="close one; until then an unsent message is not kept over a crash",
        )

    @classmethod
    def _try(cls, folder: Path, name: str) -> DraftFile | None:
        path = folder / f"{name}.json"
        lock_path = folder / f"{name}.lock"
        try:
            handle = os.open(lock_path, os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as error:
            raise explained(error, lock_path) from error
        lock = os.fdopen(handle, "r+b")
        if not _lock(lock):
            lock.close()
            return None
        return cls(path, lock, _read(path))

    def save(self, draft: Draft) -> None:
        """Make `draft` what the next start finds; an empty one leaves no file."""
        if draft == self._last:
            return
        if draft.joined:
            write_private(self._path, json.dumps({"waiting": draft.waiting, "text": draft.text}))
        else:
            try:
                self._path.unlink(missing_ok=True)
            except OSError as error:
                raise explained(error, self._path) from error
        self._last = draft

    def close(self) -> None:
        """Let go of the slot; the draft stays."""
        with contextlib.suppress(OSError):
            self._lock.close()


def _read(path: Path) -> Draft:
    try:
        found: object = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return Draft()
    if not isinstance(found, dict):
        return Draft()
    kept = cast("Mapping[str, object]", found)
    waiting, text = kept.get("waiting"), kept.get("text")
    texts = cast("list[object]", waiting) if isinstance(waiting, list) else []
    return Draft(
        tuple(one for one in texts if isinstance(one, str)), text if isinstance(text, str) else ""
    )
