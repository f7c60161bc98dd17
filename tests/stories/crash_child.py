"""A process made to be killed: it talks and ingests without end, saying what it was promised.

Each line on stdout is a message LILA said it keeps; the parent holds it to that.
"""

from __future__ import annotations

import asyncio
import hashlib
import sys
from collections.abc import Sequence
from contextlib import aclosing
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from lila_app.assistant import Lila, open_lila
from lila_app.events import Started
from lila_app.testing import Scripted, ScriptedProvider


class HashEmbedder:
    """Vectors without a model: loading one would take longer than the process may live."""

    model_id = "hash"
    dimension = 384

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        made = [np.frombuffer(hashlib.shake_256(t.encode()).digest(384), np.int8) for t in texts]
        rows = np.array(made, np.float32).reshape(len(texts), 384)
        return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1).astype(np.float32)


async def talk(lila: Lila, provider: ScriptedProvider, run: str, session: str) -> None:
    for number in range(10_000):
        provider.enqueue(Scripted(tuple(f"word{i} " for i in range(30)), delay=0.001))
        text = f"message {run}/{number} about the ferry, the wall and the larch planks"
        async with aclosing(lila.turn(text, session=session)) as events:
            async for event in events:
                if isinstance(event, Started):
                    print(text, flush=True)


def ingest(lila: Lila, folder: Path, run: str) -> None:
    for number in range(10_000):
        for name in range(4):
            body = "\n\n".join(f"Paragraph {p} of {run}/{number}/{name}." * 9 for p in range(12))
            (folder / f"{name}.md").write_text(f"# {run}\n\n{body}\n")
        lila.documents.ingest([folder])
        lila.memory.add(f"memory {run}/{number} of the larch planks")


async def both(lila: Lila, provider: ScriptedProvider, folder: Path, run: str) -> None:
    session = lila.sessions.create(run).id
    await asyncio.gather(
        talk(lila, provider, run, session), asyncio.to_thread(ingest, lila, folder, run)
    )


if __name__ == "__main__":
    scripted = ScriptedProvider()
    with open_lila(Path(sys.argv[1]), provider=scripted, embedder=HashEmbedder()) as opened:
        asyncio.run(both(opened, scripted, Path(sys.argv[2]), sys.argv[3]))
