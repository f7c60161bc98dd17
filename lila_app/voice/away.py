"""What keeps a part of the sound from being of use: no device, or a model that hangs.

To the machine a part is there or it is not. Here it is known for which reasons it is not, so that
it is back only once the last of them is over, and each is told.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Literal

from lila_app.voice.model import Back, Lost, Part
from lila_app.voice.parts import Tell

Cause = Literal["card", "model"]
"""Who says so: the sound card, or the watch over the model that works for the part."""


class Away:
    """The reasons, by part; for the loop's thread alone."""

    def __init__(self, take: Callable[[Lost | Back], None], tell: Tell) -> None:
        """`take` hands an event to the machine, which tells of a part's first reason itself."""
        self._take = take
        self._tell = tell
        self._why: dict[Part, dict[Cause, Lost]] = {"microphone": {}, "speaker": {}}

    def known(self, part: Part, cause: Cause) -> bool:
        """Whether this keeps the part away."""
        return cause in self._why[part]

    def lost(self, cause: Cause, news: Lost) -> None:
        """A part is of no use, for one reason more."""
        why = self._why[news.part]
        if why and news not in why.values():
            self._tell(news.why, "")
        why[cause] = news
        self._say(news)

    def back(self, cause: Cause, news: Back) -> None:
        """One reason is over, if it was one."""
        why = self._why[news.part]
        why.pop(cause, None)
        if why:
            self._say(next(iter(why.values())))
        else:
            self._take(news)

    def _say(self, news: Lost) -> None:
        gone = any(one.gone for one in self._why[news.part].values())
        self._take(replace(news, gone=gone))
