"""stdout is the answer; stderr is everything else. A terminal never gets control characters."""

from __future__ import annotations

import dataclasses
import io
import json
import re
import sys
from collections.abc import Iterable, Sequence
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from zoneinfo import ZoneInfo

import click

SCHEMA_VERSION = 1
"""Version of every JSON document the command line prints."""

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def note(text: str) -> None:
    """A line on stderr."""
    click.echo(shown(text, sys.stderr.isatty()), err=True)


def answer(text: str, *, newline: bool = True) -> None:
    """Text on stdout at once."""
    click.echo(shown(text, sys.stdout.isatty()), nl=newline)


def aside(text: str) -> None:
    """A piece of text on stderr at once, without a newline."""
    click.echo(shown(text, sys.stderr.isatty()), nl=False, err=True)


def shown(text: str, terminal: bool) -> str:
    """`text` as a terminal may have it: what a model or a document wrote cannot drive it."""
    return _CONTROL.sub("\N{REPLACEMENT CHARACTER}", text) if terminal else text


def document(**fields: object) -> None:
    """One JSON document on stdout, with its `schema_version`."""
    whole = {"schema_version": SCHEMA_VERSION, **fields}
    click.echo(json.dumps(whole, ensure_ascii=False, indent=2, default=_plain))


def table(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Aligned columns on stdout; numbers to the right, text on one line."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    body = [list(row) for row in rows]
    grid = Table(box=None, pad_edge=False, show_edge=False, header_style="bold")
    for index, name in enumerate(columns):
        numeric = all(isinstance(row[index], int) for row in body) and bool(body)
        grid.add_column(name, justify="right" if numeric else "left", overflow="fold")
    for row in body:
        grid.add_row(*(Text(one_line(str(cell))) for cell in row))
    if sys.stdout.isatty():
        Console(file=sys.stdout, highlight=False).print(grid)
        return
    # In a pipe nothing wraps and nothing is padded: a row is a line.
    lines = io.StringIO()
    Console(file=lines, width=100_000, highlight=False).print(grid)
    for line in lines.getvalue().splitlines():
        click.echo(line.rstrip())


def one_line(text: str) -> str:
    """`text` without line breaks, runs of blanks or control characters."""
    return shown(" ".join(text.split()), terminal=True)


def local(iso: str, zone: ZoneInfo) -> str:
    """A stored time as the person's clock showed it, to the minute."""
    return datetime.fromisoformat(iso).astimezone(zone).strftime("%Y-%m-%d %H:%M")


def _plain(value: object) -> object:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, Decimal):
        return float(value)
    raise TypeError(f"{type(value).__name__} has no JSON form")
