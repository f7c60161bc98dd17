"""`lila eval stale`: does what is no longer true reach a prompt without a mark?"""

from __future__ import annotations

from pathlib import Path

import click

from lila_app.cli import options
from lila_app.cli.output import answer, document, table


@click.command("stale")
@click.argument("path", type=click.Path(path_type=Path, exists=True, dir_okay=False))
@options.as_json
def stale(path: Path, as_json: bool) -> None:
    """Say what cases say, ask later, and count stale values without a mark.

    PATH is a file of cases, one JSON object a line, or memtrust's contradiction cases.
    """
    from lila_app.evaluation.stale import measure, read

    found = measure(read(path))
    if as_json:
        document(outcomes=found)
        return
    wrong = [one for one in found if not one.right]
    rows = [
        (one.id, one.kind, what, text)
        for one in wrong
        for what, texts in (
            ("unmarked", one.unmarked),
            ("retired", one.retired),
            ("believed", one.believed),
        )
        for text in texts
    ]
    if rows:
        table(("case", "kind", "what", "where"), rows)
    stale_ = sum(bool(one.unmarked) for one in found)
    answer(f"{stale_} of {len(found)} cases with an unmarked stale value; {len(wrong)} wrong")
