"""A store, the real embedder, and questions to ask the layers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from lila_app import policies
from lila_app.context import Policy
from lila_app.documents.pending import embed_pending
from lila_app.embedding import load_counter, remember
from lila_app.embedding.port import Embedder
from lila_app.embedding.tokens import Counter
from lila_app.layers.port import Question
from lila_app.layers.search import Finder
from lila_app.paths import Home
from lila_app.storage.connection import Store

NOW = "2026-11-30T08:00:00+00:00"


@pytest.fixture(scope="session")
def count() -> Counter:
    return remember(load_counter())


@pytest.fixture(scope="session")
def policy(tmp_path_factory: pytest.TempPathFactory) -> Policy:
    return policies.load(Home.at(tmp_path_factory.mktemp("home"))).policy


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "test.db") as opened:
        yield opened


@dataclass(frozen=True)
class Asker:
    """Makes questions and keeps vectors in step."""

    store: Store
    embedder: Embedder
    policy: Policy

    @property
    def finder(self) -> Finder:
        return Finder(self.store, self.embedder.model_id)

    def embed(self) -> None:
        embed_pending(self.store, self.embedder)

    def __call__(
        self,
        text: str,
        *,
        session: str | None = None,
        before: int | None = None,
        pack: tuple[str, ...] | None = None,
        now: str = NOW,
    ) -> Question:
        vector = self.embedder.embed([text])[0]
        return Question(text, lambda: vector, session, before, pack, now, self.policy)


@pytest.fixture
def ask(store: Store, embedder: Embedder, policy: Policy) -> Asker:
    return Asker(store, embedder, policy)
