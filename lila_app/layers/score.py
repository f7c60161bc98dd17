"""One scale, 0 to 10,000, for what search finds, so that a floor means the same on every turn.

Ranks are relative to what else was found and say nothing about relevance; these are not ranks.
Two kinds of evidence are combined as if independent (either alone suffices, both are better): how
near in meaning, and how much of what was asked stands there literally.

Numbers: MiniLM's cosine is at most .12 for unrelated pairs and .77 and more for restatements
(measured on labelled pairs, 2026-11-30), so it is read from .12 to .72. The two weights and the
recency share are first guesses, like the floors they meet in policies/allocation.toml.
"""

from __future__ import annotations

from datetime import datetime

from lila_app.context.items import TOP_SCORE

UNRELATED, RESTATED = 1_200, 7_200
"""Cosines in basis points that count as nothing and as everything."""

MEANING_WEIGHT, WORDS_WEIGHT = 0.85, 0.75
RECENCY_SHARE = 0.15
HALF_LIFE_DAYS = 60


def relevance(cosine_bp: int | None, coverage: float) -> float:
    """Relevance 0..1 from a cosine in basis points (None: not known) and a coverage 0..1."""
    near = 0.0
    if cosine_bp is not None:
        near = min(1.0, max(0.0, (cosine_bp - UNRELATED) / (RESTATED - UNRELATED)))
    missing = (1 - MEANING_WEIGHT * near) * (1 - WORDS_WEIGHT * min(1.0, max(0.0, coverage)))
    return 1 - missing


def recency(at: str, now: str) -> float:
    """1 for now, a half after 60 days, a quarter after 120; the future counts as now."""
    age = datetime.fromisoformat(now) - datetime.fromisoformat(at)
    days = max(0.0, age.total_seconds() / 86_400)
    return float(2 ** (-days / HALF_LIFE_DAYS))


def score(relevant: float, fresh: float = 1.0) -> int:
    """The integer score of a relevance, of which recency decides 15 %."""
    weighted = relevant * (1 - RECENCY_SHARE + RECENCY_SHARE * fresh)
    return min(TOP_SCORE, max(0, round(TOP_SCORE * weighted)))
