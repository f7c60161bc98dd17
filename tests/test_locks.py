"""A lock on a file: one at a time, free once its holder is done, and never mistaken for a fault."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from lila_app import locks
from lila_app.locks import taken


def test_a_second_opening_finds_it_taken_until_the_first_is_closed(tmp_path: Path) -> None:
    path = tmp_path / "one.lock"
    with path.open("w+b") as first, path.open("r+b") as second:
        assert taken(first)
        assert not taken(second)
        first.close()
        assert taken(second)


def test_what_cannot_be_locked_is_no_lock_of_another(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(file: object, at: int) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(locks, "_take", refuse)
    with Path(os.devnull).open("rb") as file, pytest.raises(OSError, match="No locks"):
        locks.taken(file)
