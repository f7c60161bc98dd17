"""The loop on a clock of its own: sound goes in, sound comes out, and both are a file's.

The clock is the number of samples: a frame comes every 32 ms, the speaker pulls every 20 ms, and
work takes what `[simulation]` of `policies/voice.toml` declares, whatever it takes in truth. So two
runs over the same parts say the same at the same time, as fast as the parts are.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Protocol

from lila_app.voice.driving import Driver, Showing
from lila_app.voice.ear import Ear, kept_ms
from lila_app.voice.hands import Hands, read
from lila_app.voice.machine import Rules, start
from lila_app.voice.model import (
    FRAME,
    FRAME_MS,
    Action,
    Audible,
    Back,
    Event,
    Frame,
    Lost,
    Part,
    Phase,
    Pressed,
    Recognise,
    Silent,
    Tick,
)
from lila_app.voice.mouth import Utterance
from lila_app.voice.parts import Parts
from lila_app.voice.playback import Begun, Playback
from lila_app.voice.tracing import Tracing
from lila_app.voice.view import View
from lila_app.voice.virtual import Maker, Pace, Reader, Talker, Timeline

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Samples = NDArray[np.int16]

BLOCK_MS = 20
"""What the speaker pulls at once."""

_AFTER_MS = 1_000
"""LILA listens so long after all is said before it is over: longer than `endpoint.reopen`, within
which the last turn may still go on."""

_MOST_AFTER_MS = 600_000
"""No reply is waited for longer than this after the last sound."""

Given = Pressed | Lost | Back
"""What a script may have happen."""


class Room(Protocol):
    """What lies between the speaker and the microphone."""

    def played(self, samples: Samples) -> None:
        """The next 20 ms that leave the speaker."""
        ...

    def heard(self, frame: Samples) -> Samples:
        """The next frame as the microphone hears it."""
        ...


class Simulation:
    """One conversation; `run` it once. `log` takes each event and action as it happens."""

    def __init__(
        self,
        parts: Parts,
        view: View,
        source: Iterable[Samples],
        sink: Callable[[Samples], None],
        *,
        duplex: bool = True,
        script: Iterable[tuple[int, Given]] = (),
        room: Room | None = None,
        pace: Pace | None = None,
        log: Callable[[str], None] | None = None,
    ) -> None:
        self._parts = parts
        self._source = iter(source)
        self._sink = sink
        self._room = room
        self._log = log
        self._number = 0
        self._blocks = 0
        self._source_ended: int | None = None
        self._busy_until = 0
        self._lost: set[Part] = set()
        self._time = Timeline()
        policy, costs = parts.policy, parts.policy.simulation
        state = start(Rules(policy, push_to_talk=parts.push_to_talk), duplex=duplex)
        self._showing = Showing(view, state.phase)
        self.playback = Playback(
            parts.synthesiser.rate,
            fade_ms=policy.interruption.fade,
            clock=lambda: self._time.now,
            notice=self._noticed,
        )
        self.playback.latency_ms = costs.output_latency
        self._ear = Ear(kept_ms(policy))
        self._tracing = Tracing(
            policy.activity.ends, parts.keep, self._ear.at, lambda: self.playback.starved_ms
        )
        reader = Reader(self._time, costs.recognise, self._read, self._take)
        self._talker = Talker(
            self._time, parts.conversation, pace or self._pace, self._take, self._tell
        )
        maker = Maker(
            self._time,
            costs.synthesise,
            parts.synthesiser,
            self.playback,
            self._sounded,
            self._tell,
        )
        workers = reader, self._talker, maker
        self._hands = Hands(parts, self.playback, workers, self._send, self._tell)
        self._driver = Driver(state, self, self._showing, self._tracing)
        for when, given in script:
            self._time.at(when, lambda given=given: self._happen(given))

    async def run(self) -> int:
        """Until the sound is at its end and LILA has said what there is to say; its length in ms.

        Cancelled, it stops the reply and leaves the conversation in order.
        """
        self._time.at(0, self._pull)
        self._time.at(FRAME_MS, self._frame)
        try:
            while self._showing.phase is not Phase.ENDED and await self._time.step():
                await self._talker.catch_up()
                await asyncio.sleep(0)  # what the conversation does beside must get its turn
        finally:
            self._tracing.end(self._time.now)
            await self._talker.close()
        return self._time.now

    # -- what the machine says ---------------------------------------------------------------------

    def do(self, action: Action, now: int) -> None:
        """Carry out an action; what comes of it comes as events."""
        self._note(f"{now:>8}   {action!r}")
        self._hands.do(action, now)

    # -- what happens ------------------------------------------------------------------------------

    def _take(self, event: Event) -> None:
        now = self._time.now
        if not isinstance(event, Frame | Tick):
            self._note(f"{now:>8} {event!r}")
        self._driver.take(event, now)

    def _happen(self, given: Given) -> None:
        match given:
            case Lost(part=part):
                self._lost.add(part)
            case Back(part=part):
                self._lost.discard(part)
                self._parts.activity.reset()
            case _:
                pass
        self._take(given)

    def _frame(self) -> None:
        self._time.at(self._time.now + FRAME_MS, self._frame)
        samples = self._next()
        if self._room is not None:
            samples = self._room.heard(samples)
        number, self._number = self._number, self._number + 1
        if "microphone" in self._lost or self._showing.muted:
            self._take(Tick())
        else:
            self._ear.add(number, samples, self._time.now)
            self._take(Frame(number, self._parts.activity.speech(samples)))
        self._maybe_over()

    def _next(self) -> Samples:
        import numpy as np

        found = next(self._source, None)
        if found is None:
            self._source_ended = self._source_ended or self._time.now
            return np.zeros(FRAME, np.int16)
        return found

    def _maybe_over(self) -> None:
        """End once the sound is over and LILA has been listening for a while."""
        now = self._time.now
        if not self._showing.phase.idle:
            self._busy_until = now
        if self._source_ended is None:
            return
        quiet = now - max(self._source_ended, self._busy_until)
        if quiet >= _AFTER_MS or now - self._source_ended >= _MOST_AFTER_MS:
            self._take(Pressed("quit"))

    def _pull(self) -> None:
        rate, number = self.playback.rate, self._blocks
        self._blocks += 1
        self._time.at(self._blocks * BLOCK_MS, self._pull)
        count = _samples(number + 1, rate) - _samples(number, rate)
        if "speaker" in self._lost:
            import numpy as np

            block = np.zeros(count, np.int16)
        else:
            block = self.playback.pull(count)
        self._sink(block)
        if self._room is not None:
            self._room.played(block)

    def _noticed(self, event: Audible | Begun | Silent, at: int) -> None:
        if isinstance(event, Begun):
            self._time.at(at, lambda: self._showing.said(event))
        else:
            self._time.at(at, lambda: self._take(event))

    def _sounded(self, utterance: Utterance) -> None:
        piece = utterance.piece
        self._tracing.sounded(piece.turn, piece.revision, self._time.now)

    def _read(self, action: Recognise) -> Event:
        return read(action, self._parts, self._ear, self.playback, self._tell)

    def _send(self, event: Event) -> None:
        self._time.at(self._time.now, lambda: self._take(event))

    def _pace(self, turn: int, count: int) -> int:
        del turn
        costs = self._parts.policy.simulation
        return costs.per_token if count else costs.first_token

    def _tell(self, message: str, hint: str) -> None:
        self._note(f"{self._time.now:>8}   told: {message}")
        self._showing.tell(message, hint)

    def _note(self, line: str) -> None:
        if self._log is not None:
            self._log(line)


def _samples(blocks: int, rate: int) -> int:
    return blocks * BLOCK_MS * rate // 1_000
