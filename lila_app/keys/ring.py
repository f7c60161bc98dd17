"""The system's keyring: one link in a chain, which may be absent, locked or silent."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Generic, TypeVar

from lila_app.errors import LilaError

if TYPE_CHECKING:
    from keyring.backend import KeyringBackend

T = TypeVar("T")

_log = logging.getLogger(__name__)

READ_SECONDS = 5.0
"""How long a turn waits for a keyring; one that asks a person who is not there never answers."""
WRITE_SECONDS = 60.0
"""Long enough to type the keyring's password."""


class NoRing(LilaError):
    """There is no keyring here, which is no fault."""


class SilentRing(LilaError):
    """There is a keyring, and it did not do what was asked."""


class Ring:
    """The entries of one service in the system's keyring, by provider.

    Every method raises `NoRing` or `SilentRing` and nothing else.
    """

    def __init__(
        self,
        service: str,
        *,
        read_seconds: float = READ_SECONDS,
        write_seconds: float = WRITE_SECONDS,
    ) -> None:
        self._service = service
        self._read_seconds = read_seconds
        self._write_seconds = write_seconds
        self._hanging: threading.Thread | None = None

    def name(self) -> str:
        """What the keyring calls itself."""
        return self._ask(lambda ring: str(ring.name), self._read_seconds)

    def get(self, provider: str) -> str | None:
        """The key of a provider."""
        return self._ask(
            lambda ring: ring.get_password(self._service, provider), self._read_seconds
        )

    def set(self, provider: str, key: str) -> None:
        """Keep a key; read back, because a backend may accept everything and keep nothing."""

        def keep(ring: KeyringBackend) -> bool:
            ring.set_password(self._service, provider, key)  # pyright: ignore[reportUnknownMemberType]
            return ring.get_password(self._service, provider) == key

        if not self._ask(keep, self._write_seconds):
            raise NoRing("the keyring keeps nothing")

    def delete(self, provider: str) -> bool:
        """Forget a key; False when there was none."""

        def forget(ring: KeyringBackend) -> bool:
            if ring.get_password(self._service, provider) is None:
                return False
            ring.delete_password(self._service, provider)
            return True

        return self._ask(forget, self._write_seconds)

    def _ask(self, question: Callable[[KeyringBackend], T], seconds: float) -> T:
        if self._hanging is not None and self._hanging.is_alive():
            raise SilentRing("the keyring still does not answer")
        asked = _Asked(question)
        asked.start()
        asked.join(seconds)
        if asked.is_alive():
            self._hanging = asked
            raise SilentRing(f"the keyring did not answer within {seconds:.0f} s; it may be locked")
        return asked.answer()


class _Asked(threading.Thread, Generic[T]):
    """One question in a thread that does not keep the process alive."""

    def __init__(self, question: Callable[[KeyringBackend], T]) -> None:
        super().__init__(name="lila-keyring", daemon=True)
        self._question = question
        self._answers: list[T] = []
        self._failure: LilaError | None = None

    def run(self) -> None:
        # What a backend says when it fails is its own affair, and may quote what it was given.
        try:
            import keyring
            from keyring.errors import NoKeyringError

            ring = keyring.get_keyring()
            if ring.priority <= 0:
                raise NoKeyringError
            self._answers.append(self._question(ring))
        except ImportError:
            self._failure = NoRing("there is no keyring here")
        except Exception as error:
            kind = type(error).__name__
            if kind == "NoKeyringError":
                self._failure = NoRing("there is no keyring here")
                return
            self._failure = SilentRing(f"the keyring refused ({kind})")
            _log.warning("the keyring refused: %s", kind)

    def answer(self) -> T:
        if self._failure is not None:
            raise self._failure
        return self._answers[0]
