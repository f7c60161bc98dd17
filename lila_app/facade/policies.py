"""`lila.policy`: the tables in force, to look at and to argue with."""

from __future__ import annotations

import json
from dataclasses import asdict
from difflib import get_close_matches
from typing import Any, cast

from lila_app import boundaries, policies
from lila_app.composing import Ask, compose, specify
from lila_app.composing import use_case as find_use_case
from lila_app.context import Policy, concerns, policy_hash, snapshot
from lila_app.errors import BudgetError
from lila_app.paths import Home, shipped
from lila_app.resources import Resources
from lila_app.views import BoundaryInfo


class Policies:
    """The declared tables of one home."""

    def __init__(self, resources: Resources) -> None:
        self._resources = resources

    def show(self, use_case: str | None = None) -> dict[str, Any]:
        """The policy as plain values, or one use case of it, with its hash and its files."""
        declared = self._resources.declared
        plain = cast("dict[str, Any]", json.loads(snapshot(declared.policy)))
        if use_case is not None:
            row = find_use_case(declared.policy, use_case)
            plain["use_cases"] = [u for u in plain["use_cases"] if u["name"] == row.name]
        home = self._resources.home
        return {
            "policy_hash": policy_hash(declared.policy),
            "files": [*declared.files, *_names(home, "caching"), *_names(home, "voice")],
            **plain,
            "caching": asdict(policies.caching(home)),
            "voice": asdict(policies.voice(home, fast=self._resources.settings.voice.fast)),
        }

    def check(self) -> tuple[str, ...]:
        """Parse everything anew (a PolicyError says what is wrong) and name what is doubtful."""
        policy = policies.load(self._resources.home).policy
        policies.caching(self._resources.home)
        policies.voice(self._resources.home)
        _ = self._resources.privacy.rules
        self._resources.passage_scoring()
        self._resources.scales()
        self._resources.graph_tables()
        _ = self._resources.promotion
        unsayable = [line for one in boundaries.every() for line in boundaries.unsayable(one)]
        astray = self._resources.roster.doubts()
        return (*self._unread(), *concerns(policy), *self._impossible(policy), *unsayable, *astray)

    def boundaries(self) -> tuple[BoundaryInfo, ...]:
        """Every place where a model's answer feeds code, and the model that is asked first."""
        roster = self._resources.roster
        chains = roster.table.chains
        return tuple(
            BoundaryInfo(
                one.name,
                f"assets/schemas/{one.schema}.json",
                one.job,
                roster.default if one.job == "reply" else chains.get(one.job, (roster.default,))[0],
                one.feeds,
                one.checked,
            )
            for one in boundaries.every()
        )

    def _unread(self) -> tuple[str, ...]:
        """Files in the person's folder that are no table: most likely a name misspelt."""
        known = {table.name for table in shipped("policies").glob("*.toml")}
        found: list[str] = []
        for entry in sorted(self._resources.home.policies_dir.iterdir()):
            if entry.name not in known or not entry.is_file():
                close = get_close_matches(entry.name, known, 1)
                meant = f"; did you mean {close[0]}?" if close and not entry.is_dir() else ""
                found.append(
                    f"{entry} is not read: the tables are {', '.join(sorted(known))}{meant}"
                )
        return tuple(found)

    def _impossible(self, policy: Policy) -> tuple[str, ...]:
        """Use cases in which not even a short question would fit."""
        found: list[str] = []
        for row in policy.use_cases:
            ask = Ask(
                text="?",
                use_case=row.name,
                session_id=None,
                now=self._resources.clock(),
                model=self._resources.roster.default,
                limits=self._resources.roster.limits(None),
                budget=None,
                before_sequence=None,
                deadline=False,
            )
            try:
                compose(self._resources, specify(self._resources, ask, write=False))
            except BudgetError as error:
                found.append(f"{row.name}: no question can be asked ({error.message})")
        return tuple(found)

    def path(self) -> str:
        """The folder in which a person's own tables are laid over the shipped ones."""
        return str(self._resources.home.policies_dir)


def _names(home: Home, table: str) -> list[str]:
    return [source.name for source in policies.sources(home, table)]
