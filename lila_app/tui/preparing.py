"""Getting the model ready while the person already writes: fetch it if need be, then load it."""

from __future__ import annotations

from typing import Protocol

from lila_app.errors import Cancelled, LilaError
from lila_app.tui.exchange import Kind
from lila_app.tui.facade import Assistant
from lila_app.tui.session_model import Phase, SessionModel
from lila_app.tui.weights import Missing, Weights


class PreparingView(Protocol):
    """The screen, as far as getting the model ready needs it."""

    async def choose(self, missing: Missing) -> str | None:
        """Which model to fetch or take, None for neither."""
        ...

    async def tell(self, kind: Kind, text: str, hint: str = "") -> None:
        """Something to say in the transcript."""
        ...

    def refresh_status(self) -> None:
        """The state changed."""
        ...


class Bar(Protocol):
    """Where the fetch is followed."""

    def begin(self, notice: str) -> None:
        """Say what is fetched."""
        ...

    def advance(self, done: int, total: int, label: str) -> None:
        """How far it is; called from the thread that fetches."""
        ...

    def end(self) -> None:
        """It is over."""
        ...


class Preparing:
    """Fetches and warms the model once; failing is told and never ends the app."""

    def __init__(self, lila: Assistant, model: SessionModel, view: PreparingView, bar: Bar) -> None:
        self._weights = Weights(lila)
        self._model = model
        self._view = view
        self._bar = bar
        self.over = False

    def stop(self) -> None:
        """End a fetch."""
        self._weights.stop()

    async def run(self) -> None:
        """Returns when the model is there, or will not be."""
        try:
            await self._fetch_if_missing()
            self.over = True
            await self._model.find_model()
            await self._load()
        except Cancelled as stop:
            await self._view.tell("notice", str(stop), stop.hint)
        except LilaError as error:
            await self._view.tell("error", str(error), error.hint)
        finally:
            self.over = True
            self._model.prepare(None)
            self._view.refresh_status()

    async def _fetch_if_missing(self) -> None:
        if self._model.chosen is not None:
            return
        missing = await self._weights.missing()
        if missing is None:
            return
        name = missing.name
        if missing.others:
            chosen = await self._view.choose(missing)
            if chosen is None:
                raise Cancelled(
                    "no model was fetched", hint="`lila models list` says what LILA can talk to"
                )
            if chosen != name:
                await self._weights.use(chosen)
                return
        self._model.prepare(Phase.FETCHING)
        self._bar.begin(missing.notice)
        self._view.refresh_status()
        try:
            await self._weights.fetch(name, self._bar.advance)
        finally:
            self._bar.end()

    async def _load(self) -> None:
        self._model.prepare(Phase.LOADING)
        self._view.refresh_status()
        await self._model.warm()
