"""Other memory systems, asked the same questions. A script for an interpreter that has them.

    PYTHON peers.py NAME < task.json > ranks.json      # NAME: mem0 or agentrecall

It imports nothing of LILA, and LILA never imports it. The task holds `texts` (messages),
`questions` and `vectors` by text, so that embeddings are the same for all and cost none of them
anything. The answer holds, for each question, places of texts best first, and milliseconds.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from collections.abc import Callable
from importlib import import_module
from typing import Any

MOST = 400

Ask = Callable[[str], list[int]]


def mem0(task: dict[str, Any], folder: str) -> Ask:
    """mem0 2.x, `infer=False`: messages as they are, Qdrant within the process."""
    os.environ["MEM0_TELEMETRY"] = "False"
    os.environ["MEM0_DIR"] = folder
    os.environ["OPENAI_API_KEY"] = "not-used"
    system: Any = import_module("mem0")
    vectors: dict[str, list[float]] = {
        _bare(text): vector for text, vector in task["vectors"].items()
    }

    class Known:
        """The vectors of the task in place of a model."""

        def embed(self, text: str, memory_action: str = "") -> list[float]:
            del memory_action
            return vectors[_bare(text)]

        def embed_batch(self, texts: list[str], memory_action: str = "") -> list[list[float]]:
            return [self.embed(text, memory_action) for text in texts]

    size = len(next(iter(vectors.values())))
    memory: Any = system.Memory.from_config(
        {
            "vector_store": {
                "provider": "qdrant",
                "config": {
                    "path": f"{folder}/qdrant",
                    "embedding_model_dims": size,
                    "collection_name": "said",
                },
            },
            "history_db_path": f"{folder}/history.db",
        }
    )
    memory.embedding_model = Known()
    for place, text in enumerate(task["texts"]):
        memory.add(text, user_id="one", metadata={"place": place}, infer=False)

    def ask(question: str) -> list[int]:
        found: Any = memory.search(question, top_k=MOST, filters={"user_id": "one"}, threshold=0.0)
        return [one["metadata"]["place"] for one in found["results"]]

    return ask


def _bare(text: str) -> str:
    """A text as it may come back from a system that trims it."""
    return " ".join(text.split())


def agentrecall(task: dict[str, Any], folder: str) -> Ask:
    """agentrecall-db: full text over one SQLite file, without a model of its own."""
    system: Any = import_module("agentrecall")
    memory: Any = system.Memory(f"{folder}/recall.db", embeddings=False)
    texts = task["texts"]
    memory.add_many([{"content": t, "metadata": {"place": n}} for n, t in enumerate(texts)])

    def ask(question: str) -> list[int]:
        return [hit.metadata["place"] for hit in memory.search(question, k=MOST)]

    return ask


SYSTEMS: dict[str, Callable[[dict[str, Any], str], Ask]] = {
    "mem0": mem0,
    "agentrecall": agentrecall,
}


def main(name: str) -> None:
    """Read the task, ask, print."""
    task = json.load(sys.stdin)
    answers: list[dict[str, Any]] = []
    kept = os.dup(1)
    os.dup2(2, 1)  # what they print goes to stderr
    with tempfile.TemporaryDirectory() as folder:
        ask = SYSTEMS[name](task, folder)
        ask(task["questions"][0])
        for question in task["questions"]:
            start = time.perf_counter()
            places = ask(question)
            answers.append({"places": places, "ms": 1000 * (time.perf_counter() - start)})
    with os.fdopen(kept, "w") as out:
        json.dump(answers, out)


if __name__ == "__main__":
    main(sys.argv[1])
