"""`lila eval privacy`: how much of what is private is found."""

from __future__ import annotations

from pathlib import Path

import click

from lila_app.cli import options
from lila_app.cli.output import answer, document, note, table
from lila_app.cli.progress import progress


@click.command("privacy")
@click.argument("path", type=click.Path(path_type=Path, exists=True))
@click.option("--sure", is_flag=True, help="Only what goes by default; all else counts as missed.")
@options.as_json
def privacy(path: Path, sure: bool, as_json: bool) -> None:
    """Find what is private in labelled sentences (JSON in the form of presidio-research).

    By characters, on the templates the rules were written on and on those they were not. Names
    and places are on.
    """
    from lila_app.evaluation.privacy import evaluate, load

    sentences = load(path)
    with progress("sentences") as report:
        found = evaluate(sentences, sure=sure, progress=report)
    if as_json:
        document(outcome=found)
        return
    for half in found.halves:
        answer(
            f"{half.name}: {half.templates} templates, {half.sentences} sentences; recall "
            f"{half.recall.share:.4f}, precision {half.precision.share:.4f} of the characters"
        )
        shown = [("recall of", one) for one in half.by_label]
        shown += [("precision of", one) for one in half.by_kind]
        table(
            ("", "kind", "share", "characters"),
            [(what, one.name, f"{one.share:.3f}", one.all) for what, one in shown],
        )
    answer(f"{found.p50_ms:.1f} ms a sentence, p95 {found.p95_ms:.1f}")
    note("recall is never 1; a character counts as found whatever it was taken for")
