"""Talking with LILA: what a front-end opens, runs, and is told by.

```
talk = await asyncio.to_thread(open_talk, lila, Options(), progress)   # loads models; LilaError
await talk.run(view)             # until `press("quit")`, or the task is cancelled
```
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from lila_app.voice.model import Key
from lila_app.voice.view import View

if TYPE_CHECKING:
    from lila_app.assistant import Lila
    from lila_app.views import Progress


@dataclass(frozen=True, slots=True)
class Options:
    """What a person asked for this time; None is what their settings say.

    `session` is an earlier conversation to go on with; `model` is `provider/model`.
    """

    session: str | None = None
    model: str | None = None
    push_to_talk: bool = False
    fast: bool | None = None
    continuity: bool | None = None


class Talk:
    """A spoken conversation that can be run once."""

    @property
    def session(self) -> str | None:
        """The conversation the turns are kept in; None before the first."""
        raise NotImplementedError

    @property
    def duplex(self) -> bool:
        """Whether LILA listens while it speaks; where not, a key interrupts it."""
        raise NotImplementedError

    def press(self, key: Key) -> None:
        """The person pressed a key; from any thread, also before and after `run`."""
        raise NotImplementedError

    async def run(self, view: View) -> None:
        """Listen and speak until the key `quit`. Raises `SoundError` where there is no sound.

        Cancelling the task ends it as cleanly: what was heard of a reply is kept, the sound
        system is closed. Whatever else goes wrong on the way is told to the view.
        """
        raise NotImplementedError


def fetch_notice(lila: Lila) -> str | None:
    """What `open_talk` will fetch first, its size and from where; None where nothing is missing."""
    raise NotImplementedError


def open_talk(lila: Lila, options: Options, progress: Progress) -> Talk:
    """Load what a spoken conversation needs. Blocking: a second or two, longer the first time.

    Missing weights of the recogniser are fetched. Raises LilaError: `SoundError` where nothing
    can speak, `UsageError`, `PolicyError`, `WeightsError`.
    """
    raise NotImplementedError


@dataclass(frozen=True, slots=True)
class Played:
    """What came of a conversation with a file: its turns, its length and the session it is in."""

    turns: int
    seconds: float
    session: str | None


def play_file(
    lila: Lila, options: Options, progress: Progress, source: Path, target: Path | None, view: View
) -> Played:
    """Say a WAV file to LILA and write what it says as another, on a clock of their own.

    Blocking; not to be called where an event loop runs. `source` may have any rate and one or two
    channels; `target` gets the replies where they would be heard, None writes nothing. Raises
    LilaError as `open_talk`, and `UsageError` for a file that is no WAV.
    """
    raise NotImplementedError


Open = Callable[["Lila", Options, "Progress"], Talk]
"""`open_talk`, for a front-end that is given another in its tests."""
