"""How much of the labelled evidence stands in a prompt of a given size, LILA beside yardsticks.

LILA imports a conversation into a store made for it and is asked every question through the real
assembler, in the use case `recall`, when the conversation has just ended; no model is called. What
counts is what the record says its items carry. The yardsticks rank the same messages and may fill
the whole budget with them.

Recall is the mean over questions of the share of their evidence that is there.
"""

from __future__ import annotations

import json
import random
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lila_app.assistant import Lila, open_lila
from lila_app.embedding.minilm import MiniLM
from lila_app.embedding.port import Embedder
from lila_app.embedding.tokens import load_counter, remember
from lila_app.evaluation import others, ranking
from lila_app.evaluation.locomo import CATEGORIES, Asked, Conversation
from lila_app.evaluation.ranking import Rank
from lila_app.paths import shipped
from lila_app.resources import VOCABULARY
from lila_app.views import Progress

if TYPE_CHECKING:
    from lila_app.evaluation.ranking import Vectors

BUDGETS = (1_024, 2_048, 4_096)
LILA = "LILA"
USE_CASE = "recall"
RESAMPLES, SEED = 1_000, 20_261_130
"""Of the bootstrap: the interval moves by less than half a point from one seed to another."""
_POLL_S = 0.05


@dataclass(frozen=True, slots=True)
class Measure:
    """What is measured: budgets in tokens, and what stands beside LILA.

    `python` is an interpreter that has the other systems, None for none.
    """

    budgets: tuple[int, ...] = BUDGETS
    baselines: bool = True
    python: Path | None = None


@dataclass(frozen=True, slots=True)
class Trial:
    """One question asked in one way: shares of the evidence (0 to 1), tokens and milliseconds."""

    way: str
    budget: int
    category: int
    share: float
    corrected: float
    tokens: int
    ms: float


@dataclass(frozen=True, slots=True)
class Recall:
    """Mean recall (0 to 1) over questions with the 95 % interval of a bootstrap over them."""

    category: str
    questions: int
    mean: float
    low: float
    high: float
    corrected: float


@dataclass(frozen=True, slots=True)
class Row:
    """One way at one budget: all categories first, then each; mean tokens, milliseconds."""

    way: str
    budget: int
    recalls: tuple[Recall, ...]
    tokens: float
    p50_ms: float
    p95_ms: float


@dataclass(frozen=True, slots=True)
class Report:
    """The table of a file."""

    conversations: int
    messages: int
    questions: int
    rows: tuple[Row, ...]


def measure(
    conversations: Sequence[Conversation], wanted: Measure, progress: Progress | None = None
) -> Report:
    """Ask everything and put the numbers together. Raises LilaError."""
    watch = progress or _quiet
    embedder = MiniLM(shipped("assets") / VOCABULARY)
    trials: list[Trial] = []
    for number, conversation in enumerate(conversations):
        watch(number, len(conversations), conversation.name)
        trials += of_lila(conversation, wanted.budgets, embedder)
        if wanted.baselines or wanted.python is not None:
            trials += _beside(conversation, wanted, embedder)
    watch(len(conversations), len(conversations), "asked")
    return Report(
        conversations=len(conversations),
        messages=sum(len(one.messages) for one in conversations),
        questions=sum(len(one.questions) for one in conversations),
        rows=rows(trials),
    )


def of_lila(
    conversation: Conversation, budgets: Sequence[int], embedder: Embedder
) -> Iterator[Trial]:
    """LILA's own trials, in a store that is gone afterwards."""
    with (
        tempfile.TemporaryDirectory() as folder,
        open_lila(Path(folder) / "home", embedder=embedder) as lila,
    ):
        _fill(lila, conversation, Path(folder) / "said.jsonl")
        now = conversation.messages[-1].at
        lila.preview("ready?", use_case=USE_CASE, now=now)
        for asked in conversation.questions:
            for budget in budgets:
                start = time.perf_counter()
                context = lila.preview(asked.text, use_case=USE_CASE, budget=budget, now=now)
                ms = 1000 * (time.perf_counter() - start)
                used: int = context.record["token_budget"]["used"]
                yield _trial(LILA, budget, asked, carried(context.record), used, ms)


def carried(record: Mapping[str, Any]) -> frozenset[str]:
    """External ids of everything the items of a record carry."""
    items = [item for layer in record["layers"] for item in layer["items"]]
    one = {item["external_id"] for item in items if "external_id" in item}
    return frozenset(one).union(*(item.get("external_ids", ()) for item in items))


def _fill(lila: Lila, conversation: Conversation, path: Path) -> None:
    lines = [
        json.dumps(
            {
                "id": message.id,
                "session": f"{message.session}",
                "at": message.at,
                "speaker": message.speaker,
                "text": message.text,
            }
        )
        for message in conversation.messages
    ]
    path.write_text("\n".join(lines), encoding="utf-8")
    lila.imports.run(path, kind="jsonl", learn=False)
    while lila.imports.coverage().missing:
        time.sleep(_POLL_S)


