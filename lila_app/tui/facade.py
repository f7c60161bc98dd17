"""What the terminal front-end needs of the assistant, and nothing more."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping, Sequence
from pathlib import Path
from typing import Protocol

from lila_app.costs.views import WarningInfo
from lila_app.events import Confirm, TurnEvent
from lila_app.views import (
    ForgetReport,
    ModelInfo,
    Progress,
    SessionDetail,
    SessionInfo,
    TurnHit,
)


class Folders(Protocol):
    """Where LILA keeps what is not content of the store."""

    @property
    def state_dir(self) -> Path:
        """The folder for drafts."""
        ...


class Sessions(Protocol):
    """Conversations. Every call blocks and raises `LilaError`."""

    def list(self, limit: int = 50) -> Sequence[SessionInfo]:
        """The latest sessions, newest first."""
        ...

    def show(self, id: str) -> SessionDetail:
        """One session with its turns."""
        ...

    def fork(self, id: str) -> SessionInfo:
        """A new session that begins as a copy of this one."""
        ...

    def rename(self, id: str, title: str) -> SessionInfo:
        """Give a session another title."""
        ...

    def delete(self, id: str) -> ForgetReport:
        """Erase a session with everything that was said in it."""
        ...

    def search(self, query: str) -> Sequence[TurnHit]:
        """Past turns that match, best first."""
        ...


class Contexts(Protocol):
    """Context records. Every call blocks and raises `LilaError`."""

    def show(self, id: str = "last", session: str | None = None) -> Mapping[str, object]:
        """One record; `last` with a session is that session's latest."""
        ...


class Models(Protocol):
    """Models. Every call blocks and raises `LilaError`."""

    def list(self) -> Sequence[ModelInfo]:
        """Every model LILA can talk to."""
        ...

    def pull(self, name: str, progress: Progress) -> object:
        """Fetch the weights of a model."""
        ...

    def set_default(self, name: str) -> object:
        """Let this model answer from now on."""
        ...

    def fetch_notice(self) -> str | None:
        """What will be fetched and from where, when the default model's weights are missing."""
        ...


class Caches(Protocol):
    """Caches of model providers. Every call blocks and raises `LilaError`."""

    def warnings(self, session: str) -> Sequence[WarningInfo]:
        """Promised reads that did not come in a session lately, the latest first."""
        ...


class Assistant(Protocol):
    """The assistant as the terminal front-end sees it."""

    @property
    def profile(self) -> str:
        """The name of the open profile."""
        ...

    @property
    def home(self) -> Folders:
        """LILA's folders."""
        ...

    @property
    def sessions(self) -> Sessions:
        """Conversations."""
        ...

    @property
    def contexts(self) -> Contexts:
        """Context records."""
        ...

    @property
    def cache(self) -> Caches:
        """Caches of model providers."""
        ...

    @property
    def models(self) -> Models:
        """Models."""
        ...

    def turn(
        self,
        text: str,
        *,
        use_case: str = "chat",
        session: str | None = None,
        model: str | None = None,
        confirm: Confirm | None = None,
    ) -> AsyncGenerator[TurnEvent, None]:
        """Say something; closing the generator stops the reply and keeps what is there.

        `confirm` is asked before a tool changes something.
        """
        ...

    def retry(
        self, session: str, *, model: str | None = None, confirm: Confirm | None = None
    ) -> AsyncGenerator[TurnEvent, None]:
        """Ask again what a session asked last without getting a whole reply."""
        ...

    def warm(self, use_case: str = "chat", session: str | None = None) -> object:
        """Load the model and the stable prefix of a session in the background."""
        ...
