"""Spoken follow-ups: what a reply can know that sees the conversation, and what that costs.

A spoken turn sees nothing of what was said before (`voice` in policies/allocation.toml), so that it
is answered sooner; `voice_continuity` sees it. A case is a short conversation, something said after
it, and the words of the conversation that takes to answer. Without a model it is looked at whether
the prompt holds them; with one, whether the reply is right. Cases that stand alone show whether
seeing the conversation does harm.

A file has one JSON object a line: `{"id", "kind", "said", "ask", "needs", "right"}`, `said` a list
of [words, reply], `needs` texts from it (none for a case that stands alone), `right` the texts of
which a right reply holds one. `wrong` may name texts it must not hold.
"""

from __future__ import annotations

import asyncio
import json
import re
import shutil
import tempfile
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, cast

from lila_app.assistant import Lila, open_lila
from lila_app.errors import UsageError
from lila_app.paths import Home, shipped

if TYPE_CHECKING:
    from lila_app.context import Context
    from lila_app.views import Progress

POLICIES = ("voice", "voice_continuity")
"""The use cases that are compared: without what was said before, and with it."""

_HINT = "one JSON object a line with id, kind, said, ask, needs, right"


@dataclass(frozen=True, slots=True)
class Case:
    """A conversation, what is said after it, what of it that needs, what a right reply holds."""

    id: str
    kind: str
    said: tuple[tuple[str, str], ...]
    ask: str
    needs: tuple[str, ...]
    right: tuple[str, ...]
    wrong: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Outcome:
    """One case under one policy.

    `held` says whether the prompt holds all the case needs, `tokens` are the prompt's. The rest is
    None where no model was asked: whether the reply was right, the reply, milliseconds to its first
    piece, prompt tokens the model had to read after the words were there.
    """

    id: str
    kind: str
    policy: str
    alone: bool
    held: bool
    tokens: int
    right: bool | None = None
    reply: str | None = None
    first_ms: int | None = None
    evaluated: int | None = None


@dataclass(frozen=True, slots=True)
class Row:
    """One policy over all cases: counts, and medians of what a turn takes."""

    policy: str
    follow_ups: int
    held: int
    right: int | None
    alone: int
    alone_right: int | None
    tokens: float
    first_ms: float | None
    evaluated: float | None


@dataclass(frozen=True, slots=True)
class Report:
    """Both policies; `won` and `lost` are the cases only one of them answers right, by id."""

    model: str
    rows: tuple[Row, ...]
    won: tuple[str, ...]
    lost: tuple[str, ...]
    outcomes: tuple[Outcome, ...]


def shipped_cases() -> Path:
    """The cases LILA comes with."""
    return shipped("data") / "spoken" / "follow-ups.jsonl"


def read(path: Path) -> tuple[Case, ...]:
    """The cases of a file. Raises `UsageError` that names the line."""
    lines = enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
    found = tuple(_case(path, number, line) for number, line in lines if line.strip())
    if not found:
        raise UsageError(f"{path} holds no cases", hint=_HINT)
    return found


def measure(
    cases: Sequence[Case],
    lila: Lila,
    *,
    model: str | None,
    progress: Progress,
    open_home: Callable[[Path], Lila] = open_lila,
) -> Report:
    """Both policies over all cases, under the tables and settings of an open LILA.

    The conversations live in a home of their own that is gone afterwards. `model` is asked on the
    account of that LILA; where it is None, no model is. `open_home` opens a home that knows the
    same models. Blocking. Raises LilaError.
    """
    outcomes: list[Outcome] = []
    with _beside(lila.home, open_home) as other:
        for place, case in enumerate(cases):
            progress(place, len(cases), "asking")
            session = _spoken(other, case)
            for policy in POLICIES:
                context = other.preview(case.ask, use_case=policy, session=session, model=model)
                seen = _seen(case, policy, context)
                if model is not None:
                    seen = asyncio.run(_asked(seen, case, context, lila, model))
                outcomes.append(seen)
    return report(model or "", outcomes)


def report(model: str, outcomes: Sequence[Outcome]) -> Report:
    """What outcomes come to."""
    right = {(one.id, one.policy) for one in outcomes if one.right}
    without, continuity = POLICIES
    ids = list(dict.fromkeys(one.id for one in outcomes))
    return Report(
        model,
        tuple(
            _row(policy, [one for one in outcomes if one.policy == policy]) for policy in POLICIES
        ),
        tuple(id for id in ids if (id, continuity) in right and (id, without) not in right),
        tuple(id for id in ids if (id, without) in right and (id, continuity) not in right),
        tuple(outcomes),
    )


