"""Speech by libespeak-ng: the first samples within a millisecond, and when each word begins."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Generator, Iterator
from queue import SimpleQueue
from threading import Event as Flag
from threading import Thread

from lila_app.errors import LilaError, UsageError
from lila_app.voice.model import Sound, Word
from lila_app.voice.synth.espeak_library import Begun, Library, library
from lila_app.voice.synth.timing import Span, spans, spread

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
        """The sound of a text, a word (with the pause after it) at a time.

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
        made: SimpleQueue[_Made | LilaError | None] = SimpleQueue()

        def take(sound: bytes, begun: tuple[Begun, ...]) -> bool:
            made.put((sound, begun))
            return not (cancel.is_set() or left.is_set())

        def speak() -> None:
            try:
                self._library.speak(text, self._voice, self._words_per_minute, take)
            except LilaError as error:
                made.put(error)
            made.put(None)

        thread = Thread(target=speak, name="espeak", daemon=True)
        thread.start()
        try:
            yield from _by_word(_stretches(made, cancel), text, words, self.rate)
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
    for each in known:
        if language in each.languages:
            return language
    raise UsageError(
        f"espeak-ng has no voice that speaks {language!r}",
        hint="`espeak-ng --voices` lists what it speaks; choose with `voice` or `language` in "
        "[voice] of your settings",
    )


def _stretches(made: SimpleQueue[_Made | LilaError | None], cancel: Flag) -> Generator[_Made]:
    while (found := made.get()) is not None and not cancel.is_set():
        if isinstance(found, LilaError):
            raise found
        yield found


def _by_word(
    made: Iterator[_Made], text: str, words: tuple[Span, ...], rate: int
) -> Iterator[Sound]:
    """Cut the stretches anew, so that each ends where the next word that is told of begins."""
    firsts = [first for first, _ in words]
    held = bytearray()
    given = 0  # bytes
    at = 0  # ms at which the words that wait begin
    waiting = 0  # the first of them
    for sound, begun in made:
        held += sound
        for begin in begun:
            index = bisect_right(firsts, begin.position) - 1
            if index <= waiting:
                continue
            cut = min(max(0, begin.at * rate // 1000 * _BYTES - given), len(held))
            yield _sound(held[:cut], spread(text, words[waiting:index], at, begin.at))
            del held[:cut]
            given += cut
            at, waiting = begin.at, index
    if held:
        end = (given + len(held)) // _BYTES * 1000 // rate
        yield _sound(held, spread(text, words[waiting:], at, end))


def _sound(samples: bytearray, words: tuple[Word, ...]) -> Sound:
    import numpy as np

    return Sound(np.frombuffer(bytes(samples), dtype=np.int16), words)
