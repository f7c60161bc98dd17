"""`lila eval documents`: how well passages of documents are found."""

from __future__ import annotations

from pathlib import Path

import click

from lila_app.cli import options
from lila_app.cli.opening import home
from lila_app.cli.output import answer, document, table
from lila_app.cli.progress import progress


@click.command("documents")
@click.argument("path", type=click.Path(path_type=Path, exists=True, file_okay=False))
@options.as_json
def documents(path: Path, as_json: bool) -> None:
    """Rank a labelled collection (corpus.jsonl, queries.jsonl, qrels.tsv) as the rag layer does.

    The corpus goes into a store of its own that is thrown away; nothing of yours is touched.
    """
    from lila_app.evaluation.scifact import evaluate, load

    collection = load(path)
    with progress("embedding") as report:
        found = evaluate(collection, home(), progress=report)
    if as_json:
        document(outcome=found)
        return
    answer(
        f"{found.documents:,} documents in {found.passages:,} passages, {found.queries} queries; "
        f"{found.p50_ms:.0f} ms a query, p95 {found.p95_ms:.0f}"
    )
    table(
        ("ranking", "nDCG@10", "even", "odd", "R@10", "R@100"),
        [
            (
                one.ranking,
                *(f"{value:.4f}" for value in (one.ndcg, one.even, one.odd)),
                f"{one.recall:.3f}",
                f"{one.far_recall:.3f}",
            )
            for one in found.rankings
        ],
    )