def is_right(reply: str, case: Case) -> bool:
    """Whether a reply holds a right text and no wrong one, as words of their own, in any case."""
    return _holds(reply, case.right) and not _holds(reply, case.wrong)


def _holds(reply: str, texts: Iterable[str]) -> bool:
    # A number is not found within another one, as 0 is not in 100.0.
    forms = (rf"(?<![\w.,]){re.escape(text)}(?!\w|[.,]\d)" for text in texts)
    return any(re.search(form, reply, re.IGNORECASE) for form in forms)


def _row(policy: str, outcomes: Sequence[Outcome]) -> Row:
    follow_ups = [one for one in outcomes if not one.alone]
    alone = [one for one in outcomes if one.alone]
    return Row(
        policy,
        len(follow_ups),
        sum(one.held for one in follow_ups),
        _count(one.right for one in follow_ups),
        len(alone),
        _count(one.right for one in alone),
        median(one.tokens for one in outcomes) if outcomes else 0,
        _median(one.first_ms for one in outcomes),
        _median(one.evaluated for one in outcomes),
    )


def _count(found: Iterable[bool | None]) -> int | None:
    known = [one for one in found if one is not None]
    return sum(known) if known else None


def _median(found: Iterable[int | None]) -> float | None:
    known = [one for one in found if one is not None]
    return median(known) if known else None


def _seen(case: Case, policy: str, context: Context) -> Outcome:
    text = context.text.casefold()
    return Outcome(
        id=case.id,
        kind=case.kind,
        policy=policy,
        alone=not case.needs,
        held=all(need.casefold() in text for need in case.needs),
        tokens=context.record["token_budget"]["used"],
    )


async def _asked(seen: Outcome, case: Case, context: Context, lila: Lila, model: str) -> Outcome:
    found = await lila.spoken.rehearse(context, case.ask, use_case=seen.policy, model=model)
    known = found.total is not None and found.read is not None
    return replace(
        seen,
        right=is_right(found.text, case),
        reply=found.text,
        first_ms=found.first_ms,
        evaluated=cast("int", found.total) - cast("int", found.read) if known else None,
    )


@contextmanager
def _beside(like: Home, open_home: Callable[[Path], Lila]) -> Generator[Lila]:
    """An empty LILA with the tables and settings of a home, gone afterwards."""
    with tempfile.TemporaryDirectory() as folder:
        home = Home.at(Path(folder))
        home.create()
        if like.settings_file.is_file():
            shutil.copy(like.settings_file, home.settings_file)
        shutil.copytree(like.policies_dir, home.policies_dir, dirs_exist_ok=True)
        with open_home(Path(folder)) as other:
            yield other


def _spoken(lila: Lila, case: Case) -> str:
    session = lila.sessions.create(case.id, use_case=POLICIES[1]).id
    for words, reply in case.said:
        lila.sessions.append(session, "user", words)
        lila.sessions.append(session, "assistant", reply)
    return session


def _case(path: Path, number: int, line: str) -> Case:
    try:
        row = cast("dict[str, object]", json.loads(line))
        case = Case(
            id=str(row["id"]),
            kind=str(row["kind"]),
            said=tuple(
                (str(words), str(reply))
                for words, reply in cast("Sequence[Sequence[object]]", row["said"])
            ),
            ask=str(row["ask"]),
            needs=_texts(row["needs"]),
            right=_texts(row["right"]),
            wrong=_texts(row.get("wrong", ())),
        )
    except (ValueError, KeyError, TypeError) as error:
        raise UsageError(f"{path}, line {number}: no case: {error}", hint=_HINT) from error
    said = " ".join(text for pair in case.said for text in pair).casefold()
    for need in case.needs:
        if need.casefold() not in said or need.casefold() in case.ask.casefold():
            raise UsageError(
                f"{path}, line {number}: {need!r} is to stand in `said` and not in `ask`",
                hint="name words a reply cannot know without the conversation",
            )
    return case


def _texts(found: object) -> tuple[str, ...]:
    return tuple(str(one) for one in cast("Sequence[object]", found))
