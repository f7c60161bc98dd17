"""`lila eval`: what LILA is worth, measured on labelled data you name."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from lila_app.cli import options
from lila_app.cli.eval_documents import documents
from lila_app.cli.eval_extraction import dates, extraction
from lila_app.cli.eval_follow_up import follow_up
from lila_app.cli.eval_privacy import privacy
from lila_app.cli.eval_stale import stale
from lila_app.cli.output import answer, document, table
from lila_app.cli.progress import progress

if TYPE_CHECKING:
    from lila_app.evaluation.recall import Recall, Report


@click.group()
def eval() -> None:
    """Measure LILA on labelled data."""


eval.add_command(documents)
eval.add_command(privacy)
eval.add_command(dates)
eval.add_command(extraction)
eval.add_command(stale)
eval.add_command(follow_up)


@eval.command()
@click.argument("path", type=click.Path(path_type=Path, exists=True, dir_okay=False))
@click.option(
    "--budget", "budgets", type=click.IntRange(min=100), multiple=True, metavar="N",
    help="Tokens of a prompt; may be given several times.  [default: 1024 2048 4096]",
)  # fmt: skip
@click.option(
    "--baselines/--no-baselines",
    default=True,
    show_default=True,
    help="Recency, FTS5, MiniLM, RRF and RRF with neighbours beside it.",
)
@click.option(
    "--others", type=click.Path(path_type=Path, exists=True, dir_okay=False), metavar="PYTHON",
    help="A Python that has mem0ai and agentrecall-db, which are asked the same.",
)  # fmt: skip
@options.as_json
def recall(
    path: Path, budgets: tuple[int, ...], baselines: bool, others: Path | None, as_json: bool
) -> None:
    """Measure how much of the evidence a prompt holds, on a file in the form of LoCoMo.

    Each conversation goes into a store of its own that is gone afterwards; no model is called.
    Some minutes, most of it for embedding.
    """
    from lila_app.evaluation import locomo
    from lila_app.evaluation import recall as measuring

    wanted = measuring.Measure(tuple(sorted(budgets)) or measuring.BUDGETS, baselines, others)
    conversations = locomo.load(path)
    with progress("asking") as bar:
        report = measuring.measure(conversations, wanted, bar)
    if as_json:
        document(recall=report)
    else:
        _print(report)


def _print(report: Report) -> None:
    answer(
        f"evidence recall, {report.questions:,} questions on {report.messages:,} messages of "
        f"{report.conversations} conversations: % within a budget, [95 % interval]\n"
    )
    categories = list(dict.fromkeys(one.category for row in report.rows for one in row.recalls))
    columns = ["way", "budget", "used", "p50 ms", "p95 ms", "corrected", *categories]
    rows: list[list[object]] = []
    for row in report.rows:
        found = {one.category: one for one in row.recalls}
        head = [row.way, row.budget, round(row.tokens), f"{row.p50_ms:.1f}", f"{row.p95_ms:.1f}"]
        cells = [_cell(found.get(category)) for category in categories]
        rows.append([*head, f"{100 * row.recalls[0].corrected:.1f}", *cells])
    table(columns, rows)


def _cell(one: Recall | None) -> str:
    if one is None:
        return "-"
    return f"{100 * one.mean:.1f} [{100 * one.low:.0f}-{100 * one.high:.0f}]"
