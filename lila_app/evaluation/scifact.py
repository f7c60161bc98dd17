"""How well passages of documents are found: a labelled collection, ranked as the rag layer ranks.

Reads a folder in the form of the BEIR collections: `corpus.jsonl` (id, title, text a line),
`queries.jsonl` (id, text) and `qrels.tsv` (query, document, relevance), each also gzipped. The
corpus goes into a store that is thrown away, cut and embedded as any document is; documents are
ranked by their best passage. Beside LILA's ranking stand the two searches it is made of and their
reciprocal ranks, over the same passages.

nDCG@10 is that of TREC: gain as labelled, discounted by the logarithm of the rank. Queries of even
number are those LILA's numbers may have been chosen on, the odd ones those they were not.
"""

from __future__ import annotations

import gzip
import json
import math
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, cast

from lila_app.documents.chunk import chunk
from lila_app.documents.model import Part
from lila_app.documents.pending import embed_pending
from lila_app.embedding.minilm import MiniLM
from lila_app.embedding.port import Embedder
from lila_app.embedding.tokens import Counter, load_counter, remember
from lila_app.errors import UsageError
from lila_app.layers import passages
from lila_app.layers.passages import Scoring
from lila_app.paths import Home, shipped
from lila_app.policies import sources
from lila_app.storage import documents, search, vectors
from lila_app.storage.connection import Store
from lila_app.storage.documents import NewChunk
from lila_app.views import Progress

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

AT = 10
FAR = 100
DEEP = 200
"""Passages taken from each ranking: enough for a hundred documents, three passages a document."""
RANK_CONSTANT = 60
"""Of reciprocal ranks, as published (Cormack et al. 2009)."""
READ_AT = "2026-01-01T00:00:00+00:00"
"""When the throw-away store says its documents were read; nothing depends on it."""


@dataclass(frozen=True, slots=True)
class Collection:
    """A labelled collection: documents (title, text) by id, queries by id, relevance by query."""

    corpus: Mapping[str, tuple[str, str]]
    queries: Mapping[str, str]
    relevant: Mapping[str, Mapping[str, int]]


@dataclass(frozen=True, slots=True)
class Measured:
    """How well one way of ranking finds the documents; shares of 1, means over queries.

    `even` and `odd` are nDCG@10 on queries whose number is even and odd.
    """

    ranking: str
    ndcg: float
    even: float
    odd: float
    recall: float
    far_recall: float


@dataclass(frozen=True, slots=True)
class Outcome:
    """All rankings of a collection, with its size and how long LILA's took at p50 and p95."""

    documents: int
    passages: int
    queries: int
    p50_ms: float
    p95_ms: float
    rankings: tuple[Measured, ...]


def load(folder: Path) -> Collection:
    """Read a collection. Raises UsageError naming the file, and the line where there is one."""
    corpus = {
        _id(file, number, row): (str(row.get("title", "")), str(row.get("text", "")))
        for file, number, row in _rows(folder, "corpus.jsonl")
    }
    queries = {
        _id(file, number, row): str(row.get("text", ""))
        for file, number, row in _rows(folder, "queries.jsonl")
    }
    relevant: dict[str, dict[str, int]] = defaultdict(dict)
    file = _file(folder, "qrels.tsv")
    for number, line in enumerate(_lines(file), 1):
        cells = line.split("\t")
        if number == 1 and cells[0] == "query-id":
            continue
        if len(cells) != 3 or not cells[2].strip().isdigit() or cells[0] not in queries:
            raise _broken(file, number, "a query of queries.jsonl, a document and a number")
        if grade := int(cells[2]):
            relevant[cells[0]][cells[1]] = grade
    if not relevant:
        raise UsageError(f"no query of {folder} has a relevant document", hint="see qrels.tsv")
    return Collection(corpus, queries, relevant)


def evaluate(
    collection: Collection,
    home: Home,
    *,
    embedder: Embedder | None = None,
    progress: Progress | None = None,
) -> Outcome:
    """Take the collection in, rank every labelled query in each way, and measure. Blocking.

    Passages are ranked as declared in `home`; nothing else of it is looked at.
    Embedding takes nearly all the time: 75 ms a passage on one core, some ten minutes for SciFact.
    """
    model = embedder or MiniLM(shipped("assets") / "vocabulary" / "minilm-tokenizer.json")
    with (
        tempfile.TemporaryDirectory(prefix="lila-eval-") as folder,
        Store.open(Path(folder) / "store" / "collection.db") as store,
    ):
        names = _take_in(store, collection.corpus, remember(load_counter()))
        embed_pending(store, model, tables=("chunks",), progress=progress)
        bench = _Bench(store, model, passages.parse(sources(home, passages.TABLE)))
        return _measure(bench, collection, names, progress)


def _take_in(store: Store, corpus: Mapping[str, tuple[str, str]], count: Counter) -> dict[str, str]:
    """Store the documents, cut as a document under a title is; returns their names by id."""
    names: dict[str, str] = {}
    with store.write() as connection:
        for name, (title, text) in corpus.items():
            cut = chunk((Part(text or title, heading=(title,) if title else ()),), count)
            row = documents.upsert_document(
                connection,
                path=name,
                title=title,
                kind="text",
                sha256="",
                size=len(text),
                mtime=0,
                at=READ_AT,
                chunks=[NewChunk(one.heading, one.text, one.tokens) for one in cut],
                external_id=name,
            )
            names[row.id] = name
    return names


@dataclass(frozen=True, slots=True)
class _Query:
    text: str
    embedded: NDArray[np.float32]

    @property
    def vector(self) -> Callable[[], NDArray[np.float32]]:
        return lambda: self.embedded


