"""Facts a capable model finds in what was said, held to what was said and to the rules' own.

The model sees the person's words of a few turns and nothing else. What it answers was checked at
its boundary (the quote stands in the turn, so does the value, the subject was named); here it
becomes candidates like those of the rules, and it never outranks them: it adds to what they found.
It carries no cue, so that nothing is retired but by the rules of supersession; what the rules took
for a joke or a guess stays one; and what LILA itself had put before the model is no evidence.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import cast

from lila_app.memory.completer import Completer
from lila_app.memory.model import ME, Candidate, Extracted, Utterance
from lila_app.memory.predicates import Predicates

MOST_TURNS = 12
"""Of one question: enough that its instructions are a tenth of it, few enough to be answered within
the 1,000 tokens a reply may have (a fact takes 60)."""

LEAST_TURNS = 6
"""Turns that wait before a model is asked about them: the instructions with their predicates are
some 500 tokens, which asked about one turn at a time would be most of the bill."""

MOST_CHARACTERS = 6_000
"""Of the turns of one question, 1,500 tokens; a turn that is longer is left to the rules."""

CONFIDENCE = 7_500
"""Basis points of what the model alone found, below the rules' own; chosen, not measured."""

_NEGATION = re.compile(
    r"\b(?:no|not|never|nothing|none|nobody|neither|nor|without|stopped|quit|cannot)\b|n['’]t\b",
    re.IGNORECASE,
)
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Told:
    """A turn that is to be looked through: its id and what was said in it."""

    turn: str
    utterance: Utterance


def candidates(
    completer: Completer, told: Sequence[Told], predicates: Predicates
) -> Mapping[str, tuple[Candidate, ...]]:
    """What a model finds, by turn; a turn that is missing was not looked at. Blocking.

    Turns are asked about together, a few at a time, and each once.
    """
    found: dict[str, tuple[Candidate, ...]] = {}
    for batch in batches(told):
        texts = {one.turn: one.utterance.text for one in batch}
        answer = completer.answer("extraction", texts)
        if answer is None:
            break  # what stopped one question stops the next
        entries = cast("Sequence[Mapping[str, object]]", answer["memories"])
        for one in batch:
            own = [entry for entry in entries if entry["turn"] == one.turn]
            read = (_candidate(entry, one.utterance, predicates) for entry in own)
            found[one.turn] = tuple(dict.fromkeys(made for made in read if made is not None))
    return found


def added(rules: Extracted, model: Sequence[Candidate]) -> tuple[Candidate, ...]:
    """What a model adds to what the rules found.

    Where both have a word on one thing the rules' stands, and what they doubted stays doubted.
    """
    found: list[Candidate] = []
    for one in model:
        doubted = any(_overlap(one, doubt.start, doubt.end) for doubt in rules.refused)
        if not doubted and not any(_taken(other, one) for other in (*rules.candidates, *found)):
            found.append(one)
    return tuple(found)


def batches(told: Sequence[Told]) -> Iterator[tuple[Told, ...]]:
    """Turns that are asked about together, in their order."""
    batch: list[Told] = []
    length = 0
    for one in told:
        size = len(one.utterance.text)
        if not one.utterance.text.strip() or size > MOST_CHARACTERS:
            continue
        if batch and (len(batch) == MOST_TURNS or length + size > MOST_CHARACTERS):
            yield tuple(batch)
            batch, length = [], 0
        batch.append(one)
        length += size
    if batch:
        yield tuple(batch)


def _candidate(
    entry: Mapping[str, object], utterance: Utterance, predicates: Predicates
) -> Candidate | None:
    """A checked entry as a candidate; None for what cannot be kept or is no evidence."""
    predicate = predicates.get(str(entry["predicate"]).strip())
    place = _place(str(entry["quote"]), utterance.text)
    if predicate is None or place is None:
        return None
    quote = utterance.text[place[0] : place[1]]
    negated = bool(entry["negated"])
    if _recalled(quote, utterance.recalled) or negated != bool(_NEGATION.search(quote)):
        return None
    subject, value = (" ".join(str(entry[key]).split()) for key in ("subject", "value"))
    subject = _speaker(subject, utterance)
    text = predicate.said(subject, value, negated=negated)
    if not text or not value:
        return None
    return Candidate(
        subject=subject,
        predicate=predicate.name,
        value=value,
        text=text,
        kind=predicate.kind,
        is_entity=predicate.entity,
        many=predicate.many,
        start=place[0],
        end=place[1],
        negated=negated,
        valid_from=_day(entry["holds_from"]),
        valid_to=_day(entry["holds_until"]),
        confidence=CONFIDENCE,
    )


def _speaker(subject: str, utterance: Utterance) -> str:
    """Who "me" is: whoever spoke."""
    return utterance.speaker if subject.lower() in (ME, "i", "the person") else subject


def _place(quote: str, text: str) -> tuple[int, int] | None:
    """Where a quote stands in a text, whatever the spacing."""
    parts = [re.escape(part) for part in quote.split()]
    found = re.search(r"\s+".join(parts), text) if parts else None
    return (found.start(), found.end()) if found else None


def _recalled(quote: str, recalled: Sequence[str]) -> bool:
    """Whether a quote only repeats what LILA had put in front of the model for this turn."""
    said = _folded(quote)
    return any(f" {said} " in f" {_folded(text)} " for text in recalled)


def _taken(one: Candidate, other: Candidate) -> bool:
    """Whether one utterance has its word on a thing already: the same, or in a slot for one."""
    if _slot(one) != _slot(other):
        return False
    return not one.many or _folded(one.value) == _folded(other.value)


def _slot(one: Candidate) -> tuple[str, str]:
    return _folded(one.subject), one.predicate


def _overlap(one: Candidate, start: int, end: int) -> bool:
    return one.start < end and start < one.end


def _day(found: object) -> date | None:
    return date.fromisoformat(str(found)) if found is not None else None


def _folded(text: str) -> str:
    return " ".join(_WORD.findall(unicodedata.normalize("NFKC", text).casefold()))
