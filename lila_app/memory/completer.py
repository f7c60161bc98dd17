"""The port through which memory asks a model, where one helps and the person allowed it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, Protocol

Job = Literal["summary", "extraction"]


class Completer(Protocol):
    """A model behind the job table, with its budget, its schema and its truth checks."""

    def of(self, job: Job) -> str:
        """The model that would be asked first, as `provider/model`; "" where none may be."""
        ...

    def answer(self, job: Job, texts: Mapping[str, str]) -> Mapping[str, object] | None:
        """The checked answer drawn from texts by their ids; None where none could be had.

        Blocking, for a worker thread. Not allowed, no capable model, no budget left, offline, and
        an answer that stays wrong all come to the same: the caller goes on without.
        """
        ...
