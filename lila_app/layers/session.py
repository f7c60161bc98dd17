"""The session layer: what is happening now. Pinned goals, working notes, what is open."""

from __future__ import annotations

from dataclasses import dataclass

from lila_app.context.items import TOP_SCORE, Counter, Item, Placement, recalled
from lila_app.layers.port import Question
from lila_app.quoting import quoted
from lila_app.storage import state
from lila_app.storage.connection import Store

_LABEL = {"note": "note", "open": "open now"}


@dataclass(frozen=True, slots=True)
class SessionLayer:
    """Goals of the profile and of the session; notes and open things until they go idle."""

    store: Store
    count: Counter
    name: str = "session"
    source: str = "goals and working notes"

    def offer(self, question: Question) -> tuple[Item, ...]:
        """Goals pinned, notes newest first."""
        goals = state.list_goals(self.store, question.session_id)
        items = [
            Item(
                id=goal.id,
                layer=self.name,
                placement=Placement.GOAL,
                variants=(recalled("full", quoted("- ", goal.text), self.count),),
                score=TOP_SCORE,
                source="goal",
                digest=goal.digest,
                at=goal.at,
                pinned=True,
            )
            for goal in goals
        ]
        if question.session_id is None:
            return tuple(items)
        notes = state.list_notes(
            self.store,
            question.session_id,
            now=question.now,
            idle_minutes=question.policy.window.idle_minutes,
        )
        newest = sorted(notes, key=lambda note: note.touched_at, reverse=True)
        items += [
            Item(
                id=note.id,
                layer=self.name,
                placement=Placement.RECALLED,
                variants=(
                    recalled(
                        "full", quoted("- ", f"{note.text} ({_LABEL[note.kind]})"), self.count
                    ),
                ),
                score=max(0, TOP_SCORE - 100 * age),
                source=_LABEL[note.kind],
                digest=note.digest,
                at=note.touched_at,
            )
            for age, note in enumerate(newest)
        ]
        return tuple(items)
