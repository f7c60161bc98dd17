"""Ranking what was said: full text and meaning, and what stands around each hit (layers.score)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from lila_app.layers import hints
from lila_app.layers.hints import Hints
from lila_app.layers.port import Question
from lila_app.layers.score import (
    LONG,
    Around,
    TurnScale,
    lent,
    meaning,
    own,
    recency,
    scored_turns,
    strength,
)
from lila_app.storage import nearby, search, turns, vectors
from lila_app.storage.connection import Store
from lila_app.storage.nearby import Message
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
    said: Message
    words: float
    near: float
    strength: float


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
        cosines = {hit.rowid: hit.cosine_bp for hit in near}
        asked = hints.read(question.text, question.now)
        found = self._candidates(sorted({*hits, *cosines}), cosines, question, asked)
        best = sorted(found, key=lambda row: (-round(found[row].strength, 9), row))
        most = max(self.scale.around, k)
        beside = nearby.around(self.store, best[:most], REACH, exclude_session=exclude_session)
        more = [row for row in beside if row not in found]
        cosines = vectors.cosines(self.store, "turns", vector(), more, self.model_id)
        found |= self._candidates(more, cosines, question, asked)
        scores = _Ranking(found, asked, self.scale, question.now).scores()
        order = sorted(scores, key=lambda row: (-scores[row], row))[:k]
        rows = turns.by_ids(self.store, [f"t{row}" for row in order])
        return tuple(Ranked(row, scores[number(row.id, "t")]) for row in rows)

    def _candidates(
        self, rows: Sequence[int], cosines: Mapping[int, int], question: Question, asked: Hints
    ) -> dict[int, _Candidate]:
        kept = nearby.read(self.store, rows)
        names = (hints.name_words(name) for name in {said.speaker for said in kept})
        held = search.covered(
            self.store,
            "turns",
            question.text,
            {said.row: (said.user, said.reply) for said in kept},
            # Who is named is asked for their own words, which seldom hold their name.
            without=frozenset[str]().union(*names) & asked.words,
        )
        share = self.scale.reply / 10_000
        found: dict[int, _Candidate] = {}
        for said in kept:
            one = held[said.row]
            words = one.own + share * (one.all - one.own)
            near = meaning(cosines.get(said.row), self.scale)
            found[said.row] = _Candidate(said, words, near, strength(words, near))
        return found


@dataclass(frozen=True, slots=True)
class _Ranking:
    """The candidates of one question, each scored beside the others."""

    found: Mapping[int, _Candidate]
    asked: Hints
    scale: TurnScale
    now: str
    sessions: dict[int, float] = field(default_factory=dict[int, float])
    times: dict[str, tuple[float, bool]] = field(default_factory=dict[str, tuple[float, bool]])

    def scores(self) -> dict[int, int]:
        """The score of every candidate."""
        for one in self.found.values():
            known = self.sessions.get(one.said.session, 0.0)
            self.sessions[one.said.session] = max(known, one.strength)
        named = self.asked.named({one.said.speaker for one in self.found.values()} - {""})
        return scored_turns(
            self.scale, {row: self.sums(one, named) for row, one in self.found.items()}
        )

    def sums(self, one: _Candidate, named: frozenset[str]) -> tuple[float, float]:
        said = one.said
        fresh, then = self.time(said.at)
        before = self.beside(said, -1)
        around = Around(
            session=self.sessions[said.session],
            beside=before + self.beside(said, 1),
            further=self.beside(said, -2) + self.beside(said, 2),
            answer=before if before and _asks(self.found[said.row - 1].said) else 0.0,
            speaker=_speaker(said, named),
            when=self.asked.when and hints.names_a_time(said.user or said.reply),
            date=then,
            question=_asks(said),
            length=min(1.0, len(said.user or said.reply) / LONG),
        )
        return own(self.scale, one.words, one.near, fresh), lent(self.scale, around)

    def beside(self, said: Message, step: int) -> float:
        other = self.found.get(said.row + step)
        return other.strength if other and other.said.session == said.session else 0.0

    def time(self, at: str) -> tuple[float, bool]:
        """How recent a time is and whether the question names it; messages share their times."""
        known = self.times.get(at)
        if known is None:
            fresh = recency(at, self.now, self.scale.half_life)
            known = self.times[at] = (fresh, self.asked.said_then(at))
        return known


def _asks(said: Message) -> bool:
    """Whether a message asks and nothing in the same turn answers."""
    return not said.reply and said.user.rstrip().endswith("?")


def _speaker(said: Message, named: frozenset[str]) -> int:
    if len(named) != 1 or not said.speaker:
        return 0
    return 1 if said.speaker in named else -1
