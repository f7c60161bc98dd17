from __future__ import annotations

from collections.abc import Callable, Iterator

import keyring
import pytest
from keyring.backend import KeyringBackend

from lila_app.keys import Keys
from lila_app.keys.ring import Ring
from lila_app.paths import Home
from lila_app.settings import ProviderSettings
from tests.keys.rings import Hanging, Keeping
from tests.waiting import PATIENCE

Make = Callable[..., Keys]


@pytest.fixture
def place(tmp_path_factory: pytest.TempPathFactory) -> Home:
    made = Home.at(tmp_path_factory.mktemp("lila") / "home")
    made.create()
    return made


@pytest.fixture
def ring() -> Iterator[Keeping]:
    """A keyring of this process's own that works."""
    before = keyring.get_keyring()
    made = Keeping()
    keyring.set_keyring(made)
    yield made
    keyring.set_keyring(before)


@pytest.fixture
def use() -> Iterator[Callable[[KeyringBackend], None]]:
    """Puts another keyring in its place."""
    before = keyring.get_keyring()
    yield keyring.set_keyring
    keyring.set_keyring(before)


@pytest.fixture
def keys(place: Home) -> Make:
    """Keys of the home, with an environment of their own; one that hangs is not waited for."""

    def make(
        *,
        given: dict[str, str] | None = None,
        configured: dict[str, ProviderSettings] | None = None,
        **environ: str,
    ) -> Keys:
        hangs = isinstance(keyring.get_keyring(), Hanging)
        seconds = 0.05 if hangs else PATIENCE  # one that answers may take long on a busy machine
        ring = Ring(f"lila {place.root}", read_seconds=seconds, write_seconds=seconds)
        return Keys(place, configured or {}, given=given, environ=environ, ring=ring)

    return make
