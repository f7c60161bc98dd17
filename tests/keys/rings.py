"""Keyrings of every temper, for this process and (by PYTHON_KEYRING_BACKEND) for others."""

from __future__ import annotations

import time
from typing import ClassVar

from keyring.backend import KeyringBackend
from keyring.errors import KeyringLocked, PasswordDeleteError


class Keeping(KeyringBackend):
    """One that works."""

    priority: ClassVar[float] = 5.0  # pyright: ignore[reportIncompatibleVariableOverride,reportIncompatibleMethodOverride]

    def __init__(self) -> None:
        super().__init__()
        self.kept: dict[tuple[str, str], str] = {}

    @property
    def name(self) -> str:  # pyright: ignore[reportIncompatibleVariableOverride,reportIncompatibleMethodOverride]
        return "test ring"

    def get_password(self, service: str, username: str) -> str | None:
        return self.kept.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        self.kept[service, username] = password

    def delete_password(self, service: str, username: str) -> None:
        if self.kept.pop((service, username), None) is None:
            raise PasswordDeleteError(username)


class Locked(Keeping):
    """One that cannot be unlocked, and quotes what it was given when it says so."""

    def get_password(self, service: str, username: str) -> str | None:
        raise KeyringLocked(f"locked: {username}")

    def set_password(self, service: str, username: str, password: str) -> None:
        raise KeyringLocked(f"locked: {password}")

    def delete_password(self, service: str, username: str) -> None:
        raise KeyringLocked(f"locked: {username}")


class Hanging(Keeping):
    """One that waits for a person who is not there."""

    def get_password(self, service: str, username: str) -> str | None:
        time.sleep(3_600)
        return None

    def set_password(self, service: str, username: str, password: str) -> None:
        time.sleep(3_600)


class Forgetting(Keeping):
    """One that takes everything and keeps nothing."""

    def set_password(self, service: str, username: str, password: str) -> None:
        pass


class Broken(Keeping):
    """One that fails with what it was given in its error."""

    def get_password(self, service: str, username: str) -> str | None:
        raise RuntimeError(f"cannot read {username}")

    def set_password(self, service: str, username: str, password: str) -> None:
        raise RuntimeError(f"cannot keep {password}")
