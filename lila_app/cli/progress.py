"""Progress on stderr, where a person is watching; silence in scripts."""

from __future__ import annotations

import sys
from collections.abc import Generator
from contextlib import contextmanager

from lila_app.views import Progress


@contextmanager
def progress(label: str, *, size: bool = False) -> Generator[Progress]:
    """A bar that the yielded callback moves; `size` shows bytes rather than a count."""
    if not sys.stderr.isatty():
        yield lambda _done, _total, _label: None
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        DownloadColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    amount = DownloadColumn() if size else MofNCompleteColumn()
    text = TextColumn("{task.description}", markup=False)
    with Progress(
        text,
        BarColumn(),
        amount,
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
    ) as bar:
        task = bar.add_task(label, total=None)

        def move(done: int, total: int, name: str) -> None:
            bar.update(task, completed=done, total=total or None, description=name or label)

        yield move
