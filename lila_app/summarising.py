"""When the conversation is cut: its summary is prepared beside it, and both take effect as one.

Past its share of the budget the window is due for a cut. Where a capable model may be asked, what
will go is summed up in the background, and until that is done the window may overrun by one grid
step; a prompt that cannot wait makes the extractive fold itself, and then the prepared summary is
dropped. Without such a model the fold is made at once.
"""

from __future__ import annotations

from dataclasses import dataclass

from lila_app.context.fold import Exchange
from lila_app.context.policy import UseCase
from lila_app.context.specification import Summary
from lila_app.context.standing import Cut, rooms_under
from lila_app.layers.conversation import reply_text
from lila_app.memory import summary
from lila_app.memory.summary import Cutting
from lila_app.resources import Resources
from lila_app.storage import cuts, erasure, turns
from lila_app.storage.cuts import CutRow
from lila_app.storage.driver import Connection

LONGEST = 6_000
"""Characters of one side of a turn that are shown to a model; a pasted book is not summed up whole
for the three lines it will have."""


def settle(resources: Resources, session_id: str, row: UseCase, limit: int, at: str) -> None:
    """Make the cut that is due after a reply, or have its summary prepared in the background."""
    if not row.layer("conversation").ratio:
        return
    if not resources.completer.of("summary"):
        cut_now(resources, session_id, row, limit, at)
        return
    if resources.conversation.due_cut(session_id, resources.policy, row, limit) is not None:
        resources.later(lambda: cut_now(resources, session_id, row, limit, at))


def cut_now(resources: Resources, session_id: str, row: UseCase, limit: int, at: str) -> None:
    """Make the cut that is due, with a model's summary where one can be had. Blocking.

    Raises OvertakenError when something was forgotten meanwhile; the next turn tries again.
    """
    store = resources.store
    generation = erasure.generation(store)
    before = cuts.latest_cut(store, session_id)
    cut = resources.conversation.due_cut(session_id, resources.policy, row, limit)
    if cut is None:
        return
    cutting = _cutting(resources, cut, before.summary if before else "", row, limit)
    made = summary.make(cutting, resources.completer, resources.count, _known(resources))
    with store.write() as connection:
        if cuts.latest_cut(connection, session_id) != before:
            return  # a prompt that could not wait was faster
        cuts.cut(
            connection,
            session_id,
            upto_sequence=cut.upto_sequence,
            summary=made.text,
            reason="window",
            at=at,
            generation=generation,
            made_by=made.made_by,
            why=made.why,
        )


@dataclass(frozen=True, slots=True)
class Forced:
    """A cut a prompt could not do without; `specified` is the summary it was assembled with."""

    session_id: str
    cut: Cut
    specified: Summary | None
    at: str


def overrun(connection: Connection, forced: Forced, own: CutRow | None) -> CutRow | None:
    """Make such a cut durable, unless another was made meanwhile; what is now the turn's own.

    `own` is what an earlier prompt of the same turn cut: a later one may have to cut more.
    """
    last = cuts.latest_cut(connection, forced.session_id)
    if own is not None and last == own:
        if forced.cut.upto_sequence <= own.upto_sequence:
            return own
    elif _stands(last) != _stands(forced.specified):
        return own
    return cuts.cut(
        connection,
        forced.session_id,
        upto_sequence=forced.cut.upto_sequence,
        summary=forced.cut.summary,
        reason="overrun",
        at=forced.at,
    )


def _stands(cut: CutRow | Summary | None) -> tuple[int, str] | None:
    if cut is None:
        return None
    return cut.upto_sequence, cut.summary if isinstance(cut, CutRow) else cut.text


def _cutting(resources: Resources, cut: Cut, before: str, row: UseCase, limit: int) -> Cutting:
    rooms = rooms_under(resources.policy, row, limit, resources.count)
    told = [
        (one.id, Exchange(one.user[:LONGEST], reply_text(one)[:LONGEST]))
        for one in turns.by_ids(resources.store, cut.turns)
    ]
    return Cutting(before, told, cut.summary, rooms.summary)


def _known(resources: Resources) -> frozenset[str]:
    """Words of the names of entities, where they are needed."""
    if not resources.completer.of("summary"):
        return frozenset()
    names = resources.mirror.current().entities.values()
    # A word of four letters and more: "the" stands in many a name.
    return frozenset(word for name in names for word in name.lower().split() if len(word) > 3)
