"""A microphone and a speaker, open and watched over: the `SoundSystem` of a real machine."""

from __future__ import annotations

import logging
import time
from threading import Event as Flag
from threading import RLock, Thread
from typing import TYPE_CHECKING

from lila_app.errors import LilaError, SoundError
from lila_app.voice.devices import end as ends
from lila_app.voice.devices.backend import Backend, Machine
from lila_app.voice.devices.choosing import (
    Choice,
    preferred_microphone,
    preferred_speaker,
    survey,
)
from lila_app.voice.devices.end import End
from lila_app.voice.devices.hearing import Hearing
from lila_app.voice.devices.naming import Device, chosen
from lila_app.voice.devices.playing import Playing
from lila_app.voice.model import Back, Lost, Part, Tell

if TYPE_CHECKING:
    from lila_app.voice.ports import Heard, News, Pull

_log = logging.getLogger(__name__)

_LOOK_S = 0.1
"""Between two looks at the streams."""

_PLACES_S = 2.0
"""Between two looks at where the server has put them; each costs a process of 6 ms."""


class SoundCard:
    """Keeps both ends open: what dies or is moved away is opened again, with growing waits.

    `headphones` is what the person says of the speaker. Safe to use from any thread; `news` is
    called from a thread of the card's own.
    """

    def __init__(
        self,
        *,
        microphone: str = "",
        speaker: str = "",
        headphones: bool = False,
        backend: Backend | None = None,
    ) -> None:
        self._wanted: dict[Part, str] = {"microphone": microphone, "speaker": speaker}
        self._headphones = headphones
        self._backend = backend
        self._ends: dict[Part, End] = {}
        self._duplex: bool | None = None
        self._lock = RLock()
        self._over = Flag()
        self._watch: Thread | None = None
        self._places_at = 0.0

    def microphone(self, heard: Heard, news: News) -> Handle:
        """Open the chosen microphone. Raises `SoundError`, and `UsageError` for its name."""
        end = ends.microphone(self._wanted["microphone"], Hearing(heard), news)
        return self._add(end)

    def speaker(self, pull: Pull, rate: int, news: News) -> Handle:
        """Open the chosen speaker. Raises as `microphone` does."""
        return self._add(ends.speaker(self._wanted["speaker"], Playing(pull, rate), rate, news))

    def duplex(self) -> bool:
        """Whether LILA may listen while it speaks: headphones, or a source without echo.

        Before anything is open it is what the chosen devices promise.
        """
        if self._duplex is None:
            with self._lock:
                self._duplex = self._promised()
        return self._duplex

    def close(self) -> None:
        """Close both ends; safe to call twice."""
        self._over.set()
        watch, self._watch = self._watch, None
        if watch is not None:
            watch.join(timeout=5)
        with self._lock:
            for part in list(self._ends):
                self.shut(part)

    def shut(self, part: Part) -> None:
        """Close one end."""
        with self._lock:
            end = self._ends.pop(part, None)
            if end is not None:
                end.close()

    def device(self, part: Part) -> Device:
        """The device that is, or would be, opened. Raises as `microphone` does."""
        with self._lock:
            return self._chosen(part)

    def latency_ms(self, part: Part) -> int:
        """What an open end's device says of its latency."""
        end = self._ends.get(part)
        return end.latency_ms if end else 0

    def look(self, now: float) -> None:
        """See to both ends; `now` in seconds, as `time.monotonic` has them."""
        with self._lock:
            news = [*self._losses(now), *self._recoveries(now)]
        for end, event in news:
            end.news(event)

    def _add(self, end: End) -> Handle:
        with self._lock:
            try:
                if not self._ends:
                    self._machine.restart()
                self._open(end)
            except LilaError:
                end.close()
                raise
            self._ends[end.part] = end
        if self._watch is None:
            self._over.clear()
            self._watch = Thread(target=self._watching, name="lila-sound", daemon=True)
            self._watch.start()
        return Handle(self, end.part)

    def _watching(self) -> None:
        while not self._over.wait(_LOOK_S):
            try:
                self.look(time.monotonic())
            except Exception as error:
                _log.error("the watch stumbled: %s", type(error).__name__, exc_info=error)

    # -- what is lost -----------------------------------------------------------------------------

    def _losses(self, now: float) -> list[tuple[End, Lost | Back | Tell]]:
        looked = now >= self._places_at
        if looked:
            self._places_at = now + _PLACES_S
        news: list[tuple[End, Lost | Back | Tell]] = []
        for end in self._ends.values():
            if not end.live:
                continue
            if end.dead(now):
                news.append((end, self._lose(end, now, f"the {end.part} {end.name!r} is gone")))
            elif looked:
                news += [(end, event) for event in self._placed(end, now)]
            if end.live and end.falls_silent():
                news.append((end, self._silent(end)))
        return news

    def _lose(self, end: End, now: float, why: str) -> Lost:
        end.shut()
        end.postpone(now)
        return Lost(end.part, f"{why}; LILA opens it again when it is there")

    def _placed(self, end: End, now: float) -> list[Lost | Back | Tell]:
        """What there is to say of where the server has put a stream, without a word to us."""
        place = self._machine.placed(end.part)
        if not end.device or place in ("", end.device.name):
            return []
        try:
            device = chosen(self._machine.devices(), end.part, place)
        except LilaError:
            return []  # it moves right now; the next look sees where to
        speaker = self._choice().speaker
        if not end.wanted and (speaker is None or device.monitors != speaker.name):
            # The person, or their system, chose another device for all programs, or for this one.
            end.device = device
            self._duplex = self._choice().duplex(self._headphones)
            return [
                Tell(f"the {end.part} is now {device.label!r}"),
                Back(end.part, duplex=self.duplex()),
            ]
        return [self._lose(end, now, f"the {end.part} {end.name!r} is gone")]

    def _silent(self, end: End) -> Tell:
        try:
            found = [d for d in self._machine.devices() if end.device and d.name == end.device.name]
        except SoundError:
            found = []
        if any(device.muted for device in found if device.part == end.part):
            return Tell(f"the microphone {end.name!r} is muted", "unmute it in the sound settings")
        return Tell(
            f"the microphone {end.name!r} gives nothing but silence: is it muted?",
            "look for a switch on it, and whether the system lets your terminal use the microphone",
        )

    # -- what is opened ---------------------------------------------------------------------------

    def _recoveries(self, now: float) -> list[tuple[End, Lost | Back | Tell]]:
        lost = [end for end in self._ends.values() if not end.live]
        if not any(now >= end.retry_at for end in lost):
            return []
        live = [end for end in self._ends.values() if end.live]
        try:
            if not live:
                self._machine.restart()
        except SoundError:
            for end in lost:
                end.postpone(now)
            return []
        return [(end, event) for end in lost for event in self._reopened(end, now)]

    def _reopened(self, end: End, now: float) -> list[Back]:
        try:
            self._open(end)
        except LilaError:
            end.postpone(now)
            return []
        return [Back(end.part, duplex=self.duplex())]

    def _open(self, end: End) -> None:
        end.open(self._machine, self._chosen(end.part))
        self._duplex = self._choice(end).duplex(self._headphones)

    def _chosen(self, part: Part) -> Device:
        devices = self._machine.devices()
        if part == "speaker":
            return chosen(devices, part, self._wanted[part])
        speaker = self._choice().speaker or preferred_speaker(devices, self._wanted["speaker"])
        return preferred_microphone(devices, self._wanted[part], speaker)

    @property
    def _machine(self) -> Backend:
        if self._backend is None:
            self._backend = Machine()
        return self._backend

    def _promised(self) -> bool:
        try:
            found = survey(self._machine, self._wanted["microphone"], self._wanted["speaker"])
        except SoundError:
            return self._headphones
        return found.choice.duplex(self._headphones)

    def _choice(self, opened: End | None = None) -> Choice:
        """The devices that are open, or were; `opened` is the one that was opened just now."""
        known = {**self._ends, **({opened.part: opened} if opened else {})}
        microphone, speaker = known.get("microphone"), known.get("speaker")
        return Choice(microphone and microphone.device, speaker and speaker.device)


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
