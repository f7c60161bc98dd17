"""The assistant as the loop needs it: one session, in which a turn's words may still change.

Replies are asked for before it is certain that the person is done. What is asked so becomes a turn
at once, since words must not be lost; asked again, its words take the place of those before, and
nothing is learned from them until the next turn begins or nobody has spoken for a while, for until
then the person may go on.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncGenerator, Callable
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import datetime

from lila_app.assistant import Lila
from lila_app.errors import LilaError
from lila_app.events import Notice, Started, TextDelta, TurnEvent, Uttered
from lila_app.voice.hotwords import Hotwords

_log = logging.getLogger(__name__)

LISTENING_SECONDS = 40.0
"""How long background work gives way after somebody began to speak: a turn of 30 s at the most
(`activity.longest` in policies/voice.toml), and what it takes to be asked for."""

REPLYING_SECONDS = 120.0
"""How long at most for a reply that is being written."""

SPEAKING_SECONDS = 5.0
"""How long after its last word was written: it is still being spoken."""

KEPT = 4
"""Turns remembered after the next one began: what was heard of a reply may be told late."""


@dataclass(slots=True)
class _Turn:
    """A turn of the loop: when it began, and which stored turn it became ("" for none).

    `final`: the loop takes its words for all there are; `settled`: nothing changes them any more.
    """

    began: datetime
    id: str = ""
    final: bool = False
    settled: bool = False


class SpokenConversation:
    """`ports.Conversation` over an open LILA. For one event loop; `close` it.

    `session` None begins one with the first words. `hotwords` is how many names are read ahead
    (`recogniser.hotwords` in policies/voice.toml). `told` gets what a person should know and is no
    part of a reply.
    """

    def __init__(
        self,
        lila: Lila,
        *,
        session: str | None = None,
        model: str | None = None,
        continuity: bool = False,
        hotwords: int = 40,
        told: Callable[[str], None] = lambda _: None,
    ) -> None:
        self._lila = lila
        self._model = model
        self._use_case = "voice_continuity" if continuity else "voice"
        self._told = told
        self._session = session
        self._turns: dict[int, _Turn] = {}
        self._reply: _Reply | None = None
        self._warming: asyncio.Task[None] | None = None
        self._reading_for: datetime | None = None
        self._settling: set[asyncio.Task[None]] = set()
        self._hotwords = Hotwords(lila, hotwords)
        self._hush = _Hush(lila, self._settle_final)

    @property
    def session(self) -> str | None:
        """The session it is in; None until something was said."""
        return self._session

    @property
    def use_case(self) -> str:
        """`voice`, or `voice_continuity`."""
        return self._use_case

    def stored(self, turn: int) -> str:
        """The id of the stored turn that a turn of the loop became; "" for none."""
        found = self._turns.get(turn)
        return found.id if found is not None else ""

    async def start(self) -> None:
        """Settle what was left open, load what a first turn needs, read names ahead."""
        await asyncio.to_thread(
            self._lila.spoken.begin,
            use_case=self._use_case,
            session=self._session,
            model=self._model,
        )
        self._warm(self._lila.spoken.now())
        await self._hotwords.refresh()

    def open(self, turn: int) -> None:
        """See `ports.Conversation`; opened again, a turn keeps its clock."""
        if turn not in self._turns:
            self._turns[turn] = _Turn(self._lila.spoken.now())
            self._settle_before(turn)
        self._turns[turn].final = False
        self._hush.keep(LISTENING_SECONDS)
        self._warm(self._turns[turn].began)
        self._hotwords.refresh_later()

    async def ask(self, turn: int, text: str) -> AsyncGenerator[str, None]:
        """See `ports.Conversation`. Raises LilaError; the words are kept then.

        Whatever reply was under way is stopped first.
        """
        await self._stop()
        await self._stop_warming()
        if turn not in self._turns:
            self._turns[turn] = _Turn(self._lila.spoken.now())
        known = self._turns[turn]
        self._hush.keep(REPLYING_SECONDS)

        def begun(event: Started) -> None:
            self._session, known.id = event.session_id, event.turn_id

        reply = self._reply = _Reply(turn, self._asked(known, text), begun)
        try:
            async for event in reply.events():
                match event:
                    case TextDelta(text=piece):
                        yield piece
                    case Notice(text=said):
                        self._told(said)
                    case _:
                        pass
        finally:
            await reply.close()
            if self._reply is reply:  # else it was ended from elsewhere
                self._reply = None
                self._hush.keep(SPEAKING_SECONDS)

    async def settle(self, turn: int) -> None:
        """See `ports.Conversation`; it takes effect when the next turn begins, or nobody speaks."""
        if turn in self._turns:
            self._turns[turn].final = True
            if self._reply is None:
                self._hush.keep(SPEAKING_SECONDS)

    async def heard(self, turn: int, text: str) -> None:
        """See `ports.Conversation`."""
        await self._stop(turn)
        if id := self.stored(turn):
            await asyncio.to_thread(self._lila.spoken.heard, id, text)

    async def withdraw(self, turn: int) -> None:
        """See `ports.Conversation`; what was settled stays."""
        await self._stop(turn)
        known = self._turns.pop(turn, None)
        if known is not None and known.id and not known.settled:
            await asyncio.to_thread(self._lila.spoken.withdraw, known.id)

    def hotwords(self) -> str:
        """See `ports.Conversation`."""
        return self._hotwords.text

    async def close(self) -> None:
        """Stop what is under way and settle every turn; safe to call twice."""
        await self._stop()
        await self._stop_warming()
        self._settle_before(None)
        await asyncio.gather(*self._settling, return_exceptions=True)
        await self._hotwords.close()
        self._hush.end()

    def _asked(self, known: _Turn, text: str) -> AsyncGenerator[TurnEvent, None]:
        return self._lila.turn(
            text,
            use_case=self._use_case,
            session=self._session,
            model=self._model,
            # Settled words cannot be taken back: who goes on after all, begins a turn.
            uttered=Uttered(known.began, "" if known.settled else known.id),
        )

    async def _stop(self, turn: int | None = None) -> None:
        """End the reply under way, if it is this turn's."""
        if self._reply is not None and turn in (None, self._reply.turn):
            ended, self._reply = self._reply, None
            await ended.close()
            known = self._turns.get(ended.turn)
            goes_on = known is not None and not known.final
            self._hush.keep(LISTENING_SECONDS if goes_on else SPEAKING_SECONDS)

    def _settle_before(self, turn: int | None) -> None:
        """Settle every turn before this one, or all."""
        for number in [one for one in self._turns if turn is None or one < turn]:
            known = self._turns[number]
            if known.id and not known.settled:
                known.settled = True
                settling = asyncio.create_task(self._settle(known.id))
                self._settling.add(settling)
                settling.add_done_callback(self._settling.discard)
        for number in sorted(self._turns)[:-KEPT]:
            del self._turns[number]

    def _settle_final(self) -> None:
        """Nobody has spoken for a while: settle what is final. A turn that goes on is not."""
        for number in sorted(self._turns):
            if not self._turns[number].final:
                break
            self._settle_before(number + 1)

    async def _settle(self, id: str) -> None:
        try:
            await asyncio.to_thread(self._lila.spoken.settle, id)
        except LilaError as error:  # it stays open, and the next conversation settles it
            _log.warning("a spoken turn was not settled: %s", type(error).__name__)

    def _warm(self, began: datetime) -> None:
        """Read ahead for a turn that began then; what was read for another one stays read."""
        before = self._warming
        if before is None or before.done() or began != self._reading_for:
            self._reading_for = began
            self._warming = asyncio.create_task(self._read_ahead(began, before))

    async def _read_ahead(self, began: datetime, before: asyncio.Task[None] | None) -> None:
        await _ended(before)
        try:
            await self._lila.spoken.warm(
                began, use_case=self._use_case, session=self._session, model=self._model
            )
        except LilaError as error:  # whoever asks for the reply is told
            _log.info("nothing was read ahead: %s", type(error).__name__)

    async def _stop_warming(self) -> None:
        await _ended(self._warming)


