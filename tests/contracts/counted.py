"""What a contract server counted of its calls, beside what an ideal client would have counted.

The ideal client sends the same words and only ever appends: whatever a request repeats from an
earlier one (block by block, wherever it stands in it) it could have read, and whatever its marked
prefix holds for the first time it had to write, once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Counted:
    """One call that was answered, in the server's tokens."""

    total: int
    read: int
    written: int
    ideal_read: int
    ideal_written: int
    written_long: int = 0


@dataclass(frozen=True)
class Sum:
    """Many calls together."""

    calls: int
    total: int
    read: int
    written: int
    ideal_read: int
    ideal_written: int

    @property
    def read_share(self) -> float:
        """Of what the ideal client reads."""
        return self.read / self.ideal_read if self.ideal_read else 0.0

    @property
    def write_ratio(self) -> float:
        """To what the ideal client writes."""
        return self.written / self.ideal_written if self.ideal_written else 0.0


def summed(calls: Sequence[Counted]) -> Sum:
    return Sum(
        calls=len(calls),
        total=sum(call.total for call in calls),
        read=sum(call.read for call in calls),
        written=sum(call.written for call in calls),
        ideal_read=sum(call.ideal_read for call in calls),
        ideal_written=sum(call.ideal_written for call in calls),
    )
