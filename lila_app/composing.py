"""From a message to a specification and its assembled context: gathers, then assembles."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, cast

from lila_app import moments
from lila_app.boundaries import definition, tool_names
from lila_app.context import (
    Context,
    Policy,
    Specification,
    assemble,
    layer_query,
    policy_hash,
    topic,
)
from lila_app.context.items import ModelLimits
from lila_app.context.policy import UseCase
from lila_app.embedding.tokens import TOKENIZER
from lila_app.errors import UsageError
from lila_app.layers.gather import gather
from lila_app.layers.port import Question
from lila_app.policies import Declared
from lila_app.privacy.placeholders import cut
from lila_app.resources import Resources
from lila_app.storage import memories, sessions, state, turns
from lila_app.storage.values import storable
from lila_app.truths import TITLE_CHARACTERS

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MOST_CHARACTERS = 1_000_000
"""Longest message looked at; beyond it no budget could hold it, and counting it takes seconds."""


@dataclass(frozen=True, slots=True)
class Ask:
    """One message to be answered (or previewed) by `model`, the chosen one, whose `limits` hold.

    `before_sequence` is the event of the turn itself, so that it is not its own history; None for
    a preview. With `deadline` the use case's deadline holds, without it every layer is waited for.
    """

    text: str
    use_case: str
    session_id: str | None
    now: datetime
    model: str
    limits: ModelLimits
    budget: int | None
    before_sequence: int | None
    deadline: bool


def use_case(policy: Policy, name: str) -> UseCase:
    """The row of the table, or a UsageError that lists the rows there are."""
    row = policy.use_case(name)
    if row is None:
        known = ", ".join(row.name for row in policy.use_cases)
        raise UsageError(f"there is no use case {name!r}", hint=f"use one of: {known}")
    return row


def usable(text: str) -> str:
    """The message, if it can be one. Raises UsageError."""
    if not text.strip():
        raise UsageError("the message is empty", hint="say something")
    if len(text) > MOST_CHARACTERS:
        raise UsageError(
            f"the message has {len(text):,} characters and at most {MOST_CHARACTERS:,} can be read",
            hint="put long material in with `lila ingest FILE` and ask about it",
        )
    return storable(text)


def title(text: str) -> str:
    """The beginning of a session's first message, which names it until the person does."""
    line = " ".join(text.split())
    return line if len(line) <= TITLE_CHARACTERS else cut(line, TITLE_CHARACTERS - 1) + "…"


@dataclass(frozen=True, slots=True)
class _Epoch:
    """`token_ratio` is the largest one that was known when the epoch began."""

    number: int
    pack: tuple[str, ...] | None
    token_ratio: int


def specify(resources: Resources, ask: Ask, *, write: bool) -> Specification:
    """Gather the candidates and freeze every input. Only `write` may begin a new epoch."""
    declared = resources.declared
    row = use_case(declared.policy, ask.use_case)
    if write and not row.answers:
        raise UsageError(
            f"no model answers the use case {row.name}", hint="look at it with `lila ask --dry-run`"
        )
    if not row.answers:
        resources.embed_all()
    if _searches(row):
        resources.ready()
    query = _query(resources, declared.policy, ask)
    # First of all, as both lanes of layers wait for it; the epoch is looked up meanwhile.
    vector = resources.embed_query(query) if _searches(row) else _no_vector
    epoch = _epoch(resources, declared, ask, write)
    question = Question(
        text=query,
        vector=vector,
        session_id=ask.session_id,
        before_sequence=ask.before_sequence,
        pack=epoch.pack,
        now=moments.stored(ask.now),
        policy=declared.policy,
        past=_past(row, ask),
        whole=row.whole,
    )
    gathered = gather(
        resources.layers,
        question,
        row,
        resources.pool,
        deadline_ms=row.deadline_ms if ask.deadline else None,
    )
    zone = resources.settings.zone
    return Specification(
        record_id="preview",
        session_id=ask.session_id,
        profile=resources.profile,
        use_case=ask.use_case,
        epoch=epoch.number,
        now=moments.shown(ask.now, zone),
        zone=zone.key,
        turn=ask.text,
        policy=declared.policy,
        limits=_limits(row, ask, epoch),
        answers=gathered.answers,
        summary=(
            resources.conversation.summary(ask.session_id)
            if row.layer("conversation").ratio
            else None
        ),
        deadline=gathered.deadline,
        tokenizer=TOKENIZER,
        code_version=resources.code_version,
        budget=ask.budget,
        # A persona says who LILA is in a conversation; a briefing or a spoken sentence has a form.
        persona=declared.persona if row.identity == "identity" else None,
        tools=offered(row, ask.limits),
    )


def offered(row: UseCase, limits: ModelLimits) -> tuple[str, ...]:
    """The definitions of the use case's tools, by name; none to a model that cannot call them.

    It follows from the limits alone, so that equal limits go on giving equal bytes.
    """
    return tuple(definition(name) for name in sorted(row.tools)) if limits.tools else ()


def compose(resources: Resources, specification: Specification) -> Context:
    """Assemble under the declared counter."""
    return assemble(specification, resources.count)


