from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from lila_app.storage.connection import Store


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "test.db") as opened:
        yield opened
