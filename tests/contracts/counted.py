"""What a contract server counted of its calls, beside what an ideal client would have counted.

The ideal client sends the same words under the same credential to the same model, and only ever
appends. Whatever a request repeats from an earlier one, wherever it stands in it, the ideal client
reads; whatever its cached prefix holds for the first time it writes, once. Only when the
conversation begins with another turn than before (the window was cut) is there nothing to append
to: then the ideal client, too, keeps what stands before the conversation and writes the rest anew.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta


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


@dataclass(frozen=True)
class Unit:
    """A block, part or message of a prompt, as it was received; `said` is what the turns hold."""

    content: str
    tokens: int
    said: bool


@dataclass
class _Known:
    """What one credential has sent to one model, and when last."""

    times: dict[tuple[str, int], datetime] = field(default_factory=dict)
    said: set[tuple[str, int]] = field(default_factory=set)
    opening: str = ""


@dataclass
class IdealClient:
    """Counts for the ideal client. Nothing below `minimum` tokens is cached for anybody."""

    minimum: int
    lifetime: timedelta
    _known: dict[str, _Known] = field(default_factory=dict)

    def sends(self, key: str, units: Sequence[Unit], cached: int, now: datetime) -> tuple[int, int]:
        """Tokens it reads and writes for this prompt, of which the first `cached` units are cached.

        `key` stands for whatever caches are kept apart by. What stands after the cached units is
        known from then on too: a client that caches too little is measured by what it repeats.
        """
        known = self._known.setdefault(key, _Known())
        self._begin_anew(known, units)
        enough = sum(unit.tokens for unit in units[:cached]) >= self.minimum
        whole = sum(unit.tokens for unit in units) >= self.minimum
        times: Counter[str] = Counter()
        read = written = short = 0
        for at, unit in enumerate(units):
            times[unit.content] += 1
            name = (unit.content, times[unit.content])
            if name in known.times and now - known.times[name] <= self.lifetime:
                read += unit.tokens
                short += unit.tokens if at < cached and enough else 0
            elif at < cached and enough:
                written += unit.tokens
            if enough or (at >= cached and whole):
                known.times[name] = now
                if unit.said:
                    known.said.add(name)
        # What is repeated but too short to have been cached is written with the rest.
        return (read, written) if read >= self.minimum else (0, written + short)

    def _begin_anew(self, known: _Known, units: Sequence[Unit]) -> None:
        opening = next((unit.content for unit in units if unit.said), "")
        if opening != known.opening:
            for name in known.said:
                known.times.pop(name, None)
            known.said.clear()
            known.opening = opening
