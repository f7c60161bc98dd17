"""Something to forget, and ways to see that it is gone and that nothing broke."""

from __future__ import annotations

from pathlib import Path

from lila_app.storage import check
from lila_app.storage.connection import Store
from tests.storage.builders import places_of

SECRET = "Zebulon keeps his pelargoniums at 17 Quince Lane"
WORDS = ("zebulon", "pelargonium", "quince")


def nowhere(path: Path, *words: str) -> None:
    for word in words:
        assert places_of(path, word) == [], word


def whole(store: Store) -> None:
    assert check.check(store).problems == ()
