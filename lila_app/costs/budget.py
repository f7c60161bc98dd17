"""What a month may cost: a warning at 80 %, and at 100 % nothing that costs money is asked.

Models on one's own machine go on answering. Calls without a known price cannot be counted; the
notices say so, and `lila cost usage` lists them.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Protocol
from zoneinfo import ZoneInfo

from lila_app.errors import MonthSpentError, UsageError
from lila_app.moments import Clock
from lila_app.settings import Settings
from lila_app.storage import ledger
from lila_app.storage.connection import Store

WARNED_AT = Decimal("0.8")
"""The share of the budget from which on it is mentioned."""

_PICODOLLARS = 12


@dataclass(frozen=True, slots=True)
class Month:
    """A calendar month where the person lives: from its first moment to before the next one's."""

    name: str
    begin: datetime
    end: datetime


@dataclass(frozen=True, slots=True)
class Standing:
    """What was spent of a month's budget, US dollars; `limit` None is no budget.

    `unpriced` calls had no known price.
    """

    month: str
    limit: Decimal | None
    spent: Decimal
    unpriced: int

    @property
    def share(self) -> Decimal:
        """The share spent, 0 without a budget; above 1 when it was overrun."""
        return self.spent / self.limit if self.limit else Decimal(0)


class Named(Protocol):
    """What is known of a candidate here: a provider of `gateway.port` is one."""

    @property
    def name(self) -> str:
        """`provider/model`."""
        ...


@dataclass(frozen=True, slots=True)
class Leave:
    """Which of the candidates may be asked, by place, and what is to be said ("": nothing)."""

    places: tuple[int, ...]
    notice: str


class Budget:
    """The budget of one open LILA; it is mentioned once a month and process, not on every turn."""

    def __init__(
        self,
        store: Store,
        settings: Callable[[], Settings],
        own: Callable[[str], bool],
        clock: Clock,
    ) -> None:
        self._store = store
        self._settings = settings
        self._own = own
        self._clock = clock
        self._mentioned = ""
        self._lock = threading.Lock()

    def standing(self) -> Standing:
        """How this month stands."""
        settings, now = self._settings(), self._clock()
        this = month(None, now, settings.zone)
        return standing(self._store, this, settings.monthly_budget_usd)

    def check(self, candidates: Sequence[Named]) -> Leave:
        """Which candidates may be asked now; one query. Raises `MonthSpentError` for none.

        For every call that may cost money, before it.
        """
        costly = [not self._own(one.name.partition("/")[0]) for one in candidates]
        everyone = Leave(tuple(range(len(candidates))), "")
        if not any(costly) or self._settings().monthly_budget_usd is None:
            return everyone
        now = self.standing()
        if now.share < WARNED_AT:
            return everyone
        if now.share < 1:
            return Leave(everyone.places, self._once(now) if costly[0] else "")
        left = tuple(place for place, cost in enumerate(costly) if not cost)
        if not left:
            raise MonthSpentError(
                f"{_said(now)}, so {candidates[0].name} is not asked",
                hint="raise monthly_budget_usd in settings.toml, or ask a model on your own "
                "machine with --model",
            )
        if not costly[0]:
            return Leave(left, "")
        return Leave(left, f"{_said(now)}; {candidates[left[0]].name} answers, on your own machine")

    def _once(self, now: Standing) -> str:
        with self._lock:
            if self._mentioned == now.month:
                return ""
            self._mentioned = now.month
        return _said(now)


def standing(store: Store, month: Month, limit: Decimal | None) -> Standing:
    """What a month cost, beside its budget."""
    found = ledger.spent(store, month.begin.isoformat(), month.end.isoformat())
    return Standing(month.name, limit, Decimal(found.cost).scaleb(-_PICODOLLARS), found.unpriced)


def month(name: str | None, now: datetime, zone: ZoneInfo) -> Month:
    """The month called "2026-11", or the present one. Raises UsageError."""
    if name is None:
        name = now.astimezone(zone).strftime("%Y-%m")
    try:
        begin = datetime.strptime(name, "%Y-%m").replace(tzinfo=zone)
    except ValueError:
        raise UsageError(f"{name!r} is no month", hint="write it as in 2026-11") from None
    after = (begin + timedelta(days=32)).replace(day=1)
    return Month(begin.strftime("%Y-%m"), begin, after)


def _said(now: Standing) -> str:
    uncounted = f"; calls without a known price: {now.unpriced}" if now.unpriced else ""
    return (
        f"${now.spent:.2f} of this month's ${now.limit:.2f} are spent, "
        f"{int(now.share * 100)} %{uncounted}"
    )
