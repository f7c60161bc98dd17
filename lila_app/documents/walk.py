"""Which files a person means when they name files and folders."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

SKIPPED_FOLDERS = frozenset({"CVS", "_darcs", "__pycache__", "node_modules"})
"""Never entered, like everything whose name starts with a dot and every virtual environment."""


@dataclass(frozen=True, slots=True)
class Found:
    """What was found, sorted by path.

    `files` are regular files under their real path, each once. `problems` are things that were
    left out, with the reason. `folders` were walked from the top, so that a document under one
    of them which is not in `files` is gone, unless it is under one of `unread`. `missing` were
    named and are not there, while their folder is.
    """

    files: tuple[Path, ...]
    problems: tuple[tuple[Path, str], ...]
    folders: tuple[Path, ...]
    unread: tuple[Path, ...]
    missing: tuple[Path, ...]

    def covers(self, path: Path) -> bool:
        """Whether a document at `path` would be among the files if it still existed."""
        if path in self.missing:
            return True
        under = any(path.is_relative_to(folder) for folder in self.folders)
        return under and not any(path.is_relative_to(folder) for folder in self.unread)


def find(paths: Iterable[Path], *, stop: Callable[[], None] = lambda: None) -> Found:
    """Find the files: those named, and those in the folders named, however deep.

    Hidden things are left out unless named themselves. Links inside a folder are not followed:
    what they point at inside it is found anyway, so a loop cannot arise, and those that lead out
    are named. `stop` is called for each folder and may raise.
    """
    search = _Search(stop)
    for path in paths:
        search.named(path)
    search.judge_links()
    return Found(
        tuple(sorted(search.files)),
        tuple(sorted(search.problems)),
        tuple(search.folders),
        tuple(search.unread),
        tuple(search.missing),
    )


class _Search:
    def __init__(self, stop: Callable[[], None]) -> None:
        self.files: set[Path] = set()
        self.problems: list[tuple[Path, str]] = []
        self.folders: list[Path] = []
        self.unread: list[Path] = []
        self.missing: list[Path] = []
        self._links: list[tuple[Path, Path]] = []
        self._stop = stop

    def named(self, path: Path) -> None:
        try:
            real = path.expanduser().resolve(strict=True)
            mode = real.stat().st_mode
        except FileNotFoundError:
            folder = path.expanduser().parent
            if folder.is_dir():
                path = folder.resolve() / path.name
                self.missing.append(path)
            self.problems.append((path, "there is no such file or folder"))
        except (OSError, RuntimeError, ValueError) as problem:
            self.problems.append((path, said(problem)))
        else:
            if stat.S_ISDIR(mode):
                self.folders.append(real)
                self._folder(real)
            else:
                self._file(real, mode)

    def _folder(self, top: Path) -> None:
        waiting = [top]
        while waiting:
            self._stop()
            folder = waiting.pop()
            try:
                with os.scandir(folder) as entries:
                    for entry in entries:
                        if not entry.name.startswith("."):
                            waiting += self._entry(entry)
            except OSError as problem:
                self.unread.append(folder)
                self.problems.append((folder, said(problem)))

    def _entry(self, entry: os.DirEntry[str]) -> Iterator[Path]:
        """Take in one entry; a folder to go on with is given back."""
        path = Path(entry.path)
        try:
            if entry.is_symlink():
                self._link(path)
            elif entry.is_dir():
                if entry.name not in SKIPPED_FOLDERS and not (path / "pyvenv.cfg").exists():
                    yield path
            else:
                self._file(path, entry.stat().st_mode)
        except OSError as problem:
            self.unread.append(path)
            self.problems.append((path, said(problem)))

    def _link(self, path: Path) -> None:
        try:
            self._links.append((path, path.resolve(strict=True)))
        except FileNotFoundError:
            self.problems.append((path, "a link that leads nowhere"))
        except (OSError, RuntimeError):
            self.problems.append((path, "a link that leads to itself"))

    def judge_links(self) -> None:
        """Name the links that lead out; what the others point at was found where it is."""
        for path, real in self._links:
            inside = any(real.is_relative_to(folder) for folder in self.folders)
            if not inside and real not in self.files:
                self.problems.append(
                    (path, f"a link out of the folder; to take it in, name {real}")
                )

    def _file(self, path: Path, mode: int) -> None:
        if not stat.S_ISREG(mode):
            self.problems.append((path, "not a regular file"))
        elif not _is_utf8(path):
            self.problems.append((path, "its name is not valid UTF-8; rename it"))
        else:
            self.files.add(path)


def said(problem: Exception) -> str:
    """The reason in words, without the path."""
    return (getattr(problem, "strerror", None) or str(problem) or type(problem).__name__).lower()


def _is_utf8(path: Path) -> bool:
    try:
        str(path).encode()
    except UnicodeEncodeError:
        return False
    return True