def _beside(conversation: Conversation, wanted: Measure, embedder: Embedder) -> Iterator[Trial]:
    vectors = _vectors(conversation, embedder)
    count = remember(load_counter())
    sizes = [count(ranking.line(message) + "\n") for message in conversation.messages]

    def trials(way: str, asked: Asked, order: Sequence[int], ms: float) -> Iterator[Trial]:
        for budget in wanted.budgets:
            taken, used = ranking.packed(order, sizes, budget)
            ids = frozenset(conversation.messages[place].id for place in taken)
            yield _trial(way, budget, asked, ids, used, ms)

    for way, rank in _ways(conversation, vectors).items() if wanted.baselines else ():
        for asked in conversation.questions:
            start = time.perf_counter()
            order = rank(asked)
            yield from trials(way, asked, order, 1000 * (time.perf_counter() - start))
    for system, name in others.SYSTEMS.items() if wanted.python is not None else ():
        assert wanted.python is not None
        found = others.ask(wanted.python, system, conversation, vectors)
        for asked, answer in zip(conversation.questions, found, strict=True):
            yield from trials(name, asked, answer.places, answer.ms)


def _ways(conversation: Conversation, vectors: Vectors) -> dict[str, Rank]:
    words = ranking.FullText(conversation)
    near = ranking.dense(conversation, vectors)
    return {
        "recency": ranking.recency(conversation),
        "FTS5": words,
        "MiniLM": near,
        "RRF": ranking.fused(conversation, (words, near), neighbours=False),
        "RRF + neighbours": ranking.fused(conversation, (words, near), neighbours=True),
    }


def _vectors(conversation: Conversation, embedder: Embedder) -> Vectors:
    texts = [ranking.spoken(message) for message in conversation.messages]
    texts = list(dict.fromkeys([*texts, *(asked.text for asked in conversation.questions)]))
    found = embedder.embed(texts)
    return dict(zip(texts, found, strict=True))


def _trial(
    way: str, budget: int, asked: Asked, carried: frozenset[str], tokens: int, ms: float
) -> Trial:
    return Trial(
        way,
        budget,
        asked.category,
        share(asked.evidence, carried),
        share(asked.corrected, carried),
        tokens,
        ms,
    )


def share(evidence: frozenset[str], carried: frozenset[str]) -> float:
    """The part of the evidence that is carried; where there is none, there is nothing to miss."""
    return len(evidence & carried) / len(evidence) if evidence else 1.0


def rows(trials: Sequence[Trial]) -> tuple[Row, ...]:
    """The table: ways in the order they were tried, budgets upwards."""
    order = list(dict.fromkeys(trial.way for trial in trials))

    def key(trial: Trial) -> tuple[int, int]:
        return order.index(trial.way), trial.budget

    groups = groupby(sorted(trials, key=key), key)
    return tuple(_row([*group]) for _, group in groups)


def _row(trials: Sequence[Trial]) -> Row:
    times = sorted(trial.ms for trial in trials)
    return Row(
        way=trials[0].way,
        budget=trials[0].budget,
        recalls=tuple(_recalls(trials)),
        tokens=sum(trial.tokens for trial in trials) / len(trials),
        p50_ms=at_share(times, 0.5),
        p95_ms=at_share(times, 0.95),
    )


def _recalls(trials: Sequence[Trial]) -> Iterator[Recall]:
    yield _recall("all", trials)
    for number, name in CATEGORIES.items():
        mine = [trial for trial in trials if trial.category == number]
        if mine:
            yield _recall(name, mine)


def _recall(category: str, trials: Sequence[Trial]) -> Recall:
    shares = [trial.share for trial in trials]
    low, high = interval(shares)
    return Recall(
        category=category,
        questions=len(shares),
        mean=sum(shares) / len(shares),
        low=low,
        high=high,
        corrected=sum(trial.corrected for trial in trials) / len(trials),
    )


def interval(values: Sequence[float], seed: int = SEED) -> tuple[float, float]:
    """The middle 95 % of means of resamples, with replacement, of the same size."""
    chance = random.Random(seed)
    means = sorted(
        sum(chance.choices(values, k=len(values))) / len(values) for _ in range(RESAMPLES)
    )
    return at_share(means, 0.025), at_share(means, 0.975)


def at_share(values: Sequence[float], share: float) -> float:
    """The value of sorted ones that so large a share of them does not exceed."""
    return values[min(len(values) - 1, int(share * len(values)))]


def _quiet(_done: int, _total: int, _label: str) -> None:
    """For callers that do not watch."""
