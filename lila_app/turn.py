"""One turn, from the person's words to the stored reply.

The words are durable before anything else happens. Then the layers are asked, the prompt is
assembled for the chosen model and put on record, and only then models are called, the chosen one
first. One with lower limits gets the same candidates assembled anew, in a record linked to the one
before; one that asks for tools is asked again with what they returned, in another. Whatever ends
the reply early, what there is of it is kept and marked.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import AbstractContextManager, aclosing
from dataclasses import dataclass, field, replace

from lila_app import citing, moments, titling
from lila_app.beginning import Said, begin
from lila_app.composing import Ask, compose, specify, tighter, under
from lila_app.context import Context, Specification, snapshot, to_inputs
from lila_app.errors import ContextTooLarge, LilaError
from lila_app.events import Confirm, Done, Notice, Started, TurnEvent
from lila_app.gateway.calls.calling import Switched
from lila_app.gateway.port import Provider, Request, Step, TextDelta, ThinkingDelta, Usage
from lila_app.keeping import kept
from lila_app.replying import Reply
from lila_app.resources import Resources
from lila_app.sending import as_request
from lila_app.storage import erasure, records, sessions, turns
from lila_app.storage.cuts import CutRow
from lila_app.storage.turns import TurnRow
from lila_app.summarising import Forced, overrun, settle
from lila_app.tool_loop import Handler, Setting, Toolbox, ToolLoop, Where

TIGHTER = 3, 4
"""A prompt the model found too large is assembled again under three quarters of its limit."""

MOST_ASSEMBLIES = 6
"""How often a turn's prompt is assembled: for a chosen model, for two others with lower limits,
and thrice more for models that take less than they say."""


@dataclass(frozen=True, slots=True)
class Tools:
    """What does the tools' work, and how the person is asked; None where nobody can be."""

    toolbox: Toolbox = field(default_factory=dict[str, Handler])
    confirm: Confirm | None = None


async def answer(
    resources: Resources,
    chain: Callable[[], Sequence[Provider]],
    said: Said,
    tools: Tools,
    again: TurnRow | None = None,
) -> AsyncGenerator[TurnEvent, None]:
    """Run one turn with the models of a chain, the chosen one first; `again` asks a turn anew.

    `chain` is asked in a thread: a model's key may be in a keyring, which takes its time.
    Closing the generator stops the reply; raises LilaError, words kept.
    """
    models = tuple(await asyncio.to_thread(chain))
    turn = again or await asyncio.to_thread(begin, resources, said)
    yield Started(turn.session_id, turn.id)
    open_turn = _OpenTurn(resources, models, said, tools, turn)
    try:
        with _beside(resources, said, turn):
            async with aclosing(open_turn.events()) as events:
                async for event in events:
                    yield event
    except LilaError as error:
        if open_turn.reply.text:
            error.hint = (
                "what came is kept and marked as partial; `lila ask --retry --session "
                f"{turn.session_id}` asks again"
            )
        raise
    finally:
        # Not awaited: when the task is being cancelled an await would be cancelled with it, and
        # the partial reply lost. It is one small transaction.
        open_turn.store()
    if open_turn.reply.finished == "length":
        yield Notice(open_turn.ended)
    if unfounded := open_turn.citations().notice:
        yield Notice(unfounded)
    if open_turn.reply.usage != Usage():
        yield open_turn.reply.usage
    yield Done(turn.session_id, open_turn.record_id, open_turn.stopped, open_turn.answering)


def _beside(resources: Resources, said: Said, turn: TurnRow) -> AbstractContextManager[None]:
    """What the background does while the turn is answered: by voice nothing, else little."""
    spoken, afterwards = said.uttered is not None, resources.afterwards
    return afterwards.speaking(turn.id) if spoken else afterwards.answering(turn.id)


@dataclass(slots=True)
class _Asked:
    """What one answer is asked for: with which steps before it, and which tools it was offered."""

    specification: Specification
    steps: tuple[Step, ...]
    offered: tuple[str, ...] = ()


