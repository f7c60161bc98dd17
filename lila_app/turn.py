"""One turn, from the person's words to the stored reply.

The words are durable before anything else happens. Then the layers are asked, the prompt is
assembled and put on record, and only then a model is called. Whatever ends the reply early, what
there is of it is kept and marked.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from datetime import datetime

from lila_app import moments
from lila_app.composing import Ask, compose, specify, tighter, title, usable, use_case
from lila_app.context import Context, Specification, snapshot, to_inputs
from lila_app.errors import ContextTooLarge, LilaError
from lila_app.events import Done, Notice, Started, TurnEvent
from lila_app.gateway.port import (
    Finished,
    Provider,
    ProviderEvent,
    TextDelta,
    ThinkingDelta,
    Usage,
)
from lila_app.resources import Resources
from lila_app.sending import as_request
from lila_app.storage import cuts, erasure, ledger, records, sessions, turns
from lila_app.storage.turns import TurnRow

TIGHTER = 3, 4
"""A prompt the model found too large is assembled again under three quarters of its limit."""

MOST_ATTEMPTS = 4


@dataclass(frozen=True, slots=True)
class Said:
    """What the person said and how it is to be answered."""

    text: str
    use_case: str
    session_id: str | None
    now: datetime
    budget: int | None
    live: bool
    """Whether the deadline holds; a turn with a given time is a rehearsal and waits for all."""


@dataclass(slots=True)
class _Reply:
    """What came back so far."""

    started: float
    pieces: list[str] = field(default_factory=list[str])
    usage: Usage = field(default_factory=Usage)
    finished: str = "failed"
    first_token_ms: int | None = None

    @property
    def text(self) -> str:
        return "".join(self.pieces)

    def take(self, event: ProviderEvent) -> None:
        match event:
            case TextDelta(text=text):
                if self.first_token_ms is None:
                    self.first_token_ms = round(1000 * (time.perf_counter() - self.started))
                self.pieces.append(text)
            case Usage():
                self.usage = event
            case Finished(reason=reason):
                self.finished = reason
            case _:
                pass


async def answer(
    resources: Resources, provider: Provider, said: Said
) -> AsyncGenerator[TurnEvent, None]:
    """Run one turn. Closing the generator stops the reply; raises LilaError, words kept."""
    turn = await asyncio.to_thread(_begin, resources, said)
    yield Started(turn.session_id, turn.id)
    open_turn = _OpenTurn(resources, provider, said, turn)
    try:
        async for event in open_turn.attempts():
            yield event
    finally:
        # Not awaited: when the task is being cancelled an await would be cancelled with it, and
        # the partial reply lost. It is one small transaction.
        open_turn.store()
    if open_turn.reply.finished == "length":
        yield Notice(
            "the reply reached its limit and ends here; ask to go on, or raise `reply_reserve`"
        )
    if open_turn.reply.usage != Usage():
        yield open_turn.reply.usage
    yield Done(turn.session_id, open_turn.record_id, open_turn.stopped, provider.name)


def _begin(resources: Resources, said: Said) -> TurnRow:
    text = usable(said.text)
    use_case(resources.policy, said.use_case)
    at = moments.stored(said.now)
    session = said.session_id
    if session is None:
        session = sessions.create(
            resources.store, at=at, use_case=said.use_case, title=title(text)
        ).id
    return turns.begin(resources.store, session, text, use_case=said.use_case, at=at)


class _OpenTurn:
    """A turn that is being answered."""

    def __init__(self, resources: Resources, provider: Provider, said: Said, turn: TurnRow) -> None:
        self._resources = resources
        self._provider = provider
        self._said = said
        self._turn = turn
        self.reply = _Reply(time.perf_counter())
        self.record_id = ""
        self.stopped = True
        self._stored = False
        self._limit = 0
        self._generation = 0

    async def attempts(self) -> AsyncGenerator[TurnEvent, None]:
        """Assemble, record, ask; again under lower limits while the model finds it too large."""
        specification = await asyncio.to_thread(self._specify)
        for attempt in range(MOST_ATTEMPTS):
            context = await asyncio.to_thread(self._record, specification)
            try:
                async for event in self._stream(context):
                    yield event
            except ContextTooLarge:
                if attempt == MOST_ATTEMPTS - 1 or self.reply.pieces:
                    raise
                limit = self._limit * TIGHTER[0] // TIGHTER[1]
                specification = tighter(specification, self.record_id, limit)
                yield Notice("the prompt was too large for the model; asking again with less")
            else:
                self.stopped = False
                return

    def _specify(self) -> Specification:
        said, turn = self._said, self._turn
        # Read before the candidates: what is forgotten meanwhile must not come back in a record.
        self._generation = erasure.generation(self._resources.store)
        ask = Ask(
            text=said.text,
            use_case=said.use_case,
            session_id=turn.session_id,
            now=said.now,
            limits=self._provider.limits(),
            budget=said.budget,
            before_sequence=turn.sequence,
            deadline=said.live,
        )
        return specify(self._resources, ask, write=True)

    def _record(self, specification: Specification) -> Context:
        """Assemble, and put on record what the model is about to see."""
        store = self._resources.store
        specification = replace(specification, record_id=records.next_id(store))
        context = compose(self._resources, specification)
        self._limit = context.record["token_budget"]["limit"]
        at = moments.stored(self._said.now)
        with store.write() as connection:
            # A summary made from what was forgotten meanwhile must not be kept; the next turn cuts.
            if context.cut is not None and erasure.generation(connection) == self._generation:
                cuts.cut(
                    connection,
                    self._turn.session_id,
                    upto_sequence=context.cut.upto_sequence,
                    summary=context.cut.summary,
                    reason="overrun",
                    at=at,
                )
            self.record_id = records.save(
                connection,
                context.record,
                inputs=to_inputs(specification),
                policy=snapshot(specification.policy),
                generation=self._generation,
                turn_id=self._turn.id,
            )
        return context

    async def _stream(self, context: Context) -> AsyncGenerator[TurnEvent, None]:
        request = as_request(context, self._said.use_case)
        self.reply = _Reply(time.perf_counter())
        try:
            async with aclosing(self._provider.stream(request)) as events:
                async for event in events:
                    self.reply.take(event)
                    if isinstance(event, TextDelta | ThinkingDelta):
                        yield event
        except LilaError as error:
            self.reply.finished = type(error).__name__
            raise
        except (asyncio.CancelledError, GeneratorExit):
            self.reply.finished = "stopped"
            raise
        finally:
            self._charge()

    def _charge(self) -> None:
        reply = self.reply
        provider, _, model = self._provider.name.partition("/")
        row = ledger.UsageRow(
            at=moments.stored(self._said.now),
            record_id=self.record_id,
            provider=provider,
            model=model,
            total=reply.usage.total,
            read=reply.usage.read,
            written=reply.usage.written,
            output=reply.usage.output,
            first_token_ms=reply.first_token_ms,
            total_ms=round(1000 * (time.perf_counter() - reply.started)),
            finished=reply.finished,
        )
        ledger.add_usage(self._resources.store, row)

    def store(self) -> None:
        """Keep the reply, or what there is of it; a turn nothing came of stays unanswered."""
        if self._stored or not (self.reply.text or not self.stopped):
            return
        self._stored = True
        turns.finish(
            self._resources.store,
            self._turn.id,
            self.reply.text,
            stopped=self.stopped,
            record_id=self.record_id or None,
            model=self._provider.name,
            at=moments.stored(self._said.now),
        )
        self._resources.settle(self._settle)

    def _settle(self) -> None:
        """After the reply: the cut that is due with its summary, and vectors for what was said."""
        resources = self._resources
        generation = erasure.generation(resources.store)
        policy = resources.policy
        row = policy.use_case(self._said.use_case)
        if row is not None and row.layer("conversation").ratio:
            cut = resources.conversation.due_cut(self._turn.session_id, policy, row, self._limit)
            if cut is not None:
                cuts.cut(
                    resources.store,
                    self._turn.session_id,
                    upto_sequence=cut.upto_sequence,
                    summary=cut.summary,
                    reason="window",
                    at=moments.stored(self._said.now),
                    generation=generation,
                )
        resources.learn()
        resources.later(lambda: records.cool(resources.store))
