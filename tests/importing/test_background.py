"""After a large import, vectors and learning follow in the background; nothing waits for them."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from lila_app import afterwards
from lila_app.assistant import open_lila
from lila_app.storage import vectors
from tests.importing.support import lines
from tests.waiting import PATIENCE, until

COUNT = 400


class Slow:
    """An embedder that takes its time."""

    model_id = "slow"
    dimension = 4

    def __init__(self) -> None:
        self.texts: list[str] = []

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        time.sleep(0.02)
        self.texts += texts
        return np.eye(1, 4, dtype=np.float32).repeat(len(texts), axis=0)


def test_others_get_their_turn_while_vectors_follow_newest_first(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(afterwards, "SLICE_SECONDS", 0.1)
    embedder = Slow()
    path = lines(
        tmp_path / "t.jsonl",
        *({"at": number, "speaker": "Ann", "text": f"words {number}"} for number in range(COUNT)),
    )
    with open_lila(home, embedder=embedder) as lila:
        lila.imports.run(path, learn=False)
        inner = lila._resources
        met, seen = threading.Event(), list[int]()

        def other() -> None:
            seen.append(vectors.coverage(inner.store, "turns", "slow")[0])
            met.set()

        inner.later(other)
        assert met.wait(PATIENCE)
        assert 0 < seen[0] < COUNT
        until(lambda: lila.imports.coverage().missing == 0)
        assert embedder.texts[0] == f"words {COUNT - 1}"
        assert lila.imports.status().unlearned == 0
