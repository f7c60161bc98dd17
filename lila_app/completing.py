"""Asking a model in the background: for the summary of a cut, for facts, for a session's title.

It implements the port of `memory.completer` over the job table. Whoever asks goes on without an
answer, so nothing here raises: not allowed, no capable model, no budget, no network, a breaker that
is open and an answer that stays wrong all come to None, and to a line in the log without content.

Which models are asked: those the job's chain names (policies/gateway.toml), of which the table says
that they are capable, and of these the ones on this machine always, the others only where the
person turned `memory.use_model` on. So nothing is sent anywhere, and nothing costs, before that.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass, replace
from typing import Literal

from lila_app import boundaries
from lila_app.context.items import Counter
from lila_app.costs.budget import Budget
from lila_app.errors import LilaError
from lila_app.gateway.calls.calling import Caller
from lila_app.gateway.embedded.weights import DEFAULT
from lila_app.gateway.port import Message, Provider, Request
from lila_app.gateway.structured import ask
from lila_app.models import Absent, Roster, on_this_machine
from lila_app.paths import read_text, shipped
from lila_app.privacy.sinks import Privacy
from lila_app.truths import Material

_log = logging.getLogger(__name__)

Job = Literal["summary", "extraction", "title"]
Run = Callable[[Coroutine[object, object, None]], None]

MOST_TOKENS: Mapping[Job, int] = {"summary": 700, "extraction": 1_200, "title": 300}
"""Of an answer: the summary's block holds 300 and JSON with ids doubles it; a fact takes 60 to 80
and twelve turns seldom hold ten; a title and its names take 60, in a script of many tokens 200."""

_BOUNDARIES = {
    "summary": boundaries.SUMMARY,
    "extraction": boundaries.EXTRACTION,
    "title": boundaries.TITLE,
}


@dataclass(frozen=True, slots=True)
class Means:
    """What asking takes. `run` runs a coroutine to its end, or to when LILA closes.

    `predicates` are the names of what can be said about somebody (policies/predicates.toml).
    `privacy` says what stored texts stand for, so that an answer is held against what was said,
    and how the answer may be stored.
    """

    roster: Roster
    caller: Callable[[], Caller]
    budget: Budget
    count: Callable[[], Counter]
    predicates: Callable[[], tuple[str, ...]]
    run: Run
    privacy: Privacy | None = None


class ModelCompleter:
    """A model behind the job table; see `memory.completer.Completer`. For worker threads."""

    def __init__(self, means: Means) -> None:
        self._means = means

    def running(self, run: Run) -> ModelCompleter:
        """The same, whose questions are run and given up otherwise."""
        return ModelCompleter(replace(self._means, run=run))

    def of(self, job: Job) -> str:
        """The model that would be asked first for a job; "" where none may be."""
        chain = self._chain(job)
        return chain[0].name if chain else ""

    def answer(self, job: Job, texts: Mapping[str, str]) -> Mapping[str, object] | None:
        """The checked answer drawn from texts by their ids; None where none could be had."""
        privacy = self._means.privacy
        try:
            if privacy is None or not privacy.restoring:
                return self._asked(job, texts)
            found = self._asked(job, {id: privacy.shown(text) for id, text in texts.items()})
            return None if found is None else privacy.kept_answer(found)
        except LilaError as error:
            # An error's own words are about the call, never about what was said in it.
            _log.info("%s is made without a model: %s", job, error)
            return None

    def _asked(self, job: Job, texts: Mapping[str, str]) -> Mapping[str, object] | None:
        chain = self._chain(job)
        if not chain or not texts:
            return None
        leave = self._means.budget.check(chain)
        allowed = [chain[place] for place in leave.places]
        request = self._request(job, texts)
        fitting = [one for one in allowed if _fits(one, request)]
        if not fitting:
            _log.info("%s is made without a model: it would not fit one", job)
            return None
        caller, form = self._means.caller(), _BOUNDARIES[job].form(Material(texts))
        found: list[Mapping[str, object]] = []
        failed: list[LilaError] = []

        async def asking() -> None:
            try:
                answer = await ask(lambda one: caller.stream(fitting, one), request, form)
                found.append(answer)
            except LilaError as error:
                failed.append(error)

        self._means.run(asking())
        if failed:
            raise failed[0]
        return found[0] if found else None

    def _chain(self, job: Job) -> tuple[Provider, ...]:
        """The models of a job that are capable and may be asked, in their order."""
        roster = self._means.roster
        table = roster.table
        # Looked at by name first: a chain of models that may not be asked opens no keyring.
        if not any(self._capable(one) for one in self._named(job)):
            return ()
        try:
            chain = roster.chain(job=job)
        except LilaError as error:
            _log.info("%s is made without a model: %s", job, error)
            return ()
        remote = roster.settings.memory.use_model
        return tuple(
            one
            for one in chain
            if not isinstance(one, Absent)
            and one.name != DEFAULT
            and table.capable(one.name)
            and (remote or on_this_machine(one.name, roster.about(one.name)))
        )

    def _named(self, job: Job) -> tuple[str, ...]:
        roster = self._means.roster
        return (*roster.given_names, *roster.table.chains[job])

    def _capable(self, name: str) -> bool:
        return name != DEFAULT and self._means.roster.table.capable(name)

    def _request(self, job: Job, texts: Mapping[str, str]) -> Request:
        told = "\n\n".join(f"[{id}]\n{text}" for id, text in texts.items())
        messages = Message("system", self._instructions(job)), Message("user", told)
        count = self._means.count()
        return Request(
            messages=messages,
            max_tokens=MOST_TOKENS[job],
            slot="background",
            job=job,
            tokens=sum(count(message.content) for message in messages),
        )

    def _instructions(self, job: Job) -> str:
        text = read_text(shipped("assets") / "prompts" / "jobs" / f"{job}.md").strip()
        if job == "extraction":
            text = text.replace("{predicates}", ", ".join(self._means.predicates()))
        return text


def _fits(provider: Provider, request: Request) -> bool:
    limits = provider.limits()
    needed = -(-request.tokens * limits.token_ratio // 10_000) + request.max_tokens
    return needed <= limits.window
