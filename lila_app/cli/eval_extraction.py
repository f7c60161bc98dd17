"""`lila eval dates` and `lila eval extraction`: what is understood without a model."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from lila_app.cli import options
from lila_app.cli.opening import home
from lila_app.cli.output import answer, document, table

if TYPE_CHECKING:
    from lila_app.evaluation.extraction import ExtractionMeasured


@click.command("dates")
@click.argument("path", type=click.Path(path_type=Path, exists=True, dir_okay=False))
@options.as_json
def dates(path: Path, as_json: bool) -> None:
    """Resolve the relative dates of LoCoMo's temporal questions whose answer is one day.

    PATH is a file in LoCoMo's layout. Where the evidence names no day, the session's stands in.
    """
    from lila_app.evaluation.dates import measure

    found = measure(path)
    if as_json:
        document(outcome=found)
        return
    answer(
        f"{found.right} of {found.asked} right ({found.right / found.asked:.1%}), "
        f"{found.session_only} by the session's day alone; {found.ms:.2f} ms a turn"
    )
    if found.missed:
        rows = [(one.question, one.gold, ", ".join(one.found)) for one in found.missed]
        table(("question", "gold", "found"), rows)


@click.command("extraction")
@click.argument("path", type=click.Path(path_type=Path, exists=True, dir_okay=False))
@click.option("--split", default="", metavar="NAME", help="Only the lines of this split.")
@click.option("--wrong", is_flag=True, help="Show what was false or missed, line by line.")
@options.as_json
def extraction(path: Path, split: str, wrong: bool, as_json: bool) -> None:
    """Measure what is extracted without a model against labelled sentences.

    PATH has one JSON object a line: id, split, at, speaker, text, facts.
    """
    from lila_app.evaluation.extraction import measure

    found = measure(path, home(), split)
    if as_json:
        document(outcome=found)
        return
    _print(found)
    if wrong:
        rows = [
            (one.id, one.text, "; ".join(one.false), "; ".join(one.missed), "; ".join(one.beside))
            for one in found.wrong
        ]
        table(("id", "text", "false", "missed", "beside"), rows)


def _print(found: ExtractionMeasured) -> None:
    table(
        ("split", "kind", "gold", "found", "precision", "recall", "F1"),
        [
            (
                one.split,
                one.kind,
                one.gold,
                one.found,
                *(f"{ratio:.3f}" for ratio in (one.precision, one.recall, one.f1)),
            )
            for one in found.scores
        ],
    )
    for split, (right, labels) in sorted(found.beside.items()):
        if labels:
            answer(f"{split}: {right} of {labels} labels of cue and days right")
    for split, (junk, lines) in sorted(found.junk.items()):
        answer(f"{split}: {junk} of {lines} lines of small talk yielded something")
