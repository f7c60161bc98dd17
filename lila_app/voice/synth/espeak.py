"""Speech by libespeak-ng: the first samples within a millisecond, and when each word begins."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Generator, Iterator
from queue import SimpleQueue
from threading import Event as Flag
from threading import Thread
from typing import TYPE_CHECKING

from lila_app.errors import UsageError
from lila_app.voice.model import Sound, Word
from lila_app.voice.synth.espeak_library import Begun, Library, library
from lila_app.voice.synth.timing import Span, spans, spread

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_Made = tuple[bytes, tuple[Begun, ...]]
_BYTES = 2


class Espeak:
    """The synthesiser `espeak` of `[voice] engine`."""

    name = "espeak"

    def __init__(
        self, *, voice: str = "", language: str = "en", words_per_minute: int = 175
    ) -> None:
        """Find the voice: `voice` as espeak-ng names it, else one for the language.

        Raises `SoundError` where espeak-ng is not installed, `UsageError` for an unknown voice.
        """
        self._library = library()
        self._voice = _found(self._library, voice, language)
        self._words_per_minute = words_per_minute
        # The voice's data and numpy are loaded here, not while somebody waits for a first word.
        for _ in self.synth("a", Flag()):
            pass

    @property
    def rate(self) -> int:
        """Samples a second: 22,050 with the voices that come with espeak-ng."""
        return self._library.rate

    def synth(self, text: str, cancel: Flag) -> Iterator[Sound]:
        """The sound of a text: its first 40 ms at once, then a word and its pause at a time.

        espeak-ng runs some pairs of words together and tells when the first begins ("out of", "I
        am"); the other gets its share of their time by its letters. The same text comes out up to
        1.3 % longer or shorter, by what was said before it; the same texts in the same order come
        out the same in every process.
        """
        words = spans(text)
        if not words or cancel.is_set():
            return
        text = text.replace("\0", " ")
        left = Flag()
        made: SimpleQueue[_Made | Exception | None] = SimpleQueue()

        def take(sound: bytes, begun: tuple[Begun, ...]) -> bool:
            made.put((sound, begun))
            return not (cancel.is_set() or left.is_set())

        def speak() -> None:
            try:
                self._library.speak(text, self._voice, self._words_per_minute, take)
            # Whatever it is: who waits for the sound would wait for ever.
            except Exception as error:
                made.put(error)
            made.put(None)

        thread = Thread(target=speak, name="espeak", daemon=True)
        thread.start()
        try:
            cutter = _Cutter(text, words, self.rate)
            for stretch in _stretches(made, cancel):
                yield from cutter.feed(stretch)
            if not cancel.is_set():
                yield from cutter.rest()
        finally:
            left.set()
            thread.join()

    def close(self) -> None:
        """Nothing to let go of: the library stays loaded, since it cannot be loaded twice."""


def voices() -> tuple[str, ...]:
    """The voices that are installed, as `[voice] voice` takes them. Raises `SoundError`."""
    return tuple(sorted(voice.identifier for voice in library().voices()))


def _found(library: Library, voice: str, language: str) -> str:
    known = library.voices()
    if voice:
        # espeak-ng says yes to any name and speaks with whatever it has: looked up here instead.
        base = voice.split("+")[0].casefold()
        for each in known:
            names = (each.name, each.identifier, *each.languages)
            if base in map(str.casefold, names):
                return voice
        raise UsageError(
            f"espeak-ng has no voice {voice!r}",
            hint="`espeak-ng --voices` lists them; take one in [voice] of your settings",
        )
    speaking = [each for each in known if language in each.languages]
    if speaking:
        # It loads a file's name or a first language; "zh" and "no" are second ones.
        files = [each.identifier.rpartition("/")[2] for each in speaking]
        return language if language in files else files[0]
    raise UsageError(
        f"espeak-ng has no voice that speaks {language!r}",
        hint="`espeak-ng --voices` lists what it speaks; choose with `voice` or `language` in "
        "[voice] of your settings",
    )


def _stretches(made: SimpleQueue[_Made | Exception | None], cancel: Flag) -> Generator[_Made]:
    while (found := made.get()) is not None and not cancel.is_set():
        if isinstance(found, Exception):
            raise found
        yield found


class _Cutter:
    """Cuts the sound anew: each stretch ends where the next word that is told of begins.

    Only the very first samples go out at once, with the first word; its other samples follow.
    """

    def __init__(self, text: str, words: tuple[Span, ...], rate: int) -> None:
        self._text = text
        self._words = words
        self._firsts = [first for first, _ in words]
        self._rate = rate
        self._held = bytearray()
        self._given = 0
        """Samples that went out."""
        self._at = 0
        """When (ms) the words that wait begin."""
        self._waiting = 0
        """The first of the words that wait."""
        self._told = 0
        """How many of those went out with their first samples."""

    def feed(self, made: _Made) -> Iterator[Sound]:
        """What is complete with this stretch."""
        sound, begun = made
        self._held += sound
        for begin in begun:
            index = bisect_right(self._firsts, begin.position) - 1
            if index > self._waiting:
                count = begin.at * self._rate // 1000 - self._given
                yield self._cut(min(max(0, count), len(self._held) // _BYTES), index, begin.at)
                self._at, self._waiting, self._told = begin.at, index, 0
        if not self._given and self._held:
            first = Word(self._at, *self._words[self._waiting])
            self._told = 1
            yield Sound(self._take(len(self._held) // _BYTES), (first,))

    def rest(self) -> Iterator[Sound]:
        """What is left once all the sound is there."""
        count = len(self._held) // _BYTES
        if count:
            end = (self._given + count) * 1000 // self._rate
            yield self._cut(count, len(self._words), end)

    def _cut(self, count: int, until: int, end: int) -> Sound:
        words = spread(self._text, self._words[self._waiting : until], self._at, end)[self._told :]
        begin = -(-self._given * 1000 // self._rate)
        late = tuple(Word(max(word.at, begin), word.start, word.end) for word in words)
        return Sound(self._take(count), late)

    def _take(self, count: int) -> NDArray[np.int16]:
        import numpy as np

        taken = np.frombuffer(bytes(self._held[: count * _BYTES]), dtype=np.int16)
        del self._held[: count * _BYTES]
        self._given += count
        return taken
