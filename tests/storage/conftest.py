from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from lila_app.storage.connection import Store


@pytest.fixture(autouse=True)
def ready_store() -> None:
    """Stores are made here, not copied, but where a property needs many (`copied_stores`)."""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "data" / "default.db"


@pytest.fixture
def store(path: Path) -> Iterator[Store]:
    with Store.open(path) as opened:
        yield opened
