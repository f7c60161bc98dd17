"""`lila.policy`: the tables in force, to look at and to argue with."""

from __future__ import annotations

import json
from typing import Any, cast

from lila_app import policies
from lila_app.composing import use_case as find_use_case
from lila_app.context import concerns, policy_hash, snapshot
from lila_app.resources import Resources


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
        return {
            "policy_hash": policy_hash(declared.policy),
            "files": list(declared.files),
            **plain,
        }

    def check(self) -> tuple[str, ...]:
        """Parse everything anew (a PolicyError says what is wrong) and name what is doubtful."""
        return concerns(policies.load(self._resources.home).policy)

    def path(self) -> str:
        """The folder in which a person's own tables are laid over the shipped ones."""
        return str(self._resources.home.policies_dir)
