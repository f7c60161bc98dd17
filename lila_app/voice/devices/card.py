"""A microphone and a speaker, open and watched over: the `SoundSystem` of a real machine."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from threading import Event as Flag
from threading import RLock, Thread
from typing import TYPE_CHECKING

from lila_app.errors import LilaError, SoundError
from lila_app.voice.devices import end as ends
from lila_app.voice.devices.backend import Backend, Machine
from lila_app.voice.devices.end import End
from lila_app.voice.devices.hearing import Hearing
from lila_app.voice.devices.naming import Device, chosen
from lila_app.voice.devices.playing import Playing
from lila_app.voice.model import Back, Lost, Part, Tell

if TYPE_CHECKING:
    from lila_app.voice.ports import Heard, News, Pull

_LOOK_S = 0.1
"""Between two looks at the streams."""

_PLACES_S = 2.0
"""Between two looks at where the server has put them; each costs a process of 6 ms."""

_WITHOUT_ECHO = re.compile(r"echo[-_ ]?cancel", re.IGNORECASE)


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
        self._duplex = headphones
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
        """Whether LILA may listen while it speaks: headphones, or a source without echo."""
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
            if self._backend is None:
                self._backend = Machine()
            try:
                if not self._ends:
                    self._backend.restart()
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
            self.look(time.monotonic())

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
        if not end.wanted and not self._is_echo(device):
            # The person, or their system, chose another device for all programs, or for this one.
            end.device = device
            self._duplex = self._without_echo()
            return [
                Tell(f"the {end.part} is now {device.label!r}"),
                Back(end.part, duplex=self._duplex),
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
        return [Back(end.part, duplex=self._duplex)]

    def _open(self, end: End) -> None:
        devices = self._machine.devices()
        device = chosen(devices, end.part, end.wanted)
        if not end.wanted and self._is_echo(device, devices):
            device = _another(devices)
        end.open(self._machine, device)
        self._duplex = self._without_echo(end)

    @property
    def _machine(self) -> Backend:
        if self._backend is None:
            raise SoundError("the sound system is not open")
        return self._backend

    def _is_echo(self, device: Device, devices: Sequence[Device] = ()) -> bool:
        """Whether a microphone gives back what LILA itself plays: no microphone at all."""
        if not device.monitors:
            return False
        return device.monitors == self._speaker_name(devices or self._machine.devices())

    def _speaker_name(self, devices: Sequence[Device]) -> str:
        speaker = self._ends.get("speaker")
        if speaker and speaker.device:
            return speaker.device.name
        try:
            return chosen(devices, "speaker", self._wanted["speaker"]).name
        except LilaError:
            return ""

    def _without_echo(self, opened: End | None = None) -> bool:
        known = {**self._ends, **({opened.part: opened} if opened else {})}
        microphone = known["microphone"].device if "microphone" in known else None
        speaker = known["speaker"].device if "speaker" in known else None
        if self._headphones or microphone is None:
            return self._headphones
        if microphone.canceller:
            # It takes out what is played on its own speaker, and nothing else.
            return speaker is not None and speaker.canceller == microphone.canceller
        return bool(_WITHOUT_ECHO.search(f"{microphone.name} {microphone.label}"))


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


def _another(devices: Sequence[Device]) -> Device:
    """A real microphone, where the system's is none. Raises `SoundError`."""
    for device in devices:
        if device.part == "microphone" and not device.monitors:
            return device
    raise SoundError(
        "there is no microphone: the system's gives back what the speaker plays",
        hint="connect one, then try again; `lila voice devices` lists what there is",
    )