async def _ended(task: asyncio.Task[None] | None) -> None:
    if task is not None and not task.done():
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


class _Reply:
    """A reply under way in a task of its own, so that it can be ended from elsewhere.

    `begun` is told which turn it answers, also where nobody takes its events any more.
    """

    def __init__(
        self,
        turn: int,
        events: AsyncGenerator[TurnEvent, None],
        begun: Callable[[Started], None],
    ) -> None:
        self.turn = turn
        self._tell = begun
        self._queue: asyncio.Queue[TurnEvent | None] = asyncio.Queue()
        self._begun = asyncio.Event()
        self._task = asyncio.create_task(self._read(events))
        self._closed = False

    async def events(self) -> AsyncGenerator[TurnEvent, None]:
        """Its events, until it is whole or closed. Raises what ended it."""
        while (event := await self._queue.get()) is not None:
            yield event
        if not self._closed:
            await self._task

    async def close(self) -> None:
        """End it; returns when what came of it is kept."""
        self._closed = True
        # Ended while its words are being stored, it would leave a turn nobody knows the id of.
        begun = asyncio.create_task(self._begun.wait())
        await asyncio.wait({begun, self._task}, return_when=asyncio.FIRST_COMPLETED)
        begun.cancel()
        self._task.cancel()
        await asyncio.gather(begun, self._task, return_exceptions=True)

    async def _read(self, events: AsyncGenerator[TurnEvent, None]) -> None:
        try:
            async with contextlib.aclosing(events):
                async for event in events:
                    if isinstance(event, Started):
                        self._tell(event)
                        self._begun.set()
                    self._queue.put_nowait(event)
        finally:
            self._queue.put_nowait(None)


class _Hush:
    """Keeps background work off the processor for a while; for one event loop.

    `then` is called when the while is over and nobody kept it longer.
    """

    def __init__(self, lila: Lila, then: Callable[[], None]) -> None:
        self._lila = lila
        self._then = then
        self._held = ExitStack()
        self._holding = False
        self._timer: asyncio.TimerHandle | None = None

    def keep(self, seconds: float) -> None:
        """From now on for so long, whatever was said before."""
        if not self._holding:
            self._held.enter_context(self._lila.spoken.quiet())
            self._holding = True
        if self._timer is not None:
            self._timer.cancel()
        self._timer = asyncio.get_running_loop().call_later(seconds, self._over)

    def _over(self) -> None:
        self.end()
        self._then()

    def end(self) -> None:
        """No longer; safe to call twice."""
        if self._timer is not None:
            self._timer.cancel()
        self._holding = False
        self._held.close()
