"""Progress on stderr, where a person is watching; silence in scripts."""

from __future__ import annotations

import sys
from collections.abc import Generator
from contextlib import ExitStack, contextmanager

from lila_app.views import Progress


@contextmanager
def progress(label: str, *, size: bool = False) -> Generator[Progress]:
    """A bar that the yielded callback draws and moves; `size` shows bytes rather than a count.

    Nothing is drawn before the first call, so what turns out to need no time shows no bar.
    """
    if not sys.stderr.isatty():
        yield lambda _done, _total, _label: None
        return
    with ExitStack() as drawn:
        bar: _Bar | None = None

        def move(done: int, total: int, name: str) -> None:
            nonlocal bar
            if bar is None:
                bar = _Bar(label, size, drawn)
            bar.move(done, total, name)

        yield move


class _Bar:
    """One line that is redrawn, and gone at the end."""

    def __init__(self, label: str, size: bool, drawn: ExitStack) -> None:
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            DownloadColumn,
            MofNCompleteColumn,
            Progress,
            TextColumn,
            TimeRemainingColumn,
        )

        columns = (
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            DownloadColumn() if size else MofNCompleteColumn(),
            TimeRemainingColumn(),
        )
        self._label = label
        self._bar = Progress(*columns, console=Console(stderr=True), transient=True)
        drawn.enter_context(self._bar)
        self._task = self._bar.add_task(label, total=None)

    def move(self, done: int, total: int, name: str) -> None:
        self._bar.update(
            self._task, completed=done, total=total or None, description=name or self._label
        )
