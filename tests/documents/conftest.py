from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from lila_app.embedding import Counter, load_counter
from lila_app.storage.connection import Store


class Digests:
    """An embedder that takes no time: a vector drawn from the text's SHA-256."""

    model_id = "digests"
    dimension = 384

    def __init__(self) -> None:
        self.seen: list[str] = []

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.seen += texts
        rows = np.zeros((len(texts), self.dimension), np.float32)
        for row, text in zip(rows, texts, strict=True):
            seed = int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")
            row[:] = np.random.default_rng(seed).normal(size=self.dimension)
            row /= np.sqrt(np.square(row).sum())
        return rows


@pytest.fixture
def digests() -> Digests:
    return Digests()


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "store" / "default.db") as opened:
        yield opened


@pytest.fixture(scope="session")
def counter() -> Counter:
    return load_counter()