class _OpenTurn:
    """A turn that is being answered."""

    def __init__(
        self,
        resources: Resources,
        chain: tuple[Provider, ...],
        said: Said,
        tools: Tools,
        turn: TurnRow,
    ) -> None:
        self._resources = resources
        self._chosen = chain[0]
        self._chain = self._candidates = chain
        self._said = said
        self._tools = tools
        self._turn = turn
        self._shown: tuple[str, ...] = ()
        """Items whose text tools of this turn returned."""
        self.reply = Reply()
        self.answering = chain[0].name
        self.record_id = ""
        self.stopped = True
        self._stored = False
        self._limits = chain[0].limits()
        """What the prompt was assembled for."""
        self._limit = 0
        """Tokens the prompt could have had."""
        self._chosen_limit = 0
        """The same under the chosen model's limits, which the conversation is cut for."""
        self._generation = 0
        self._reserve = 0
        """Tokens the reply may have by the policy."""
        self._cut: CutRow | None = None
        """The cut this turn's own prompt had to make."""
        self._cuts = True
        """Whether the session is cut where its window outgrew this turn's share."""
        self._context: Context | None = None
        """What the model that answers saw last."""

    async def events(self) -> AsyncGenerator[TurnEvent, None]:
        """Answer, and answer again with what tools returned while the model asks for some."""
        leave = await asyncio.to_thread(self._resources.budget.check, self._candidates)
        self._chain = self._candidates = tuple(self._chain[place] for place in leave.places)
        self.answering = self._candidates[0].name
        if leave.notice:
            yield Notice(leave.notice)
        specification = await asyncio.to_thread(self._specify)
        loop = ToolLoop(await asyncio.to_thread(self._setting, specification))
        while True:
            answering = _Asked(specification, loop.steps)
            async with aclosing(self._answer(answering)) as events:
                async for event in events:
                    yield event
            if not self.reply.asks:
                self.stopped = False
                return
            if loop.over:
                yield Notice("the model did not stop asking for tools and was left; ask again")
                return
            if self.reply.text:
                self._stay()
            reply = await asyncio.to_thread(kept, self._resources.privacy, self.reply)
            asked = loop.take(reply, offered=answering.offered, record_id=self.record_id)
            async with aclosing(asked) as events:
                async for event in events:
                    yield event
            self._shown = tuple(loop.items)
            specification = replace(
                answering.specification,
                parent_record_id=self.record_id,
                exchanges=loop.exchanges,
            )

    def _stay(self) -> None:
        """Keep to the model that answers: the person has heard it, and no other voice comes in."""
        self._chain = self._candidates = tuple(
            provider for provider in self._chain if provider.name == self.answering
        )

    @property
    def ended(self) -> str:
        """What to say of a reply that ended at a limit: the policy's, or one of the model's own."""
        output = self.reply.usage.output
        # Only where the next turn sees this one can anything go on.
        goes_on = self._said.use_case != "voice"
        if output is not None and output < self._reserve:
            said = "the model can write no more at once, so its reply ends here"
            return f"{said}; ask to go on" if goes_on else said
        way = "ask to go on, or raise" if goes_on else "a longer one takes a larger"
        return f"the reply reached its limit and ends here; {way} `reply_reserve`"

    def citations(self) -> citing.Citations:
        """What the reply names as sources, held against what its prompt and its tools gave it."""
        if self._context is None:
            return citing.Citations()
        given = citing.given_by(self._context.record) | set(self._shown)
        said = [
            part.content
            for block in self._context.blocks
            if block.name == "conversation"
            for part in block.parts
            if part.role == "assistant"
        ]
        return citing.check(self.reply.text, given, said)

    def _setting(self, specification: Specification) -> Setting:
        """What the tool loop works with."""
        policy, resources = specification.policy.tools, self._resources
        where = Where(
            self._turn.session_id,
            self._turn.id,
            self._said.now,
            policy.result_tokens,
            resources.count,
        )
        writes = resources.roster.settings.memory.writes
        tools = self._tools
        return Setting(resources.store, tools.toolbox, policy, where, tools.confirm, writes)

    async def _answer(self, asked: _Asked) -> AsyncGenerator[TurnEvent, None]:
        """Assemble, record, ask; again while one that is to answer finds it too large."""
        earlier = self.reply.text
        for assembly in range(1, MOST_ASSEMBLIES + 1):
            context = await asyncio.to_thread(self._record, asked.specification)
            request = as_request(context, self._said.use_case, steps=asked.steps)
            asked.offered = tuple(tool.name for tool in request.tools)
            self.reply = Reply(earlier)
            try:
                async with aclosing(self._stream(request)) as events:
                    async for event in events:
                        yield event
            except ContextTooLarge as error:
                if assembly == MOST_ASSEMBLIES or self.reply.said:
                    raise
                smaller, notice = self._smaller(asked.specification, error.model)
                asked.specification = smaller
                if notice:
                    yield Notice(notice)
            else:
                return

    def _smaller(self, specification: Specification, model: str) -> tuple[Specification, str]:
        """The same candidates for a model that cannot take the prompt; it is the next to be asked.

        With limits of its own it gets those, else less than it said it would take. Those before it
        in the chain failed already; with another prompt they would not read their caches either.
        """
        names = [provider.name for provider in self._chain]
        self._candidates = self._chain[names.index(model) if model in names else 0 :]
        self.answering = self._candidates[0].name
        limits = self._candidates[0].limits()
        if limits != self._limits:
            self._limits = limits
            return under(specification, self.record_id, limits), ""
        limit = self._limit * TIGHTER[0] // TIGHTER[1]
        notice = "the prompt was too large for the model; asking again with less"
        return tighter(specification, self.record_id, limit), notice

    def _specify(self) -> Specification:
        said, turn = self._said, self._turn
        # Read before the candidates: what is forgotten meanwhile must not come back in a record.
        self._generation = erasure.generation(self._resources.store)
        if said.uttered is not None:
            # A chat somebody also speaks in keeps its window, which is larger than voice's.
            session = sessions.get(self._resources.store, turn.session_id)
            self._cuts = session.use_case == said.use_case
        ask = Ask(
            text=said.text,
            use_case=said.use_case,
            session_id=turn.session_id,
            now=said.now,
            model=self._chosen.name,
            limits=self._limits,
            budget=said.budget,
            before_sequence=turn.sequence,
            deadline=said.live,
        )
        return specify(self._resources, ask, write=True)

    def _record(self, specification: Specification) -> Context:
        """Assemble, and put on record what the model is about to see."""
        store = self._resources.store
        specification = replace(specification, record_id=records.next_id(store))
        self._context = context = compose(self._resources, specification)
        self._limit = context.record["token_budget"]["limit"]
        self._reserve = context.reply_reserve
        # The conversation is cut for the chosen model alone: one that steps in for a turn and
        # takes less must not shorten it for good.
        chosen = self._cuts and self._limits == self._chosen.limits()
        if chosen:
            self._chosen_limit = self._limit
        at = moments.stored(self._said.now)
        with store.write() as connection:
            # A summary made from what was forgotten meanwhile must not be kept; the next turn cuts.
            unchanged = erasure.generation(connection) == self._generation
            if context.cut is not None and chosen and unchanged:
                forced = Forced(self._turn.session_id, context.cut, specification.summary, at)
                self._cut = overrun(connection, forced, self._cut)
            self.record_id = records.save(
                connection,
                context.record,
                inputs=to_inputs(specification),
                policy=snapshot(specification.policy),
                generation=self._generation,
                turn_id=self._turn.id,
                shown=self._shown,
            )
        return context

    async def _stream(self, request: Request) -> AsyncGenerator[TurnEvent, None]:
        called = self._resources.caller.stream(self._candidates, request, record_id=self.record_id)
        async with aclosing(called) as events:
            async for event in events:
                match event:
                    case Switched(to=to, why=why):
                        self._go_on_with(to)
                        yield Notice(f"{why}; {to} answers", to)
                    case TextDelta(text=text):
                        shown = self.reply.shown(text)
                        self.reply.take(event)
                        yield TextDelta(shown)
                    case ThinkingDelta():
                        yield event
                    case _:
                        self.reply.take(event)

    def _go_on_with(self, name: str) -> None:
        """One model for the rest of the turn, as far as it can: who begins it also ends it."""
        self.answering = name
        self._candidates = tuple(sorted(self._candidates, key=lambda one: one.name != name))

    def store(self) -> None:
        """Keep the reply, or what there is of it; a turn nothing came of stays unanswered."""
        if self._stored or not (self.reply.text or not self.stopped):
            return
        self._stored = True
        turns.finish(
            self._resources.store,
            self._turn.id,
            self._resources.privacy.kept(self.reply.text, ours=True),
            stopped=self.stopped,
            record_id=self.record_id or None,
            model=self.answering,
            again=True,
            at=moments.stored(self._said.now),
        )
        self._resources.settle(self._settle)

    def _settle(self) -> None:
        """After the reply: a cut that is due, a name that is, and vectors for what was said."""
        resources = self._resources
        row = resources.policy.use_case(self._said.use_case)
        if row is not None and self._cuts:
            at = moments.stored(self._said.now)
            settle(resources, self._turn.session_id, row, self._chosen_limit, at)
        titling.settle(resources, self._turn.session_id)
        resources.learn()
        resources.later(lambda: records.cool(resources.store))
