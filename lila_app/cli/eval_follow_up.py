"""`lila eval follow-up`: what a spoken reply gains by seeing the conversation, at what cost."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from lila_app.cli import options
from lila_app.cli.opening import opened
from lila_app.cli.output import answer, document, table
from lila_app.cli.progress import progress

if TYPE_CHECKING:
    from lila_app.evaluation.follow_up import Report


@click.command("follow-up")
@click.argument(
    "path", required=False, type=click.Path(path_type=Path, exists=True, dir_okay=False)
)
@click.option("--model", metavar="NAME", help="Ask this model, and judge its replies.")
@options.as_json
def follow_up(path: Path | None, model: str | None, as_json: bool) -> None:
    """Compare `voice`, which sees nothing of what was said before, with `voice_continuity`.

    PATH has one JSON object a line: id, kind, said, ask, needs, right; without it LILA's own cases
    are taken. Without a model it is looked at whether the prompt holds what a follow-up needs; with
    one, whether the reply is right, and how soon it begins.
    """
    from lila_app.evaluation.follow_up import measure, read, shipped_cases

    cases = read(path or shipped_cases())
    with opened() as lila, progress("asking") as bar:
        found = measure(cases, lila, model=model, progress=bar)
    if as_json:
        document(outcome=found)
    else:
        _print(found)


def _print(found: Report) -> None:
    rows: list[tuple[object, ...]] = []
    for row in found.rows:
        cells: tuple[object, ...] = (
            row.policy,
            f"{row.held} of {row.follow_ups}",
            _of(row.right, row.follow_ups),
            _of(row.alone_right, row.alone),
            round(row.tokens),
            _number(row.evaluated),
            _number(row.first_ms),
        )
        rows.append(cells)
    table(
        (
            "policy",
            "prompt holds",
            "follow-ups right",
            "others right",
            "tokens",
            "read",
            "first ms",
        ),
        rows,
    )
    answer("\ntokens, read (prompt tokens once the words are there) and first ms are medians")
    if found.model:
        answer(f"{found.model}: voice_continuity alone is right in {_ids(found.won)}")
        answer(f"voice alone is right in {_ids(found.lost)}")


def _of(right: int | None, cases: int) -> str:
    return "" if right is None else f"{right} of {cases}"


def _number(found: float | None) -> str:
    return "" if found is None else str(round(found))


def _ids(ids: tuple[str, ...]) -> str:
    return f"{len(ids)}: {', '.join(ids)}" if ids else "none"
