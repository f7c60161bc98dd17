"""What the tests of more than one provider need."""

from __future__ import annotations

import pytest

from lila_app.testing import MemoryLedger


@pytest.fixture
def ledger() -> MemoryLedger:
    return MemoryLedger()
