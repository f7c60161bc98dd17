"""Both ends of the sound system kept open: what is noticed, and what is done about it."""

from __future__ import annotations

from lila_app.errors import LilaError, SoundError
from lila_app.voice.devices.backend import Backend
from lila_app.voice.devices.choosing import (
    Choice,
    preferred_microphone,
    preferred_speaker,
    survey,
)
from lila_app.voice.devices.end import End
from lila_app.voice.devices.naming import Device, chosen
from lila_app.voice.model import Back, Lost, Part, Tell

_PLACES_S = 2.0
"""Between two looks at where the server has put the streams; each costs a process of 6 ms."""

News = tuple[End, Lost | Back | Tell]


class Keeper:
    """Knows the ends that are to be open, and opens again what was lost.

    One thread at a time. Times are seconds of the clock by which the ends note their blocks.
    """

    def __init__(self, backend: Backend, wanted: dict[Part, str], *, headphones: bool) -> None:
        """`wanted` names the devices, "" is the system's."""
        self.backend = backend
        self._wanted = wanted
        self._headphones = headphones
        self._ends: dict[Part, End] = {}
        self._places_at = 0.0
        self.duplex = self._promised()

    @property
    def empty(self) -> bool:
        """Whether no end is to be open."""
        return not self._ends

    def add(self, end: End) -> None:
        """Open an end, in place of one that was. Raises `SoundError` and `UsageError`."""
        self.shut(end.part)
        try:
            if self.empty:
                self.backend.restart()
            self._open(end)
        except LilaError:
            end.close()
            raise
        self._ends[end.part] = end

    def shut(self, part: Part) -> None:
        """Close an end for good."""
        end = self._ends.pop(part, None)
        if end is not None:
            end.close()

    def latency_ms(self, part: Part) -> int:
        """What an open end's device says of its latency."""
        end = self._ends.get(part)
        return end.latency_ms if end else 0

    def device(self, part: Part) -> Device:
        """The device that would be opened now. Raises as `add`."""
        return self._chosen(part, self.backend.devices())

    def look(self, now: float) -> list[News]:
        """See to both ends; what there is to tell, and by which of them."""
        return [*self._losses(now), *self._recoveries(now)]

    # -- what is lost -----------------------------------------------------------------------------

    def _losses(self, now: float) -> list[News]:
        looked = now >= self._places_at
        if looked:
            self._places_at = now + _PLACES_S
        news: list[News] = []
        for end in self._ends.values():
            if not end.live:
                continue
            if end.dead(now):
                news.append((end, self._lose(end, now)))
            elif looked:
                news += [(end, event) for event in self._placed(end, now)]
            if end.live:
                news += [(end, event) for event in self._silences(end, looked=looked)]
        return news

    def _lose(self, end: End, now: float) -> Lost:
        end.shut()
        end.postpone(now)
        return self._lost(end)

    def _lost(self, end: End) -> Lost:
        return Lost(
            end.part, f"the {end.part} {end.name!r} is gone; LILA opens it again when it is there"
        )

    def _placed(self, end: End, now: float) -> list[Lost | Back | Tell]:
        """What there is to say of where the server has put a stream, without a word to us."""
        place = self.backend.placed(end.part)
        if not end.device or place in ("", end.device.name):
            return []
        try:
            device = chosen(self.backend.devices(), end.part, place)
        except LilaError:
            return []  # it moves right now; the next look sees where to
        speaker = self._choice().speaker
        if not end.wanted and (speaker is None or device.monitors != speaker.name):
            # The person, or their system, chose another device for all programs, or for this one.
            end.device = device
            end.unmuted()
            self.duplex = self._choice().duplex(self._headphones)
            return [
                Tell(f"the {end.part} is now {device.label!r}"),
                Back(end.part, duplex=self.duplex),
            ]
        return [self._lose(end, now)]

    def _silences(self, end: End, *, looked: bool) -> list[Lost | Back | Tell]:
        """What there is to say of zeros: some microphones give them whenever nobody speaks.

        So the question is asked once, and of a microphone that was never heard. What the system
        knows is said each time, and nobody is heard until it is over.
        """
        if end.muted:
            if end.silent and not (looked and not self._muted(end)):
                return []
            end.unmuted()
            return [Back(end.part, self.duplex)]
        if not end.falls_silent():
            return []
        if self._muted(end):
            end.muted = True
            why = f"the microphone {end.name!r} is muted; unmute it in the sound settings"
            return [Lost(end.part, why, gone=False)]
        if end.silences > 1 or end.sounded:
            return []
        return [
            Tell(
                f"the microphone {end.name!r} gives nothing but silence: is it muted?",
                "look for a switch on it, and whether the system lets your terminal use the "
                "microphone",
            )
        ]

    def _muted(self, end: End) -> bool:
        """Whether the system says so; what it said last where it says nothing."""
        try:
            found = [d for d in self.backend.devices() if end.device and d.name == end.device.name]
        except SoundError:
            return end.muted
        return any(device.muted for device in found if device.part == end.part)

    # -- what is opened ---------------------------------------------------------------------------

    def _recoveries(self, now: float) -> list[News]:
        lost = [end for end in self._ends.values() if not end.live]
        if not any(now >= end.retry_at for end in lost):
            return []
        live = [end for end in self._ends.values() if end.live]
        # While a stream is open PortAudio cannot look anew. Where its list is all there is, the
        # end that lives is interrupted for the other, once that is known to be there again.
        anew = not live or self.backend.lasting
        if live and self.backend.lasting and not self._reappeared(lost):
            return self._postponed(lost, now)
        if anew:
            for end in live:
                end.shut()
            try:
                self.backend.restart()
            except SoundError:
                return self._postponed([*lost, *live], now)
        news: list[News] = [
            (end, Back(end.part, self.duplex)) for end in lost if self._opens(end, now)
        ]
        cut = [end for end in live if not end.live and not self._opens(end, now)]
        return news + [(end, self._lost(end)) for end in cut]

    def _postponed(self, ends: list[End], now: float) -> list[News]:
        for end in ends:
            end.postpone(now)
        return []

    def _reappeared(self, lost: list[End]) -> bool:
        try:
            devices = self.backend.fresh()
            return any(self._chosen(end.part, devices) for end in lost)
        except LilaError:
            return False

    def _opens(self, end: End, now: float) -> bool:
        try:
            self._open(end)
        except LilaError:
            end.postpone(now)
            return False
        return True

    def _open(self, end: End) -> None:
        end.open(self.backend, self.device(end.part))
        self.duplex = self._choice(end).duplex(self._headphones)

    def _chosen(self, part: Part, devices: tuple[Device, ...]) -> Device:
        if part == "speaker":
            return chosen(devices, part, self._wanted[part])
        speaker = self._choice().speaker or preferred_speaker(devices, self._wanted["speaker"])
        return preferred_microphone(devices, self._wanted[part], speaker)

    def _promised(self) -> bool:
        try:
            found = survey(self.backend, self._wanted["microphone"], self._wanted["speaker"])
        except SoundError:
            return self._headphones
        return found.choice.duplex(self._headphones)

    def _choice(self, opened: End | None = None) -> Choice:
        """The devices that are open, or were; `opened` is the one that was opened just now."""
        known = {**self._ends, **({opened.part: opened} if opened else {})}
        microphone, speaker = known.get("microphone"), known.get("speaker")
        return Choice(microphone and microphone.device, speaker and speaker.device)
