"""One scorer for what was said and what is remembered: 0 to 10,000, the same on every turn.

Ranks are relative to what else was found and say nothing about relevance, and a floor needs
something that does. So each kind of evidence has a weight in log-odds, they are summed, and the
sum is read as a probability:

    score = 10,000 / (1 + e^-((sum - middle) / spread))

Evidence that the row gives by itself:

- *words*: the share of the question's words that stand in it, a rare word weighing more; a word
  that only a reply holds counts less, since facts about a person come from the person;
- *meaning*: MiniLM's cosine, read from `unrelated` (0) to `restated` (1);
- *recency*: 1 for now, a half after `half_life` days;
- *length*: a long message holds more than "Thanks!" does, up to `LONG` characters;
- *question*: it ends with a question mark, and so asks for what is sought rather than telling it.

Evidence from what stands around it, by the *strength* (mean of words and meaning) of those rows:

- *beside* and *further*: the messages one and two away in the same session, both sides added;
- *answer*: the message before it, where that is a question;
- *session*: the strongest message of its session.

Evidence from what the question asks for (`layers.hints`):

- *speaker*: the question names one speaker, and it is (or is not) theirs;
- *when*: it asks for a time, and the row names one;
- *date*: it names a month or a day, and the row was said then.

The latter two are about one turn against another and would make every turn look good where a
question has many hints, so of a question's turns they decide the order, and the best one gets the
score that the strongest has by itself. What is remembered and what was said stay comparable.

The numbers are in policies/retrieval.toml with the measurement that set them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from functools import lru_cache

from lila_app import declared
from lila_app.context import Source
from lila_app.context.items import TOP_SCORE
from lila_app.paths import read_text
from lila_app.paths import shipped as shipped_folder

TABLE = "retrieval"
LONG = 250
"""Characters beyond which a message counts as long; the median of a chat between people is 110."""
_LARGEST = 10_000


@dataclass(frozen=True, slots=True)
class Scale:
    """How cosines are read and sums become scores; in basis points, hundredths and days."""

    candidates: int
    unrelated: int
    restated: int
    words: int
    meaning: int
    recency: int
    half_life: int
    middle: int
    spread: int


@dataclass(frozen=True, slots=True)
class TurnScale(Scale):
    """The same for turns, with what stands around them. Weights in hundredths of log-odds."""

    around: int
    reply: int
    session: int
    beside: int
    further: int
    answer: int
    speaker: int
    when: int
    date: int
    question: int
    length: int


@dataclass(frozen=True, slots=True)
class Scales:
    """What is declared for memories and for turns."""

    memories: Scale
    turns: TurnScale


@dataclass(frozen=True, slots=True)
class Around:
    """What stands around a turn and what was asked for; each 0 to 1.

    `beside` and `further` add up two sides, so they go to 2; `speaker` is 1 for whom the question
    names, -1 for another, 0 where it names nobody or several.
    """

    session: float = 0.0
    beside: float = 0.0
    further: float = 0.0
    answer: float = 0.0
    speaker: int = 0
    when: bool = False
    date: bool = False
    question: bool = False
    length: float = 0.0


def meaning(cosine_bp: int | None, scale: Scale) -> float:
    """A cosine in basis points (None: not known) as 0 to 1."""
    if cosine_bp is None:
        return 0.0
    return min(1.0, max(0.0, (cosine_bp - scale.unrelated) / (scale.restated - scale.unrelated)))


def strength(words: float, near: float) -> float:
    """How much a row says by itself, 0 to 1."""
    return (words + near) / 2


def recency(at: str, now: str, half_life: int) -> float:
    """1 for now, a half after so many days, a quarter after twice as many; the future is now."""
    age = datetime.fromisoformat(now) - datetime.fromisoformat(at)
    days = max(0.0, age.total_seconds() / 86_400)
    return float(2 ** (-days / half_life))


def scored(scale: Scale, words: float, near: float, fresh: float) -> int:
    """The score of something that stands by itself; 0 where it has nothing of what was asked."""
    return 0 if not words and not near else _score(scale, own(scale, words, near, fresh))


def own(scale: Scale, words: float, near: float, fresh: float) -> float:
    """What a row says by itself, in hundredths of log-odds."""
    return scale.words * words + scale.meaning * near + scale.recency * fresh


def lent(scale: TurnScale, around: Around) -> float:
    """What stands around a turn adds to it, in hundredths of log-odds."""
    total = scale.session * around.session
    total += scale.beside * around.beside + scale.further * around.further
    total += scale.answer * around.answer + scale.speaker * around.speaker / 2
    total += scale.when * around.when + scale.date * around.date
    return total + scale.question * around.question + scale.length * around.length


def scored_turns(scale: TurnScale, sums: Mapping[int, tuple[float, float]]) -> dict[int, int]:
    """The scores of one question's turns by row, from what each says itself and what it is lent.

    What is lent decides the order, and how far one is behind the other. It does not raise the best:
    that one has the score the strongest of them has by itself.
    """
    strongest = max((itself for itself, _ in sums.values()), default=0.0)
    best = max((itself + more for itself, more in sums.values()), default=0.0)
    return {
        row: _score(scale, itself + more - best + strongest) for row, (itself, more) in sums.items()
    }


def _score(scale: Scale, total: float) -> int:
    return round(TOP_SCORE / (1 + math.exp(-(total - scale.middle) / scale.spread)))


_WEIGHT = (-_LARGEST, _LARGEST)
_ALLOWED = {
    "candidates": (1, 1_000),
    "unrelated": (-TOP_SCORE, TOP_SCORE - 1),
    "restated": (1 - TOP_SCORE, TOP_SCORE),
    "half_life": (1, 36_500),
    "spread": (1, _LARGEST),
    "around": (0, 1_000),
    "reply": (0, TOP_SCORE),
}


def parse(sources: Sequence[Source]) -> Scales:
    """The sections of the shipped table, the person's own laid over them. Raises PolicyError."""
    return _parsed(tuple(sources))


@lru_cache(maxsize=4)
def _parsed(sources: Sequence[Source]) -> Scales:
    return Scales(
        Scale(**_section(sources, "memories", [field.name for field in fields(Scale)])),
        TurnScale(**_section(sources, "turns", [field.name for field in fields(TurnScale)])),
    )


def _section(sources: Sequence[Source], section: str, names: Sequence[str]) -> dict[str, int]:
    held: dict[str, int] = {}
    for source in sources:
        table = declared.inner(source, section, declared.loaded(source).get(section, {}))
        declared.only(source, section, table, names)
        for name, value in table.items():
            allowed = _ALLOWED.get(name, _WEIGHT)
            held[name] = declared.number(source, f"{section}.{name}", value, allowed)
    last = sources[-1]
    for name in names:
        if name not in held:
            raise declared.refused(last, f"{section}.{name}", None, "a number")
    if held["restated"] <= held["unrelated"]:
        allowed = f"more than unrelated ({held['unrelated']:,})"
        raise declared.refused(last, f"{section}.restated", held["restated"], allowed)
    return held


@lru_cache(maxsize=1)
def shipped() -> Scales:
    """The numbers as they are shipped."""
    path = shipped_folder("policies") / f"{TABLE}.toml"
    return parse((Source(str(path), read_text(path)),))