@dataclass(frozen=True, slots=True)
class _Bench:
    """The rankings, each from a query to ids of passages, best first."""

    store: Store
    embedder: Embedder
    scoring: Scoring

    def rankings(self, text: str) -> tuple[dict[str, list[str]], float]:
        """Every ranking by name, and how many seconds LILA's took, the embedding included."""
        start = time.perf_counter()
        query = _Query(text, self.embedder.embed([text])[0])
        ranked = self._ours(query, self.scoring.offered)
        seconds = time.perf_counter() - start
        by_words = [hit.id for hit in search.search_text(self.store, "chunks", text, k=DEEP)]
        by_meaning = [
            hit.id
            for hit in vectors.search(
                self.store, "chunks", query.embedded, k=DEEP, model_id=self.embedder.model_id
            )
        ]
        found = {
            "LILA": self._ours(query, DEEP),
            f"LILA, the {self.scoring.offered} it offers": ranked,
            "reciprocal ranks": _fused(by_words, by_meaning),
            "full text": by_words,
            "vectors": by_meaning,
        }
        return found, seconds

    def _ours(self, query: _Query, k: int) -> list[str]:
        model_id = self.embedder.model_id
        found = passages.rank(self.store, model_id, query, self.scoring, k)
        return [one.chunk.id for one in found if one.repeats is None]


def _measure(
    bench: _Bench, collection: Collection, names: Mapping[str, str], progress: Progress | None
) -> Outcome:
    points: dict[str, list[tuple[bool, float, float, float]]] = defaultdict(list)
    seconds: list[float] = []
    for done, (name, relevant) in enumerate(sorted(collection.relevant.items())):
        if progress is not None:
            progress(done, len(collection.relevant), "asking")
        found, took = bench.rankings(collection.queries[name])
        seconds.append(took)
        for ranking, ids in found.items():
            order = list(dict.fromkeys(names[id.partition(".")[0]] for id in ids))
            scores = (ndcg(order, relevant), recall(order, relevant, AT))
            points[ranking].append((_even(name), *scores, recall(order, relevant, FAR)))
    seconds.sort()
    return Outcome(
        documents=len(collection.corpus),
        passages=vectors.models(bench.store, "chunks").get(bench.embedder.model_id, 0),
        queries=len(collection.relevant),
        p50_ms=1000 * seconds[len(seconds) // 2],
        p95_ms=1000 * seconds[len(seconds) * 95 // 100],
        rankings=tuple(_measured(name, found) for name, found in points.items()),
    )


def _measured(name: str, points: Sequence[tuple[bool, float, float, float]]) -> Measured:
    def mean(values: Sequence[float]) -> float:
        return fmean(values) if values else math.nan

    return Measured(
        name,
        ndcg=mean([ndcg for _, ndcg, _, _ in points]),
        even=mean([ndcg for even, ndcg, _, _ in points if even]),
        odd=mean([ndcg for even, ndcg, _, _ in points if not even]),
        recall=mean([near for _, _, near, _ in points]),
        far_recall=mean([far for _, _, _, far in points]),
    )


def ndcg(order: Sequence[str], relevant: Mapping[str, int], k: int = AT) -> float:
    """Discounted gain of the first k of an order, as a share of the best there could be."""

    def gain(grades: Sequence[int]) -> float:
        return sum(grade / math.log2(rank + 2) for rank, grade in enumerate(grades))

    best = gain(sorted(relevant.values(), reverse=True)[:k])
    return gain([relevant.get(name, 0) for name in order[:k]]) / best


def recall(order: Sequence[str], relevant: Mapping[str, int], k: int) -> float:
    """The share of the relevant that is among the first k."""
    return len(relevant.keys() & set(order[:k])) / len(relevant)


def _fused(*rankings: Sequence[str]) -> list[str]:
    scores: dict[str, float] = defaultdict(float)
    for ranking in rankings:
        for rank, id in enumerate(ranking, 1):
            scores[id] += 1 / (RANK_CONSTANT + rank)
    return sorted(scores, key=lambda id: (-scores[id], id))


def _even(name: str) -> bool:
    digits = "".join(character for character in name if character.isdigit())
    return int(digits or "0") % 2 == 0


def _file(folder: Path, name: str) -> Path:
    for path in (folder / name, folder / f"{name}.gz"):
        if path.is_file():
            return path
    raise UsageError(
        f"there is no {name} in {folder}",
        hint="a collection is a folder with corpus.jsonl, queries.jsonl and qrels.tsv",
    )


def _lines(file: Path) -> Iterator[str]:
    with file.open("rb") as raw, ExitStack() as held:
        content = held.enter_context(gzip.open(raw)) if file.suffix == ".gz" else raw
        for line in content:
            yield line.decode("utf-8", "replace").rstrip("\r\n")


def _rows(folder: Path, name: str) -> Iterator[tuple[Path, int, dict[str, object]]]:
    file = _file(folder, name)
    for number, line in enumerate(_lines(file), 1):
        try:
            row: object = json.loads(line)
        except ValueError as error:
            raise _broken(file, number, "JSON") from error
        if not isinstance(row, dict):
            raise _broken(file, number, "a JSON object")
        yield file, number, cast("dict[str, object]", row)


def _id(file: Path, number: int, row: Mapping[str, object]) -> str:
    found = row.get("id", row.get("_id"))
    if not isinstance(found, str | int):
        raise _broken(file, number, 'an "id"')
    return str(found)


def _broken(file: Path, number: int, wanted: str) -> UsageError:
    return UsageError(f"{file}, line {number}: expected {wanted}", hint="see the collection's own")