def tighter(specification: Specification, record_id: str, limit: int) -> Specification:
    """The same candidates under a lower limit, linked to the record that was too large."""
    limits = replace(specification.limits, context_budget=limit)
    return replace(specification, limits=limits, parent_record_id=record_id)


def under(specification: Specification, record_id: str, limits: ModelLimits) -> Specification:
    """The same candidates for a model with other limits, linked to the record it cannot take.

    It is offered no tools that the chosen model was not: a model that steps in, now under the
    chosen one's limits and now under its own, would else see them come and go within an epoch.
    """
    row = use_case(specification.policy, specification.use_case)
    tools = offered(row, limits) if specification.tools else ()
    return replace(specification, limits=limits, tools=tools, parent_record_id=record_id)


UNLIMITED = ModelLimits(window=1_000_000_000, context_budget=1_000_000_000)
"""Where no model answers: of any window, the budget is what is left."""


LEAST_TOKENS = 20
"""What the shortest message worth keeping takes with its head: no budget holds more of them."""


def _past(row: UseCase, ask: Ask) -> int:
    """How many earlier turns may be offered: what could not fit is not worth ranking."""
    budget = row.budget if ask.budget is None else ask.budget
    return min(row.past, max(1, budget // LEAST_TOKENS)) if row.whole else row.past


def _limits(row: UseCase, ask: Ask, epoch: _Epoch) -> ModelLimits:
    return replace(ask.limits, token_ratio=epoch.token_ratio) if row.answers else UNLIMITED


def _no_vector() -> NDArray[np.float32]:
    raise RuntimeError("a use case without memory and rag does not search")


def _searches(row: UseCase) -> bool:
    return bool(row.layer("memory").ratio or row.layer("rag").ratio)


def _query(resources: Resources, policy: Policy, ask: Ask) -> str:
    earlier: list[str] = []
    before = ask.before_sequence
    while ask.session_id is not None and len(earlier) < policy.query.back:
        row = turns.latest(resources.store, ask.session_id, before)
        if row is None:
            break
        earlier.append("" if row.erased else row.user)
        before = row.sequence
    previous = topic(earlier, policy.query)
    goals = [goal.text for goal in state.list_goals(resources.store, ask.session_id)]
    return layer_query(ask.text, previous, goals, policy.query)


def _epoch(resources: Resources, declared: Declared, ask: Ask, write: bool) -> _Epoch:
    retired = memories.retired_core(resources.store, moments.stored(ask.now))
    core = [one.id for one in memories.list_memories(resources.store, kind="core")]
    pack = tuple(id for id in core if id not in set(retired))
    if ask.session_id is None:
        return _Epoch(0, pack, _largest_ratio(resources, ask))
    parts = _frozen(declared, ask)
    # What is no longer true leaves the pack at once, and the log says why the prefix changed.
    parts["profile pack"] = _digest(retired)
    fingerprint = _digest(parts)
    current = sessions.current_epoch(resources.store, ask.session_id)
    if current is not None and current.fingerprint == fingerprint:
        return _Epoch(current.number, _pack(current), _ratio(current, ask))
    ratio = _largest_ratio(resources, ask)
    if not write:
        return _Epoch(current.number + 1 if current else 1, pack, ratio)
    row = sessions.enter_epoch(
        resources.store,
        ask.session_id,
        fingerprint,
        body={"pack": list(pack), "parts": parts, "token_ratio": ratio},
        reason=_reason(current, parts),
        at=moments.stored(ask.now),
    )
    return _Epoch(row.number, _pack(row), _ratio(row, ask))


def _largest_ratio(resources: Resources, ask: Ask) -> int:
    """The table's token ratio of the model, or a larger one that was seen since."""
    provider, _, model = ask.model.partition("/")
    seen = resources.ledger.largest_ratio(provider, model)
    return max(ask.limits.token_ratio, seen or 0)


def _ratio(row: sessions.EpochRow, ask: Ask) -> int:
    """The ratio an epoch began with; one that is learned meanwhile waits, as it would move bytes
    above the breakpoints."""
    return cast("int", row.body.get("token_ratio", ask.limits.token_ratio))


def _pack(row: sessions.EpochRow) -> tuple[str, ...]:
    return tuple(cast("list[str]", row.body.get("pack", [])))


def _frozen(declared: Declared, ask: Ask) -> dict[str, str]:
    """What is frozen within an epoch, each part by its hash.

    The model is the chosen one, whoever answers in its stead. Effort and output format are the
    model's own defaults in every conversation, so they cannot change yet.
    """
    tools = [definition(name) for name in tool_names()]
    return {
        "model": _digest(ask.model),
        "limits": _digest(asdict(ask.limits)),
        "policy": policy_hash(declared.policy),
        "persona": _digest(declared.persona),
        "tools": _digest(tools),
        "effort": _digest(None),
        "output format": _digest(None),
    }


def _reason(before: sessions.EpochRow | None, parts: Mapping[str, str]) -> str:
    """Why a new epoch begins, in the words of the log."""
    if before is None:
        return "the session begins"
    known = cast("dict[str, str]", before.body.get("parts", {}))
    changed = [name for name, digest in parts.items() if known.get(name) != digest]
    return f"changed: {', '.join(changed)}"


def _digest(value: object) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()
