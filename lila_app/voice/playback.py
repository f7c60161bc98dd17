"""What is to be heard, in order: a queue of speech that the sound card pulls from.

Thread-safe: the synthesiser appends, the sound card pulls, the loop holds, resumes and cuts. What
was heard is known to the word, and what was said of late is kept for the echo filter.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Lock
from typing import TYPE_CHECKING

from lila_app.voice.heard import words_heard, written
from lila_app.voice.model import Audible, Silent, Sound, Spoken, Word

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Samples = NDArray[np.int16]


@dataclass(frozen=True, slots=True)
class Begun:
    """The first sample of a piece is leaving the speaker; `text` is the piece as it was written."""

    turn: int
    text: str


Notice = Callable[[Audible | Begun | Silent, int], None]
"""Takes an event and the time (ms of the loop's clock) at which it is so."""

_KEPT_WORDS = 1_024
"""Words said of late that are kept: four minutes of speech, more than a turn and its window."""

_KEPT_STRETCHES = 64


@dataclass(slots=True)
class Piece:
    """A piece of a reply: its sound comes bit by bit, and is kept until it was heard."""

    turn: int
    revision: int
    text: str
    spoken: Spoken
    words: list[Word] = field(default_factory=list[Word])
    sounds: list[Samples] = field(default_factory=list["Samples"])
    length: int = 0
    whole: bool = False
    dropped: bool = False
    begun: bool = False
    position: int = 0
    told: int = 0
    """Words that were noted as said."""

    def add(self, sound: Sound) -> None:
        """Take the next stretch."""
        self.words.extend(sound.words)
        if len(sound.samples):
            self.sounds.append(sound.samples)
            self.length += len(sound.samples)

    def samples(self) -> Samples:
        """All of its sound so far, in one."""
        import numpy as np

        if not self.sounds:
            return np.zeros(0, np.int16)
        if len(self.sounds) > 1:
            self.sounds = [np.concatenate(self.sounds)]
        return self.sounds[0]

    def take(self, most: int) -> Samples:
        """The next samples, fewer or none where there are no more yet."""
        part = self.samples()[self.position : self.position + most]
        self.position += len(part)
        return part


class Playback:
    """The queue. Silence comes out where nothing is to be said."""

    def __init__(
        self, rate: int, *, fade_ms: int, clock: Callable[[], int], notice: Notice
    ) -> None:
        self.rate = rate
        self.latency_ms = 0
        """From a sample that is pulled to one that is heard; set once the speaker is open."""
        self._starved = 0
        self._fade = rate * fade_ms // 1_000
        self._clock = clock
        self._notice = notice
        self._lock = Lock()
        self._queue: deque[Piece] = deque()
        self._reply = (0, 0)
        self._heard: list[str] = []
        self._sounded = False
        self._held = False
        self._fading: Samples | None = None
        self._said: deque[tuple[int, str]] = deque(maxlen=_KEPT_WORDS)
        self._sounding: deque[list[int]] = deque(maxlen=_KEPT_STRETCHES)

    # -- by the loop and the synthesiser -----------------------------------------------------------

    def begin(self, turn: int, revision: int, text: str, spoken: Spoken) -> Piece:
        """Queue a piece of a reply, as written and as spoken; its sound follows."""
        piece = Piece(turn, revision, text, spoken)
        with self._lock:
            if (turn, revision) != self._reply:
                self._reply, self._heard, self._sounded = (turn, revision), [], False
                self._held = False
            self._queue.append(piece)
        return piece

    def append(self, piece: Piece, sound: Sound) -> bool:
        """Add sound to a piece; False says that nobody wants it any more."""
        with self._lock:
            if not piece.dropped:
                piece.add(sound)
            return not piece.dropped

    def finish(self, piece: Piece) -> None:
        """No more sound comes for a piece."""
        with self._lock:
            piece.whole = True

    def hold(self, turn: int, revision: int) -> str:
        """Fall silent and keep what is queued; what was heard of the reply, as it was written."""
        with self._lock:
            if (turn, revision) != self._reply:
                return ""  # nothing of it was queued so far
            self._fade_out()
            self._held = True
            return self._rewind()

    def resume(self) -> None:
        """Speak on, from the first word that was not heard whole."""
        with self._lock:
            self._held = False

    def cut(self, turn: int, revision: int) -> None:
        """Throw away what is queued of a reply; nothing of it is heard from here on."""
        with self._lock:
            queued = self._queue
            if not any((piece.turn, piece.revision) == (turn, revision) for piece in queued):
                return
            self._fade_out()
            for piece in queued:
                if (piece.turn, piece.revision) == (turn, revision):
                    piece.dropped = True
            self._queue = deque(piece for piece in queued if not piece.dropped)
            self._held = False

    def said(self, since: int) -> str:
        """The words that began to be heard since a time of the loop's clock.

        As spoken, and also as written where that is another: a recogniser writes "23" too.
        """
        with self._lock:
            return " ".join(text for at, text in self._said if at >= since)

    def sounded(self, first: int, last: int) -> bool:
        """Whether anything was heard between two times of the loop's clock."""
        with self._lock:
            return any(begun <= last and ended >= first for begun, ended in self._sounding)

    @property
    def starved_ms(self) -> int:
        """How much silence there was within speech, because its sound was not there in time."""
        return self._starved * 1_000 // self.rate

    @property
    def ahead_ms(self) -> int:
        """How much sound waits to be heard."""
        with self._lock:
            waiting = sum(piece.length - piece.position for piece in self._queue)
        return waiting * 1_000 // self.rate

    # -- by the sound card -------------------------------------------------------------------------

    def pull(self, count: int) -> Samples:
        """The next samples to be heard."""
        import numpy as np

        out = np.zeros(count, np.int16)
        now = self._clock() + self.latency_ms
        events: list[tuple[Audible | Begun | Silent, int]] = []
        with self._lock:
            filled = self._faded(out)
            if not self._held:
                self._fill(out, filled, now, events)
        for event, at in events:
            self._notice(event, at)
        return out

    def _faded(self, out: Samples) -> int:
        if self._fading is None:
            return 0
        part = self._fading[: len(out)]
        out[: len(part)] = part
        rest = self._fading[len(part) :]
        self._fading = rest if len(rest) else None
        return len(part)

    def _fill(
        self,
        out: Samples,
        filled: int,
        now: int,
        events: list[tuple[Audible | Begun | Silent, int]],
    ) -> None:
        while self._queue:
            piece = self._queue[0]
            part = piece.take(len(out) - filled)
            at = now + filled * 1_000 // self.rate
            if len(part):
                if not piece.begun:
                    piece.begun = True
                    events.append((Begun(piece.turn, piece.text), at))
                if not self._sounded:
                    self._sounded = True
                    events.append((Audible(piece.turn, piece.revision), at))
                out[filled : filled + len(part)] = part
                filled += len(part)
                self._note(piece, at, at + len(part) * 1_000 // self.rate)
            elif piece.whole and piece.position >= piece.length:
                if not piece.begun:  # nothing could be made of it: it is shown all the same
                    events.append((Begun(piece.turn, piece.text), at))
                self._queue.popleft()
                self._heard.append(piece.text)
                if not self._queue:
                    events.append((Silent(piece.turn, piece.revision, len(self._heard)), at))
            else:
                if self._sounded and piece.position >= piece.length:
                    self._starved += len(out) - filled
                return

    def _note(self, piece: Piece, begins: int, ends: int) -> None:
        """Keep which words begin in what was just pulled, and that there was sound."""
        while piece.told < len(piece.words):
            word = piece.words[piece.told]
            if word.at * self.rate // 1_000 >= piece.position:
                break
            self._said.append((begins, _both(piece, word)))
            piece.told += 1
        if self._sounding and begins - self._sounding[-1][1] <= 1:
            self._sounding[-1][1] = ends
        else:
            self._sounding.append([begins, ends])

    # -- silence -----------------------------------------------------------------------------------

    def _fade_out(self) -> None:
        """Let the next few samples run out: sound that ends at once clicks."""
        import numpy as np

        if self._held or not self._queue or not self._sounded:
            return
        piece = self._queue[0]
        part = piece.samples()[piece.position : piece.position + self._fade]
        ramp = np.linspace(1.0, 0.0, len(part), endpoint=False)
        self._fading = (part * ramp).astype(np.int16) if len(part) else None

    def _rewind(self) -> str:
        """Go back to the first word that was not heard whole; what was heard before it."""
        before = "".join(self._heard)
        if not self._queue:
            return before
        piece = self._queue[0]
        heard = words_heard(
            piece.samples(), piece.words, piece.position, self.rate, whole=piece.whole
        )
        if heard < len(piece.words):
            begins = piece.words[heard].at * self.rate // 1_000
            piece.position = min(piece.position, begins)
        piece.told = min(piece.told, heard)
        return before + written(piece.text, piece.spoken, piece.words, heard)


def _both(piece: Piece, word: Word) -> str:
    said = piece.spoken.text[word.start : word.end]
    place = piece.spoken.origin[word.start]
    before = piece.spoken.origin[word.start - 1] if word.start else -1
    (token, *_) = [*piece.text[place:].split(maxsplit=1), ""]
    fresh = place != before and token.casefold() != said.casefold()
    return f"{said} {token}" if fresh else said
