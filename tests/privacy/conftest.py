"""A store, a vault with a key in a file, and rules by choice."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

import pytest

from lila_app.context import Source
from lila_app.paths import Home, shipped
from lila_app.privacy.key import VaultKey
from lila_app.privacy.names import Names
from lila_app.privacy.rules import Rules, parse
from lila_app.privacy.sinks import Privacy
from lila_app.storage.connection import Store

AT = "2026-11-30T12:00:00+00:00"


def shipped_rules() -> Source:
    path = shipped("policies") / "privacy.toml"
    return Source("privacy.toml", path.read_text(encoding="utf-8"))


def rules(own: str = "") -> Rules:
    return parse([shipped_rules(), *([Source("own.toml", own)] if own else [])])


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "profile.db") as opened:
        yield opened


class Make(Protocol):
    """Makes the sinks, with rules of the person's own."""

    def __call__(self, own: str = "") -> Privacy: ...


@pytest.fixture
def privacy(store: Store, place: Home) -> Make:
    """The sinks under the shipped rules with some of the person's own."""

    def make(own: str = "") -> Privacy:
        sources = [shipped_rules(), *([Source("own.toml", own)] if own else [])]
        return Privacy(store, VaultKey(place), lambda: sources, lambda: AT)

    return make


@pytest.fixture(scope="session")
def names() -> Names:
    """The model of language, loaded once."""
    return Names()
