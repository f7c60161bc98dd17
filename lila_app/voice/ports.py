"""What the loop needs of the world, each with a fake in `testing`."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Iterator
from threading import Event as Flag
from typing import TYPE_CHECKING, Protocol

from lila_app.voice.model import Back, Lost, Recognition, Sound, Tell

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Samples = NDArray[np.int16]
    Heard = Callable[[int, Samples], None]
    """Takes a frame's number and its 512 samples; must return at once."""
    Pull = Callable[[int], Samples]
    """Gives so many samples, silence where there is nothing to say; must return at once."""
    News = Callable[[Lost | Back | Tell], None]
    """Takes what became of a microphone or speaker, from any thread; must return at once."""


class Activity(Protocol):
    """Says how likely a frame is speech; has state, so frames come in order."""

    def speech(self, frame: Samples) -> int:
        """Per mille, for one frame of 512 samples."""
        ...

    def reset(self) -> None:
        """Forget what came before: the stream was interrupted."""
        ...


class Recogniser(Protocol):
    """Reads speech. Blocking; called from one worker thread."""

    def recognise(self, samples: Samples, *, hotwords: str) -> Recognition:
        """What is said in these samples; `hotwords` are names that are likely in it."""
        ...


class Synthesiser(Protocol):
    """Makes speech. Blocking; called from one worker thread."""

    @property
    def name(self) -> str:
        """The engine, as a setting names it."""
        ...

    @property
    def rate(self) -> int:
        """Samples a second of what it makes."""
        ...

    def synth(self, text: str, cancel: Flag) -> Iterator[Sound]:
        """The sound of a text, stretch by stretch; ends early and soon once `cancel` is set."""
        ...

    def close(self) -> None:
        """Let go of what it holds."""
        ...


class Conversation(Protocol):
    """One session with the assistant, as the loop needs it. Errors are `LilaError`."""

    def open(self, turn: int) -> None:
        """Somebody begins to speak: the turn's clock stands, and the model reads what comes before
        the words meanwhile. Returns at once."""
        ...

    def ask(self, turn: int, text: str) -> AsyncGenerator[str, None]:
        """The reply to a turn's words, piece by piece; asked again, the words take the place of the
        turn's earlier ones. Closing it stops the model."""
        ...

    async def settle(self, turn: int) -> None:
        """The words are final; LILA may learn from them. May come before the first piece of the
        reply, or before it was waited for at all."""
        ...

    async def heard(self, turn: int, text: str) -> None:
        """The reply was interrupted: keep what was heard of it, marked, in place of the rest."""
        ...

    async def withdraw(self, turn: int) -> None:
        """Nobody said that: take the turn's words back."""
        ...

    def hotwords(self) -> str:
        """Names that are likely to be said, from what is remembered; kept, so it costs nothing."""
        ...


class Microphone(Protocol):
    """An open input. Frames go to the function it was opened with, from a thread of its own."""

    def close(self) -> None:
        """Stop it; safe to call twice."""
        ...


class Speaker(Protocol):
    """An open output, which pulls its samples from the function it was opened with."""

    @property
    def latency_ms(self) -> int:
        """From a sample that is pulled to one that is heard."""
        ...

    def close(self) -> None:
        """Stop it; safe to call twice."""
        ...


class SoundSystem(Protocol):
    """The machine's sound. What is open stays so: an end that is lost is opened again by itself,
    with frames numbered on, and `news` takes the `Lost` and the `Back`, until it is closed.
    """

    def microphone(self, heard: Heard, news: News) -> Microphone:
        """Open the chosen microphone. Raises `SoundError`, and `UsageError` for its name."""
        ...

    def speaker(self, pull: Pull, rate: int, news: News) -> Speaker:
        """Open the chosen speaker. Raises as `microphone` does."""
        ...

    def duplex(self) -> bool:
        """Whether LILA may listen while it speaks: headphones, or a source without echo."""
        ...

    def close(self) -> None:
        """Close both ends; safe to call twice."""
        ...
