"""How well facts are extracted: precision and recall on sentences somebody labelled.

A line of the file is one utterance: `{"id", "split", "at", "speaker", "text", "facts"}`, a fact
`{"subject", "predicate", "value", "negated"}`, where several values mean that either is right.
Subject, predicate, value and negation must all be right (capitals and blanks aside); `cue`,
`valid_from` and `valid_to` count beside, over the facts that were found. Lines with `small_talk`
give the junk rate: how many of them yielded anything.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import cast

from lila_app.errors import UsageError
from lila_app.memory import predicates as vocabulary
from lila_app.memory.extraction import Extractor
from lila_app.memory.model import ME, Candidate, Utterance
from lila_app.memory.predicates import Predicates
from lila_app.paths import Home
from lila_app.policies import sources

_BESIDE = ("cue", "valid_from", "valid_to")
_HINT = "each line is a JSON object with text, at (ISO 8601 with zone), facts and split"

Row = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Labelled:
    """One labelled utterance."""

    id: str
    split: str
    small_talk: bool
    utterance: Utterance
    facts: tuple[Row, ...]
    known: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Score:
    """Counts of one kind ("facts" or "relations") in one split; ratios are from 0 to 1."""

    split: str
    kind: str
    gold: int
    found: int
    right: int

    @property
    def precision(self) -> float:
        """Of what was found, how much is right."""
        return self.right / self.found if self.found else 1.0

    @property
    def recall(self) -> float:
        """Of what is there, how much was found."""
        return self.right / self.gold if self.gold else 1.0

    @property
    def f1(self) -> float:
        """The harmonic mean of both."""
        both = self.precision + self.recall
        return 2 * self.precision * self.recall / both if both else 0.0


@dataclass(frozen=True, slots=True)
class Wrong:
    """An utterance with something false or missed, each as "subject | predicate | value"."""

    id: str
    text: str
    false: tuple[str, ...]
    missed: tuple[str, ...]
    beside: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ExtractionMeasured:
    """The scores, the junk rate by split (junk lines, lines of small talk), and what was wrong.

    `beside` is by split: how many labels of cue and days were right, of how many.
    """

    scores: tuple[Score, ...]
    junk: Mapping[str, tuple[int, int]]
    beside: Mapping[str, tuple[int, int]]
    wrong: tuple[Wrong, ...]


@dataclass(slots=True)
class _Tally:
    gold: int = 0
    found: int = 0
    right: int = 0


def measure(path: Path, home: Home, split: str = "") -> ExtractionMeasured:
    """Measure a labelled file, or one split of it. Raises `UsageError` for a file that is none."""
    table = vocabulary.load(sources(home, "predicates"))
    extractor = Extractor(table)
    tallies: dict[tuple[str, str], _Tally] = {}
    junk: dict[str, tuple[int, int]] = {}
    beside: dict[str, tuple[int, int]] = {}
    wrong: list[Wrong] = []
    for row in labelled(path):
        if split and row.split != split:
            continue
        found = extractor.extract(row.utterance, row.known).candidates
        if row.small_talk:
            bad, lines = junk.get(row.split, (0, 0))
            junk[row.split] = (bad + bool(found), lines + 1)
        one, right, labels = _compared(row, found, table, tallies)
        had = beside.get(row.split, (0, 0))
        beside[row.split] = (had[0] + right, had[1] + labels)
        if one.false or one.missed or one.beside:
            wrong.append(one)
    scores = tuple(
        Score(name, kind, tally.gold, tally.found, tally.right)
        for (name, kind), tally in sorted(tallies.items())
    )
    if not scores:
        raise UsageError(f"{path} has no line of the split {split!r}", hint=_HINT)
    return ExtractionMeasured(scores, junk, beside, tuple(wrong))


def _compared(
    row: Labelled,
    found: Sequence[Candidate],
    table: Predicates,
    tallies: dict[tuple[str, str], _Tally],
) -> tuple[Wrong, int, int]:
    """What is wrong with one utterance, and how many labels beside its facts are right."""
    missed = list(row.facts)
    false: list[str] = []
    beside: list[str] = []
    right = labels = 0
    for candidate in found:
        gold = next((one for one in missed if _same(candidate, one)), None)
        for kind in _kinds(candidate.predicate, table):
            tally = tallies.setdefault((row.split, kind), _Tally())
            tally.found += 1
            tally.right += gold is not None
        if gold is None:
            false.append(_line(candidate.subject, candidate.predicate, candidate.value))
            continue
        missed.remove(gold)
        wanted = {key: str(gold[key]) for key in _BESIDE if key in gold}
        given = {key: str(getattr(candidate, key)) for key in wanted}
        labels += len(wanted)
        right += sum(given[key] == wanted[key] for key in wanted)
        beside += [f"{k}: {given[k]} for {wanted[k]}" for k in wanted if given[k] != wanted[k]]
    for gold in row.facts:
        for kind in _kinds(str(gold["predicate"]), table):
            tallies.setdefault((row.split, kind), _Tally()).gold += 1
    left = tuple(_line(*(str(one[k]) for k in ("subject", "predicate", "value"))) for one in missed)
    return Wrong(row.id, row.utterance.text, tuple(false), left, tuple(beside)), right, labels


def _kinds(name: str, table: Predicates) -> tuple[str, ...]:
    predicate = table.get(name)
    return ("facts", "relations") if predicate and predicate.entity else ("facts",)


def _same(found: Candidate, gold: Row) -> bool:
    value = gold["value"]
    values = cast(list[object], value) if isinstance(value, list) else [value]
    return (
        _folded(found.subject) == _folded(gold["subject"])
        and found.predicate == gold["predicate"]
        and _folded(found.value) in [_folded(one) for one in values]
        and found.negated == bool(gold.get("negated", False))
    )


def _folded(value: object) -> str:
    return " ".join(str(value).lower().replace("’", "'").split())


def _line(subject: str, predicate: str, value: str) -> str:
    return f"{subject} | {predicate} | {value}"


def labelled(path: Path) -> Iterator[Labelled]:
    """The labelled utterances of a file, one a line. Raises `UsageError` naming the line."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} cannot be read: {error}", hint=_HINT) from error
    for number, line in enumerate(lines, start=1):
        if line.strip():
            yield _labelled(path, number, line)


def _labelled(path: Path, number: int, line: str) -> Labelled:
    try:
        row = cast(Row, json.loads(line))
        at = datetime.fromisoformat(str(row["at"]))
        facts = tuple(_facts(row.get("facts", [])))
        utterance = Utterance(str(row["text"]), str(row.get("speaker", ME)), at)
        known = cast(Mapping[str, str], row.get("known", {}))
        return Labelled(
            str(row.get("id", number)),
            str(row.get("split", "")),
            bool(row.get("small_talk", False)),
            utterance,
            facts,
            known,
        )
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise UsageError(f"{path}, line {number}: {error!r}", hint=_HINT) from error


def _facts(found: object) -> Iterable[Row]:
    for one in cast(list[Row], found):
        if not {"subject", "predicate", "value"} <= set(one):
            raise ValueError("a fact needs subject, predicate and value")
        yield one
