"""The contract server of Gemini, under the clock of the test."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from lila_app.testing import FakeClock
from tests.contracts.gemini_server import GeminiServer, gemini


@pytest.fixture
def server(clock: FakeClock) -> Iterator[GeminiServer]:
    with gemini(clock) as running:
        yield running
