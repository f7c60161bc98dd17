"""Which conversation the screen shows: opening one, beginning another, following a choice."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from typing import Protocol

from lila_app.errors import LilaError
from lila_app.tui.answering import Answering
from lila_app.tui.exchange import Exchange, Kind, from_turn
from lila_app.tui.screens.sessions import Picked
from lila_app.tui.session_model import SessionModel
from lila_app.views import SessionDetail


class OpeningView(Protocol):
    """The screen, as far as changing the conversation needs it."""

    async def show(self, exchanges: Sequence[Exchange], words: Sequence[str]) -> None:
        """Show these exchanges; `words` are what may be recalled in the prompt."""
        ...

    async def show_welcome(self) -> None:
        """Show that nothing was said yet."""
        ...

    async def tell(self, kind: Kind, text: str, hint: str = "") -> None:
        """Something to say in the transcript, outside any turn."""
        ...

    def refresh_status(self) -> None:
        """The state changed."""
        ...

    def warn(self, text: str) -> None:
        """Say in passing why something is not done."""
        ...


class Opening:
    """Changes the open conversation unless something in it is still going on."""

    def __init__(
        self,
        model: SessionModel,
        answering: Answering,
        view: OpeningView,
        busy: Callable[[], str],
    ) -> None:
        self._model = model
        self._answering = answering
        self._view = view
        self._busy = busy

    def may_leave(self) -> bool:
        """Whether nothing goes on; says what does."""
        why = self._busy()
        if why:
            self._view.warn(why)
        return not why

    async def open(self, session_id: str) -> bool:
        """Show a session; False, and why, where it cannot be read."""
        try:
            detail = await self._model.open(session_id)
        except LilaError as error:
            await self._view.tell("error", str(error), error.hint)
            return False
        self._answering.leave(_unfinished(detail))
        exchanges = [from_turn(turn) for turn in detail.turns]
        await self._view.show(exchanges, [turn.user for turn in detail.turns])
        self._view.refresh_status()
        return True

    async def warm(self) -> None:
        """Have the model read the session's stable prefix."""
        # Only speed depends on it: what is wrong with the model is told by the next turn.
        with contextlib.suppress(LilaError):
            await self._model.warm()

    async def begin_new(self) -> None:
        """Show none; the next message begins one."""
        self._model.start_new()
        await self._view.show_welcome()
        self._view.refresh_status()

    async def follow(self, picked: Picked) -> bool:
        """Do what was chosen in the list; whether another session was opened."""
        current = self._model.session_id
        if current in picked.titles:
            self._model.title = picked.titles[current]
        self._view.refresh_status()
        elsewhere = picked.open is not None and picked.open != current
        gone = current is not None and current in picked.deleted
        if not (elsewhere or gone or picked.new) or not self.may_leave():
            return False
        if picked.open is not None and await self.open(picked.open):
            return True
        await self.begin_new()
        return False


def _unfinished(detail: SessionDetail) -> str | None:
    """What a session asked last, itself and not the one it came from, without a whole reply."""
    for turn in detail.turns[-1:]:
        if turn.session_id == detail.info.id and (turn.reply is None or turn.stopped):
            return turn.user
    return None
