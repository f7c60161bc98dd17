"""Servers and models to ask: one on loopback, and the real embedded model, fetched once with LILA's
own code and kept between runs.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from lila_app.context import Source
from lila_app.gateway.embedded.fetch import fetch
from lila_app.gateway.embedded.provider import EmbeddedProvider
from lila_app.gateway.embedded.weights import DEFAULT
from lila_app.gateway.routing import Routes, resolve
from lila_app.gateway.table import GatewayTable, parse_gateway
from lila_app.paths import shipped
from tests.gateway.chat_server import ChatServer, hello, serving


@pytest.fixture
def server() -> Iterator[ChatServer]:
    """One of the Chat Completions kind that says hello, on loopback."""
    with serving(hello) as running:
        yield running


@pytest.fixture(scope="session")
def models_dir() -> Path:
    """A folder with the embedded model in it (LILA_TEST_MODELS names another)."""
    chosen = os.environ.get("LILA_TEST_MODELS", "")
    folder = Path(chosen) if chosen else Path.home() / ".cache" / "lila-tests"
    fetch(folder, lambda done, total, label: None)
    return folder


@pytest.fixture(scope="session")
def table() -> GatewayTable:
    """The shipped gateway table."""
    path = shipped("policies") / "gateway.toml"
    return parse_gateway([Source(path.name, path.read_text(encoding="utf-8"))])


@pytest.fixture(scope="session")
def embedded(models_dir: Path, table: GatewayTable) -> Iterator[EmbeddedProvider]:
    """The embedded provider, started by the first test that asks it something."""
    provider = resolve(DEFAULT, Routes(table), models_dir)
    assert isinstance(provider, EmbeddedProvider)
    yield provider
    asyncio.run(provider.close())
