"""`lila.cache`: how well providers' caches are used."""

from __future__ import annotations

from datetime import timedelta

from lila_app import moments, policies
from lila_app.costs import cache_report
from lila_app.costs.cache_report import Inputs
from lila_app.costs.views import CacheReport, WarningInfo
from lila_app.resources import Resources
from lila_app.storage import ledger

DAYS = 30
"""How far a report looks back: as far as the habits last that the lifetimes are chosen by."""

FRESH = timedelta(hours=12)
"""How far back a warning is still news in a session."""


class Cache:
    """The caches of one profile."""

    def __init__(self, resources: Resources) -> None:
        self._resources = resources

    def report(self) -> CacheReport:
        """The last 30 days by use case and model: reuse, the rule, reads, money, warnings."""
        resources = self._resources
        now = resources.clock()
        since = moments.stored(now - timedelta(days=DAYS))
        return cache_report.report(self._inputs(), since, moments.stored(now))

    def warnings(self, session: str) -> tuple[WarningInfo, ...]:
        """Promised reads that did not come in a session lately, the latest first."""
        resources = self._resources
        since = moments.stored(resources.clock() - FRESH)
        rows = ledger.list_usage(resources.store, since=since)
        return cache_report.warnings(
            self._inputs(), [row for row in rows if row.session_id == session]
        )

    def _inputs(self) -> Inputs:
        resources = self._resources
        return Inputs(resources.store, policies.caching(resources.home), resources.prices)
