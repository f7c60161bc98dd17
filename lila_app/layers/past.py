"""Ranking what was said: full text and meaning, and what stands around each hit (layers.score)."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from lila_app.layers import hints
from lila_app.layers.hints import Hints
from lila_app.layers.port import Question
from lila_app.layers.score import (
    LONG,
    Around,
    TurnScale,
    meaning,
    recency,
    scored_turn,
    strength,
)
from lila_app.storage import nearby, search, turns, vectors
from lila_app.storage.connection import Store
from lila_app.storage.turns import TurnRow
from lila_app.storage.values import number

REACH = 2
"""Messages looked at on each side of a hit: 70 % of the evidence a plain search misses within a
budget stands within two of one it found (LoCoMo, by a public comparison of eight systems)."""


@dataclass(frozen=True, slots=True)
class Ranked:
    """A turn and its score."""

    row: TurnRow
    score: int


@dataclass(frozen=True, slots=True)
class _Candidate:
    row: TurnRow
    words: float
    near: float

    @property
    def strength(self) -> float:
        return strength(self.words, self.near)


@dataclass(frozen=True, slots=True)
class Past:
    """Searches the turns of a store."""

    store: Store
    model_id: str
    scale: TurnScale

    def find(
        self, question: Question, *, k: int, exclude_session: str | None = None
    ) -> tuple[Ranked, ...]:
        """The best `k` turns, equal ones by id. Turns of which something was forgotten are none."""
        breadth = max(self.scale.candidates, k)
        vector = question.vector
        hits = search.holding(
            self.store, "turns", question.text, k=breadth, exclude_session=exclude_session
        )
        near = vectors.search(
            self.store,
            "turns",
            vector(),
            k=breadth,
            model_id=self.model_id,
            exclude_session=exclude_session,
            also=hits,
        )
        cosines = {number(hit.id, "t"): hit.cosine_bp for hit in near}
        asked = hints.read(question.text, question.now)
        found = self._candidates(sorted({*hits, *cosines}), cosines, question, asked)
        best = sorted(found, key=lambda row: (-round(found[row].strength, 9), row))
        beside = nearby.around(
            self.store,
            best[: max(self.scale.around, k)],
            REACH,
            exclude_session=exclude_session,
        )
        more = [row for row in beside if row not in found]
        cosines = vectors.cosines(self.store, "turns", vector(), more, self.model_id)
        found |= self._candidates(more, cosines, question, asked)
        return _ranked(found, asked, self.scale, question.now)[:k]

    def _candidates(
        self,
        rows: Sequence[int],
        cosines: Mapping[int, int],
        question: Question,
        asked: Hints,
    ) -> dict[int, _Candidate]:
        read = turns.by_ids(self.store, [f"t{row}" for row in rows])
        kept = {number(row.id, "t"): row for row in read if not row.erased}
        names = [hints.name_words(row.speaker) for row in kept.values() if row.speaker]
        held = search.covered(
            self.store,
            "turns",
            question.text,
            sorted(kept),
            without=frozenset[str]().union(*names) & asked.words,
        )
        share = self.scale.reply / 10_000
        return {
            id: _Candidate(
                row,
                held[id].own + share * (held[id].all - held[id].own),
                meaning(cosines.get(id), self.scale),
            )
            for id, row in kept.items()
        }


def _ranked(
    found: Mapping[int, _Candidate], asked: Hints, scale: TurnScale, now: str
) -> tuple[Ranked, ...]:
    """Every candidate with its score, best first."""
    sessions: dict[str, float] = {}
    for one in found.values():
        known = sessions.get(one.row.session_id, 0.0)
        sessions[one.row.session_id] = max(known, one.strength)
    top = max(sessions.values(), default=0.0)
    named = asked.named({one.row.speaker for one in found.values() if one.row.speaker})
    ranked = [
        Ranked(
            one.row,
            scored_turn(
                scale,
                one.words,
                one.near,
                recency(one.row.at, now, scale.half_life),
                _around(id, found, sessions[one.row.session_id] - top, asked, named),
            ),
        )
        for id, one in found.items()
    ]
    ranked.sort(key=lambda one: (-one.score, number(one.row.id, "t")))
    return tuple(ranked)


def _around(
    id: int,
    found: Mapping[int, _Candidate],
    session: float,
    asked: Hints,
    named: Collection[str],
) -> Around:
    row = found[id].row

    def at(step: int) -> float:
        other = found.get(id + step)
        return other.strength if other and other.row.session_id == row.session_id else 0.0

    before = found.get(id - 1)
    said = row.user or row.reply or ""
    return Around(
        session=session,
        beside=at(-1) + at(1),
        further=at(-2) + at(2),
        answer=at(-1) if before and _asks(before.row) else 0.0,
        speaker=_speaker(row, named),
        when=asked.when and hints.names_a_time(said),
        date=asked.said_then(row.at),
        question=_asks(row),
        length=min(1.0, len(said) / LONG),
    )


def _asks(row: TurnRow) -> bool:
    """Whether a message asks and nothing in the same turn answers."""
    return not row.reply and row.user.rstrip().endswith("?")


def _speaker(row: TurnRow, named: Collection[str]) -> int:
    if len(named) != 1 or not row.speaker:
        return 0
    return 1 if row.speaker in named else -1


