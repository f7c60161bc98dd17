"""The running summary of what the conversation's grid cut: by a capable model, else extractive.

It is incremental: what is summed up is the summary so far and the turns cut now, never the whole
conversation again. A model's summary is taken only if it is shorter than half of what it stands
for and keeps nine in ten of its names, numbers and open promises, by the measure of
`context.anchors`; otherwise the extractive fold stands, and the reason is logged. Pure but for the
port.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from lila_app.context.anchors import anchors, kept
from lila_app.context.fold import Exchange
from lila_app.context.items import Counter
from lila_app.memory.completer import Completer

_log = logging.getLogger(__name__)

EXTRACTIVE = "extractive"
"""Who made a summary of sentences that were said."""

BEFORE = "before"
"""The id under which a model is shown the summary so far."""

LEAST_KEPT = 90
"""Per cent of names, numbers and open promises a model's summary must keep."""


@dataclass(frozen=True, slots=True)
class Cutting:
    """What a summary stands for: the summary so far and the turns that are cut, by their ids.

    `fold` is the extractive summary of the same, `room` what a summary may take in tokens.
    """

    before: str
    turns: Sequence[tuple[str, Exchange]]
    fold: str
    room: int

    @property
    def texts(self) -> dict[str, str]:
        """Everything by its id, as a model is shown it."""
        shown = {BEFORE: self.before} if self.before else {}
        return shown | {
            id: f"They: {one.user}\nLILA: {one.reply}".rstrip() for id, one in self.turns
        }

    @property
    def said(self) -> str:
        """What was said, without who said it, for measuring."""
        parts = [self.before, *(f"{one.user}\n{one.reply}" for _, one in self.turns)]
        return "\n".join(part for part in parts if part)


@dataclass(frozen=True, slots=True)
class Made:
    """A summary, who made it, and why a model's was not taken ("" where none was asked)."""

    text: str
    made_by: str = EXTRACTIVE
    why: str = ""


def make(
    cutting: Cutting, completer: Completer | None, count: Counter, known: Collection[str] = ()
) -> Made:
    """The summary to put in place of what is cut; `known` are names besides the capitalised ones.

    Blocking, where a model is asked.
    """
    name = completer.of("summary") if completer is not None else ""
    if completer is None or not name or not cutting.room:
        return Made(cutting.fold)
    answer = completer.answer("summary", cutting.texts)
    if answer is None:
        return Made(cutting.fold, why="the model gave no answer that can be used")
    text = _lines(answer)
    why = refusal(text, cutting, count, known)
    if why:
        _log.info("the summary of %s was not taken: %s", name, why)
        return Made(cutting.fold, why=why)
    return Made(text, made_by=name)


def refusal(text: str, cutting: Cutting, count: Counter, known: Collection[str] = ()) -> str:
    """Why a summary cannot stand for what is cut, in words without its content; "" if it can."""
    size, whole = count(text + "\n"), count(cutting.said)
    if not text:
        return "it says nothing"
    if size > cutting.room:
        return f"it takes {size} tokens, and there is room for {cutting.room}"
    if 2 * size >= whole:
        return f"it takes {size} tokens, not less than half of {whole}"
    source = anchors(cutting.said, known)
    held, every = kept(source, text)
    if held * 100 < every * LEAST_KEPT:
        return f"it keeps {held} of {every} names, numbers and promises"
    return ""


def _lines(answer: Mapping[str, object]) -> str:
    sentences = cast("Sequence[Mapping[str, object]]", answer["sentences"])
    return "\n".join(f"- {' '.join(str(one['text']).split())}" for one in sentences)
