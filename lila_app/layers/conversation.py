"""The conversation layer: the turns of this session since the last cut, and the cut that is due."""

from __future__ import annotations

from dataclasses import dataclass, field

from lila_app.context.items import TOP_SCORE, Counter, Item, Placement
from lila_app.context.policy import Policy, UseCase
from lila_app.context.specification import Summary
from lila_app.context.standing import Cut, due_cut, rooms_under
from lila_app.layers import variants
from lila_app.layers.port import Question
from lila_app.layers.variants import Shortened
from lila_app.storage import cuts, turns
from lila_app.storage.connection import Store
from lila_app.storage.turns import TurnRow

UNANSWERED = "(no reply was given)"
STOPPED = " … (stopped here)"


@dataclass(frozen=True, slots=True)
class ConversationLayer:
    """Turns in order; each one's bytes are its own and stay."""

    store: Store
    count: Counter
    name: str = "conversation"
    source: str = "turns of this session"
    forms: Shortened = field(default_factory=variants.turn_forms, repr=False, compare=False)

    def offer(self, question: Question) -> tuple[Item, ...]:
        """Every turn after the last cut, before the one being answered."""
        if question.session_id is None:
            return ()
        last = cuts.latest_cut(self.store, question.session_id)
        rows = turns.window(self.store, question.session_id, last.upto_sequence if last else 0)
        before = question.before_sequence
        return tuple(self.item(row) for row in rows if before is None or row.sequence < before)

    def item(self, row: TurnRow) -> Item:
        """A turn as a candidate."""
        return Item(
            id=row.id,
            layer=self.name,
            placement=Placement.TURN,
            variants=self.forms(row.user, reply_text(row), self.count),
            score=TOP_SCORE,
            source="this session",
            digest=row.digest,
            at=row.at,
            sequence=row.sequence,
            external_ids=row.external_ids,
        )

    def summary(self, session_id: str | None) -> Summary | None:
        """What earlier cuts left."""
        last = cuts.latest_cut(self.store, session_id) if session_id else None
        return Summary(last.upto_sequence, last.summary) if last else None

    def due_cut(self, session_id: str, policy: Policy, row: UseCase, limit: int) -> Cut | None:
        """The cut that is due now that the window outgrew its share of `limit`, if it did."""
        before = self.summary(session_id)
        after = before.upto_sequence if before else 0
        items = [self.item(turn) for turn in turns.window(self.store, session_id, after)]
        rooms = rooms_under(policy, row, limit, self.count)
        return due_cut(items, before, rooms, policy.window, self.count)


def reply_text(row: TurnRow) -> str:
    """The reply as later turns see it: a missing or partial one says so."""
    if not row.reply:
        return UNANSWERED
    return row.reply + STOPPED if row.stopped else row.reply
