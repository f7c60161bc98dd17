"""Stand-ins for the ports of the spoken assistant, and a language of tones to speak with them.

In that language each word is a tone of its own: what is synthesised can be recognised, overlaid,
cut off, and come back as an echo, as speech can, and every sample of it is known.
"""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from dataclasses import dataclass
from threading import Event as Flag
from typing import TYPE_CHECKING

from lila_app.errors import SoundError
from lila_app.voice.model import (
    FRAME,
    FRAME_MS,
    RATE,
    Back,
    Lost,
    Phase,
    Recognition,
    Sound,
    Spoken,
    Tell,
    Word,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from lila_app.voice.ports import Heard, News, Pull, Samples

    Blocks = NDArray[np.float64]

WORD_MS = 240
"""How long a word sounds."""

GAP_MS = 60
"""The silence after it, short enough to be no end of speech."""

_LOWEST = 400
_STEP = 8
_MOST_WORDS = 400
_LOUDNESS = 8_000
_HEARD = 400.0
"""Root mean square above which a block is no silence."""

_BLOCK = RATE // 100
_LEAST_MS = 120
"""Less of a word than this is not recognised."""


class Tones:
    """The words that were spoken so far, each with its tone."""

    def __init__(self) -> None:
        self._words: list[str] = []

    def word(self, text: str) -> Samples:
        """A word's tone and the gap after it."""
        import numpy as np

        if text not in self._words:
            assert len(self._words) < _MOST_WORDS, "this language has no more words"
            self._words.append(text)
        pitch = _LOWEST + _STEP * self._words.index(text)
        times = np.arange(WORD_MS * RATE // 1_000)
        tone = (_LOUDNESS * np.sin(2 * np.pi * pitch * times / RATE)).astype(np.int16)
        return np.concatenate((tone, np.zeros(GAP_MS * RATE // 1_000, np.int16)))

    def speak(self, text: str) -> Samples:
        """The sound of a text."""
        import numpy as np

        return np.concatenate([np.zeros(0, np.int16), *(self.word(each) for each in text.split())])

    def read(self, samples: Samples) -> str:
        """The words in a sound; of two at once the louder."""
        import numpy as np

        whole = samples[: len(samples) // _BLOCK * _BLOCK].astype(np.float64).reshape(-1, _BLOCK)
        loud = np.sqrt((whole**2).mean(axis=1)) > _HEARD
        edges = np.flatnonzero(np.diff(np.concatenate(([0], loud.astype(np.int8), [0]))))
        words = (self._named(whole[a:b]) for a, b in zip(edges[::2], edges[1::2], strict=True))
        return " ".join(word for word in words if word)

    def _named(self, blocks: Blocks) -> str:
        import numpy as np

        sound = blocks.reshape(-1)
        if len(sound) < _LEAST_MS * RATE // 1_000:
            return ""
        spectrum = np.abs(np.fft.rfft(sound, RATE))  # padded to a second: bins of 1 Hz
        number = round((int(spectrum.argmax()) - _LOWEST) / _STEP)
        return self._words[number] if 0 <= number < len(self._words) else ""


class Loudness:
    """Takes whatever is loud for speech: an `Activity`."""

    def speech(self, frame: Samples) -> int:
        """Nearly certain above the loudness of a quiet room, nearly nothing below."""
        import numpy as np

        return 950 if float(np.sqrt((frame.astype(np.float64) ** 2).mean())) > _HEARD else 20

    def reset(self) -> None:
        """Nothing is kept."""


class ToneRecogniser:
    """Reads the language of tones; `readings` are what it read, `error` what it raises once."""

    def __init__(self, tones: Tones) -> None:
        self._tones = tones
        self.readings: list[str] = []
        self.hotwords = ""
        self.error: Exception | None = None

    def recognise(self, samples: Samples, *, hotwords: str) -> Recognition:
        """The words of the tones."""
        self.hotwords = hotwords
        error, self.error = self.error, None
        if error is not None:
            raise error
        text = self._tones.read(samples)
        self.readings.append(text)
        return Recognition(text, why="" if text else "no words")


class ScriptedRecogniser:
    """Reads what a script says, one after the other, and nothing after its end."""

    def __init__(self, *texts: str) -> None:
        self._texts = deque(texts)
        self.readings: list[tuple[int, str]] = []
        """How many samples were read each time, and as what."""

    def recognise(self, samples: Samples, *, hotwords: str) -> Recognition:
        """The next text."""
        del hotwords
        text = self._texts.popleft() if self._texts else ""
        self.readings.append((len(samples), text))
        return Recognition(text, why="" if text else "no words")


class ToneSynthesiser:
    """Speaks the language of tones, a word a stretch; `error` is what it raises once."""

    name = "tones"
    rate = RATE

    def __init__(self, tones: Tones) -> None:
        self._tones = tones
        self.made: list[str] = []
        self.error: Exception | None = None
        self.closed = False

    def synth(self, text: str, cancel: Flag) -> Iterator[Sound]:
        """The sound of a text, word by word."""
        self.made.append(text)
        place = at = 0
        for each in text.split():
            error, self.error = self.error, None
            if error is not None:
                raise error
            if cancel.is_set():
                return
            place = text.index(each, place)
            yield Sound(self._tones.word(each), (Word(at, place, place + len(each)),))
            place += len(each)
            at += WORD_MS + GAP_MS

    def close(self) -> None:
        """Nothing to let go of."""
        self.closed = True


def as_written(text: str) -> Spoken:
    """A text said as it is written, without white space around it."""
    start = len(text) - len(text.lstrip())
    bare = text.strip()
    return Spoken(bare, tuple(range(start, start + len(bare))))


Answer = Callable[[str], Sequence[str | Exception]]
"""What comes of a person's words: pieces of a reply, and an error in place of the rest."""


@dataclass(slots=True)
class Exchange:
    """What a `FakeConversation` kept of a turn; `reply` is whole, or what was heard of it."""

    text: str
    reply: str = ""
    settled: bool = False
    interrupted: bool = False


class FakeConversation:
    """Answers by a function and keeps what it is told, as a conversation in a store does.

    `calls` is all it was asked, in order. An `error` is raised once by the next of its methods that
    is not `ask`.
    """

    def __init__(self, answer: Answer) -> None:
        self._answer = answer
        self.turns: dict[int, Exchange] = {}
        self._settled: set[int] = set()
        self.calls: list[str] = []
        self.closed_early = 0
        self.error: Exception | None = None

    def open(self, turn: int) -> None:
        """Somebody begins to speak."""
        self._called(f"open {turn}")

    async def ask(self, turn: int, text: str) -> AsyncGenerator[str, None]:
        """The pieces the function gives for these words."""
        self.calls.append(f"ask {turn} {text}")
        exchange = self.turns[turn] = Exchange(text, settled=turn in self._settled)
        whole = False
        try:
            for piece in self._answer(text):
                if isinstance(piece, Exception):
                    raise piece
                exchange.reply += piece
                yield piece
            whole = True
        finally:
            self.closed_early += not whole

    async def settle(self, turn: int) -> None:
        """The words are final."""
        self._called(f"settle {turn}")
        self._settled.add(turn)
        if turn in self.turns:
            self.turns[turn].settled = True

    async def heard(self, turn: int, text: str) -> None:
        """Keep what was heard in place of the reply."""
        self._called(f"heard {turn} {text}")
        if turn in self.turns:
            self.turns[turn].reply, self.turns[turn].interrupted = text, True

    async def withdraw(self, turn: int) -> None:
        """Nobody said that."""
        self._called(f"withdraw {turn}")
        self.turns.pop(turn, None)

    def hotwords(self) -> str:
        """Always the same name."""
        return "Lila"

    def _called(self, call: str) -> None:
        self.calls.append(call)
        error, self.error = self.error, None
        if error is not None:
            raise error


class Recorder:
    """A view that writes down what it is told, a line each."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.levels: list[int] = []

    def phase(self, phase: Phase, muted: bool) -> None:
        """What LILA does."""
        self.lines.append(f"{phase}{' (muted)' if muted else ''}")

    def heard(self, turn: int, text: str, final: bool) -> None:
        """What the person said."""
        self.lines.append(f"{turn} heard{'' if final else ' (so far)'}: {text}")

    def said(self, turn: int, text: str) -> None:
        """What LILA says."""
        self.lines.append(f"{turn} said: {text}")

    def unspoken(self, turn: int, text: str) -> None:
        """What LILA would have said."""
        self.lines.append(f"{turn} unspoken: {text}")

    def interrupted(self, turn: int, heard: str) -> None:
        """What was heard of it."""
        self.lines.append(f"{turn} interrupted: {heard}")

    def answered(self, turn: int) -> None:
        """A turn is over."""
        self.lines.append(f"{turn} answered")

    def told(self, text: str, hint: str) -> None:
        """What nobody says."""
        self.lines.append(f"told: {text}" + (f" ({hint})" if hint else ""))

    def level(self, level: int) -> None:
        """How loud it is."""
        self.levels.append(level)


class EchoingRoom:
    """A room in which the microphone hears the speaker: `simulation.Room`."""

    def __init__(self, *, delay_ms: int, share: float, rate: int = RATE) -> None:
        """`share` of the loudness of a speaker of `rate` comes back after `delay_ms`."""
        import numpy as np

        from lila_app.voice.resample import Resampler

        self._share = share
        self._resampler = Resampler(rate, RATE)
        self._air = np.zeros(delay_ms * RATE // 1_000, np.int16)

    def played(self, samples: Samples) -> None:
        """The sound is on its way."""
        import numpy as np

        self._air = np.concatenate((self._air, self._resampler.feed(samples)))

    def heard(self, frame: Samples) -> Samples:
        """What arrives now, over what is said."""
        import numpy as np

        echo = np.zeros(FRAME, np.int16)
        arrived = self._air[:FRAME]
        echo[: len(arrived)] = arrived
        self._air = self._air[len(arrived) :]
        mixed = frame.astype(np.float64) + self._share * echo
        return np.clip(mixed, -32_768, 32_767).astype(np.int16)


class FakeSound:
    """A sound system that a test turns by hand: `SoundSystem`, and its ends' handles.

    A frame that `hear`s goes to the microphone, and as much is pulled for the speaker; `now` is
    the time by both, in ms. `output` is all that was pulled.
    """

    latency_ms = 0

    def __init__(self, *, duplex: bool = True, missing: str = "") -> None:
        """`missing` is why neither end can be opened."""
        self._duplex = duplex
        self._missing = missing
        self._heard: Heard | None = None
        self._pull: Pull | None = None
        self._rate = RATE
        self._news: News | None = None
        self.frames = 0
        self.output: list[Samples] = []
        self.closed = False

    def now(self) -> int:
        """The loop's clock."""
        return self.frames * FRAME_MS

    def hear(self, frame: Samples) -> None:
        """A frame arrives, and the speaker takes as much."""
        assert self._heard is not None and self._pull is not None, "it is not open"
        number, self.frames = self.frames, self.frames + 1
        self._heard(number, frame)
        self.output.append(self._pull(FRAME * self._rate // RATE))

    def report(self, news: Lost | Back | Tell) -> None:
        """Something became of a microphone or speaker."""
        assert self._news is not None, "it is not open"
        self._news(news)

    def microphone(self, heard: Heard, news: News) -> FakeSound:
        """Open the microphone."""
        self._open(news)
        self._heard = heard
        return self

    def speaker(self, pull: Pull, rate: int, news: News) -> FakeSound:
        """Open the speaker."""
        self._open(news)
        self._pull, self._rate = pull, rate
        return self

    def duplex(self) -> bool:
        """As given."""
        return self._duplex

    def close(self) -> None:
        """Nothing comes any more."""
        self.closed = True

    def _open(self, news: News) -> None:
        if self._missing:
            raise SoundError(self._missing, hint="plug one in")
        self._news = news
