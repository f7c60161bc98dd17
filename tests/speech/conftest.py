"""A hub and a package index on loopback, and no others."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from lila_app.fetching.hub import Hub
from lila_app.speech.fetch import Means, fetch
from lila_app.speech.published import Published
from tests.gateway.chat_server import ChatServer, serving
from tests.speech.serving import Places

QUICK_PIP = """
import sys, urllib.request
target, (name, _, _) = sys.argv[sys.argv.index("--dest") + 1], sys.argv[-1].partition("==")
file = name.replace("-", "_") + "-1.0-py3-none-any.whl"
try:
    urllib.request.urlretrieve(f"{sys.argv[1]}/f/{file}", f"{target}/{file}")
except OSError:
    sys.exit("ERROR: No matching distribution found for " + name)
"""
"""Does with the index on loopback what pip does, without its two seconds of starting."""


@dataclass
class Machine:
    """Where models are kept, what is reached from here, and what was said on the way.

    `pip` None is the real one.
    """

    models: Path
    places: Places
    server: ChatServer
    environ: dict[str, str]
    said: list[tuple[int, int, str]]
    pip: list[str] | None

    def fetch(self, model: Published) -> Path:
        means = Means(Hub(self.environ), self.pip)
        return fetch(model, self.models, lambda *said: self.said.append(said), self.environ, means)

    def asked(self, start: str) -> list[str]:
        return [seen.path for seen in self.server.seen if seen.path.startswith(start)]


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Machine]:
    places = Places()
    with serving(places) as server:
        monkeypatch.setenv("PIP_INDEX_URL", f"{server.origin}/simple")
        monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
        monkeypatch.setenv("PIP_CACHE_DIR", str(tmp_path / "pip-cache"))
        for name in ("PIP_EXTRA_INDEX_URL", "PIP_FIND_LINKS", "PIP_NO_INDEX", "PIP_PROXY"):
            monkeypatch.delenv(name, raising=False)
        monkeypatch.setenv("NO_PROXY", "127.0.0.1")
        environ = {"HF_ENDPOINT": server.origin, "HF_HUB_CACHE": str(tmp_path / "hub-cache")}
        pip = [sys.executable, "-c", QUICK_PIP, server.origin]
        yield Machine(tmp_path / "models", places, server, environ, [], pip)
