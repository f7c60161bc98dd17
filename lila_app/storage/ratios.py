"""The largest ratio seen of a model's own tokens to the declared ones."""

from __future__ import annotations

from dataclasses import dataclass

from lila_app.storage.connection import Source, reading, writing
from lila_app.storage.values import instant


@dataclass(frozen=True, slots=True)
class RatioRow:
    """`ratio` in basis points, seen at `at` on a prompt of `tokens` declared tokens."""

    provider: str
    model: str
    ratio: int
    tokens: int
    at: str


def observe(source: Source, row: RatioRow) -> None:
    """Keep a ratio if it is the largest yet."""
    with writing(source) as connection:
        connection.execute(
            "insert into token_ratios values (?, ?, ?, ?, ?) on conflict (provider, model) "
            "do update set ratio = excluded.ratio, tokens = excluded.tokens, at = excluded.at "
            "where excluded.ratio > ratio",
            (row.provider, row.model, row.ratio, row.tokens, instant(row.at)),
        )


def largest(source: Source, provider: str, model: str) -> RatioRow | None:
    """The largest of one model, None before the first."""
    with reading(source) as connection:
        row = connection.execute(
            "select provider, model, ratio, tokens, at from token_ratios "
            "where provider = ? and model = ?",
            (provider, model),
        ).fetchone()
    return None if row is None else RatioRow(*row)


def every(source: Source) -> list[RatioRow]:
    """All of them, by model."""
    with reading(source) as connection:
        rows = connection.execute(
            "select provider, model, ratio, tokens, at from token_ratios order by 1, 2"
        )
        return [RatioRow(*row) for row in rows]
