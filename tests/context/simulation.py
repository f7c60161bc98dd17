"""A session played through the assembler, its cuts made durable as the assistant would."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from lila_app.context import Context, Counter, Item, Specification, Summary, assemble
from lila_app.context.assemble import token_limit
from lila_app.context.standing import Cut, due_cut, rooms_under
from tests.context.support import answers, item, specification, turn


@dataclass
class Session:
    """Turns and the summary of those that were cut.

    With `background` a cut that is due is made between turns, as its own event; without, only
    those an assembly is forced to make happen.
    """

    count: Counter
    plain: Specification = field(default_factory=specification)
    background: bool = False
    turns: list[Item] = field(default_factory=list[Item])
    summary: Summary | None = None
    cuts: list[Cut] = field(default_factory=list[Cut])
    standing: Sequence[Item] = ()

    def ask(self, user: str, reply: str, recalled: Sequence[Item] = ()) -> Context:
        """Assemble for the next turn, keep its cut, then append the turn."""
        number = len(self.turns) + 1
        upto = self.summary.upto_sequence if self.summary else 0
        window = [past for past in self.turns if past.sequence > upto]
        asked = replace(
            self.plain,
            turn=user,
            answers=answers(*self.standing, *window, *recalled),
            summary=self.summary,
        )
        context = assemble(asked, self.count)
        if context.cut:
            self._take(context.cut)
        self.turns.append(turn(number, user, reply, count=self.count))
        return context

    def between(self) -> bool:
        """What runs in the background after a turn; whether it cut."""
        policy = self.plain.policy
        row = policy.use_case(self.plain.use_case)
        assert row is not None
        limit = token_limit(policy, row, self.plain.limits, self.plain.budget)
        rooms = rooms_under(policy, row, limit, self.count)
        cut = due_cut(self.turns, self.summary, rooms, policy.window, self.count)
        if cut and self.background:
            self._take(cut)
        return bool(cut and self.background)

    def _take(self, cut: Cut) -> None:
        self.cuts.append(cut)
        self.summary = Summary(cut.upto_sequence, cut.summary)


def fresh_facts(number: int, count: Counter) -> list[Item]:
    """What is recalled is another thing on every turn."""
    return [
        item(f"m{number}", "memory", f"a memory of day {number}", count=count),
        item(f"d{number}.1", "rag", f"a page about topic {number} " * (number % 7), count=count),
        item(f"n{number}", "session", f"note {number}", count=count),
    ]
