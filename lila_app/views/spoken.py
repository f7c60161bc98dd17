"""What a rehearsal of a spoken turn came to."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Rehearsed:
    """A reply that was kept nowhere, and what it took.

    `first_ms` is from the question to the first visible piece, None where none came. `total` and
    `read` are the prompt's tokens and those from a cache, None where the provider does not say.
    """

    text: str
    first_ms: int | None
    total: int | None
    read: int | None
