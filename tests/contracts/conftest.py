"""What the tests of more than one provider need."""

from __future__ import annotations

import pytest

from lila_app.testing import FakeClock, MemoryLedger


@pytest.fixture
def ledger() -> MemoryLedger:
    return MemoryLedger()


@pytest.fixture
def clock() -> FakeClock:
    """It stands until it is moved: for whoever asks, and for what servers cache."""
    return FakeClock()
