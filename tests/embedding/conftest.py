from __future__ import annotations

from pathlib import Path

import pytest

from lila_app.embedding import Counter, MiniLM, load_counter

VOCABULARY = Path(__file__).parents[2] / "assets" / "vocabulary" / "minilm-tokenizer.json"


@pytest.fixture(scope="session")
def minilm() -> MiniLM:
    return MiniLM(VOCABULARY)


@pytest.fixture(scope="session")
def counter() -> Counter:
    return load_counter()
