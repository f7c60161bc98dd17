"""The contract server of OpenAI, under the clock of the test."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from lila_app.testing import FakeClock
from tests.contracts.openai_server import OpenAIServer, openai_server


@pytest.fixture
def server(clock: FakeClock) -> Iterator[OpenAIServer]:
    with openai_server(clock) as running:
        yield running
