"""Other memory systems beside LILA, run by an interpreter of their own (see `peers`)."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from lila_app.errors import UsageError
from lila_app.evaluation.locomo import Conversation
from lila_app.evaluation.ranking import Vectors, spoken

SYSTEMS = {"mem0": "mem0 (infer=False)", "agentrecall": "agentrecall-db"}
"""Names of the systems a script can ask, and as they stand in a table."""

SCRIPT = Path(__file__).with_name("peers.py")
PATIENCE_S = 1_800


@dataclass(frozen=True, slots=True)
class Answer:
    """Places of messages, best first, and how long finding them took, in milliseconds."""

    places: tuple[int, ...]
    ms: float


def ask(
    python: Path, system: str, conversation: Conversation, vectors: Vectors
) -> tuple[Answer, ...]:
    """One system's answers to the questions of a conversation. Raises UsageError if it cannot."""
    texts = [spoken(message) for message in conversation.messages]
    questions = [asked.text for asked in conversation.questions]
    task = {
        "texts": texts,
        "questions": questions,
        "vectors": {text: vectors[text].tolist() for text in {*texts, *questions}},
    }
    try:
        done = subprocess.run(
            [str(python), str(SCRIPT), system],
            input=json.dumps(task),
            capture_output=True,
            text=True,
            timeout=PATIENCE_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise _failed(python, system, str(error)) from error
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["it said nothing"])[-1]
        raise _failed(python, system, last)
    rows = cast("Sequence[Mapping[str, object]]", json.loads(done.stdout))
    return tuple(
        Answer(tuple(cast("list[int]", row["places"])), cast("float", row["ms"])) for row in rows
    )


def _failed(python: Path, system: str, why: str) -> UsageError:
    return UsageError(
        f"{system} could not be asked by {python}: {why}",
        hint="make an environment with `pip install mem0ai agentrecall-db` and name its python",
    )
