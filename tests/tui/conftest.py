from __future__ import annotations

from pathlib import Path

import pytest

from tests.tui.fake_lila import FakeLila


@pytest.fixture
def lila(tmp_path: Path) -> FakeLila:
    return FakeLila(tmp_path / "state")
