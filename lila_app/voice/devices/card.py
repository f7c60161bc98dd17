"""A microphone and a speaker, open and watched over: the `SoundSystem` of a real machine."""

from __future__ import annotations

import logging
import time
from threading import Event as Flag
from threading import RLock, Thread
from typing import TYPE_CHECKING

from lila_app.voice.devices import end as ends
from lila_app.voice.devices.backend import Machine
from lila_app.voice.devices.hearing import Hearing
from lila_app.voice.devices.keeping import Keeper
from lila_app.voice.devices.naming import Device
from lila_app.voice.devices.playing import Playing
from lila_app.voice.model import Part

if TYPE_CHECKING:
    from lila_app.voice.devices.end import End
    from lila_app.voice.ports import Heard, News, Pull

_log = logging.getLogger(__name__)

_LOOK_S = 0.1
"""Between two looks at the streams."""


class SoundCard:
    """Keeps both ends open: what dies or is moved away is opened again, with growing waits.

    `headphones` is what the person says of the speaker. Safe to use from any thread; `news` is
    called from a thread of the card's own.
    """

    def __init__(
        self, *, microphone: str = "", speaker: str = "", headphones: bool = False
    ) -> None:
        self._wanted: dict[Part, str] = {"microphone": microphone, "speaker": speaker}
        self._headphones = headphones
        self._keeper: Keeper | None = None
        self._lock = RLock()
        self._over = Flag()
        self._watch: Thread | None = None

    def microphone(self, heard: Heard, news: News) -> Handle:
        """Open the chosen microphone. Raises `SoundError`, and `UsageError` for its name."""
        return self._add(ends.microphone(Hearing(heard), self._wanted["microphone"], news))

    def speaker(self, pull: Pull, rate: int, news: News) -> Handle:
        """Open the chosen speaker. Raises as `microphone` does."""
        return self._add(ends.speaker(Playing(pull, rate), rate, self._wanted["speaker"], news))

    def duplex(self) -> bool:
        """Whether LILA may listen while it speaks: headphones, or a source without echo.

        Before anything is open it is what the chosen devices promise. Raises `SoundError`.
        """
        keeper = self._keeper
        return (keeper or self._kept()).duplex

    def device(self, part: Part) -> Device:
        """The device that would be opened now. Raises as `microphone` does."""
        with self._lock:
            return self._kept().device(part)

    def close(self) -> None:
        """Close both ends; safe to call twice."""
        self._over.set()
        watch, self._watch = self._watch, None
        if watch is not None:
            watch.join(timeout=5)
        self.shut("microphone")
        self.shut("speaker")

    def shut(self, part: Part) -> None:
        """Close one end."""
        with self._lock:
            if self._keeper is not None:
                self._keeper.shut(part)

    def latency_ms(self, part: Part) -> int:
        """What an open end's device says of its latency."""
        keeper = self._keeper
        return keeper.latency_ms(part) if keeper else 0

    def _kept(self) -> Keeper:
        with self._lock:
            if self._keeper is None:
                self._keeper = Keeper(Machine(), self._wanted, headphones=self._headphones)
            return self._keeper

    def _add(self, end: End) -> Handle:
        with self._lock:
            self._kept().add(end)
            if self._watch is None:
                self._over.clear()
                self._watch = Thread(target=self._watching, name="lila-sound", daemon=True)
                self._watch.start()
        return Handle(self, end.part)

    def _watching(self) -> None:
        keeper = self._kept()
        while not self._over.wait(_LOOK_S):
            try:
                with self._lock:
                    found = keeper.look(time.monotonic())
                for end, event in found:
                    end.news(event)
            except Exception as error:  # who watches must not be the one to fall
                _log.error("the watch stumbled: %s", type(error).__name__, exc_info=error)


class Handle:
    """One open end of a card."""

    def __init__(self, card: SoundCard, part: Part) -> None:
        self._card = card
        self._part: Part = part

    @property
    def latency_ms(self) -> int:
        """From a sample that is pulled to one that is heard."""
        return self._card.latency_ms(self._part)

    def close(self) -> None:
        """Stop it; safe to call twice."""
        self._card.shut(self._part)
