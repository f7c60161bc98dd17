from __future__ import annotations

from pathlib import Path

import pytest

from tests.tui.fake_lila import FakeLila


@pytest.fixture(autouse=True)
def bare_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing a test copies ends in the buffers of whoever runs it."""
    for name in ("TMUX", "STY"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def lila(tmp_path: Path) -> FakeLila:
    return FakeLila(tmp_path / "state")
