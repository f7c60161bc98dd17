"""How much of what is private is found: labelled sentences, character by character.

Reads a JSON list in the form of presidio-research: `full_text`, `template_id`, and `spans` with
`entity_type`, `start_position` and `end_position`. A character counts as found whatever it was
taken for, because what matters is whether it goes out. Sentences are split by the template they
were made from: the rules were written looking at every second template, in the order of their ids
(`tuned`), and not at the others (`untouched`).
"""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

from lila_app.context import Source
from lila_app.errors import UsageError
from lila_app.paths import shipped
from lila_app.privacy.detection import Detector
from lila_app.privacy.rules import parse
from lila_app.privacy.spans import KINDS, SURE, Kind, Span, resolved
from lila_app.views import Progress


@dataclass(frozen=True, slots=True)
class Labelled:
    """A sentence, the template it comes from, and (start, end, label) of what is private in it."""

    text: str
    template: str
    spans: tuple[tuple[int, int, str], ...]


@dataclass(frozen=True, slots=True)
class Share:
    """How many of `all` characters of a name were `right`; 1 where there are none."""

    name: str
    right: int
    all: int

    @property
    def share(self) -> float:
        """From 0 to 1."""
        return self.right / self.all if self.all else 1.0


@dataclass(frozen=True, slots=True)
class Half:
    """One half of the templates: overall, recall by the label and precision by our kind."""

    name: str
    templates: int
    sentences: int
    recall: Share
    precision: Share
    by_label: tuple[Share, ...]
    by_kind: tuple[Share, ...]


@dataclass(frozen=True, slots=True)
class PrivacyOutcome:
    """Both halves, and how long a sentence took at the middle and at the 95th percentile."""

    halves: tuple[Half, ...]
    p50_ms: float
    p95_ms: float


def load(path: Path) -> tuple[Labelled, ...]:
    """The sentences of a file, or of all JSON files of a folder.

    Raises UsageError naming the entry that is not in this form.
    """
    if path.is_dir():
        return tuple(one for file in sorted(path.glob("*.json")) for one in load(file))
    try:
        found: object = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise UsageError(
            f"{path} cannot be read as JSON ({type(error).__name__})",
            hint="it is a list of sentences in the form of presidio-research",
        ) from error
    if not isinstance(found, list):
        raise UsageError(f"{path} is no list", hint="it is a list of labelled sentences")
    return tuple(
        _labelled(path, number, one) for number, one in enumerate(cast("list[object]", found))
    )


def _labelled(path: Path, number: int, entry: object) -> Labelled:
    try:
        one = cast("dict[str, object]", entry)
        spans = cast("list[dict[str, object]]", one["spans"])
        return Labelled(
            str(one["full_text"]),
            str(one["template_id"]),
            tuple(
                (
                    int(cast(int, span["start_position"])),
                    int(cast(int, span["end_position"])),
                    str(span["entity_type"]),
                )
                for span in spans
            ),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise UsageError(
            f"{path}: entry {number} is not a labelled sentence ({type(error).__name__})",
            hint="each has full_text, template_id and spans with entity_type, start_position "
            "and end_position",
        ) from error


@dataclass(slots=True)
class _Tally:
    counts: dict[str, list[int]] = field(default_factory=dict[str, list[int]])

    def add(self, name: str, right: bool) -> None:
        found = self.counts.setdefault(name, [0, 0])
        found[0] += right
        found[1] += 1

    def shares(self) -> tuple[Share, ...]:
        return tuple(Share(name, *found) for name, found in sorted(self.counts.items()))

    def whole(self, name: str) -> Share:
        values = self.counts.values()
        return Share(name, sum(one for one, _ in values), sum(all for _, all in values))


def evaluate(
    sentences: Sequence[Labelled], *, sure: bool = False, progress: Progress | None = None
) -> PrivacyOutcome:
    """Find everything in every sentence, under the shipped rules with all kinds chosen.

    With `sure` only what patterns find surely: that is what goes by default, and what it leaves is
    then counted as missed.
    """
    path = shipped("policies") / "privacy.toml"
    detector = Detector(parse([Source(str(path), path.read_text(encoding="utf-8"))]))
    kinds: frozenset[Kind] = frozenset(SURE if sure else KINDS)
    templates = sorted({one.template for one in sentences}, key=_order)
    tuned = set(templates[0::2])
    tallies = {name: (_Tally(), _Tally()) for name in ("tuned", "untouched")}
    seconds: list[float] = []
    for done, one in enumerate(sentences):
        if progress is not None:
            progress(done, len(sentences), "sentences")
        start = time.perf_counter()
        spans = resolved(detector.find(one.text, kinds))
        seconds.append(time.perf_counter() - start)
        _count(one, spans, *tallies["tuned" if one.template in tuned else "untouched"])
    halves: list[Half] = []
    for name, chosen in (("tuned", tuned), ("untouched", set(templates) - tuned)):
        recall, precision = tallies[name]
        halves.append(
            Half(
                name,
                len(chosen),
                sum(one.template in chosen for one in sentences),
                recall.whole("recall"),
                precision.whole("precision"),
                recall.shares(),
                precision.shares(),
            )
        )
    ordered = sorted(seconds) or [0.0]
    return PrivacyOutcome(
        tuple(halves),
        1e3 * ordered[len(ordered) // 2],
        1e3 * ordered[min(len(ordered) - 1, len(ordered) * 95 // 100)],
    )


def _order(template: str) -> tuple[int, str]:
    return (int(template), "") if template.isdecimal() else (-1, template)


def _count(one: Labelled, spans: Sequence[Span], recall: _Tally, precision: _Tally) -> None:
    gold: list[str] = [""] * len(one.text)
    for start, end, label in one.spans:
        gold[start:end] = [label] * (min(end, len(gold)) - start)
    found: list[str] = [""] * len(one.text)
    for span in spans:
        found[span.start : span.end] = [span.kind] * (span.end - span.start)
    for label, kind in zip(gold, found, strict=True):
        if label:
            recall.add(label, bool(kind))
        if kind:
            precision.add(kind, bool(label))
