"""The contract server of Anthropic, under the clock of the test."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from lila_app.testing import FakeClock
from tests.contracts.anthropic_server import AnthropicServer, anthropic_server


@pytest.fixture
def server(clock: FakeClock) -> Iterator[AnthropicServer]:
    with anthropic_server(clock) as running:
        yield running
