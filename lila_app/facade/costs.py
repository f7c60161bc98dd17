"""`lila.costs`: what models cost."""

from __future__ import annotations

from lila_app import policies
from lila_app.composing import use_case as find_use_case
from lila_app.costs import budget, spending
from lila_app.costs import layers as layer_costs
from lila_app.costs.layers import Case
from lila_app.costs.views import LayerReport, RatioInfo, UsageReport
from lila_app.resources import Resources
from lila_app.storage import ledger, ratios


class Costs:
    """The bill of one profile."""

    def __init__(self, resources: Resources) -> None:
        self._resources = resources

    def usage(self, month: str | None = None) -> UsageReport:
        """A month's calls ("2026-11"; None: the present one). Raises UsageError."""
        resources = self._resources
        settings = resources.roster.settings
        meant = budget.month(month, resources.clock(), settings.zone)
        rows = ledger.list_usage(
            resources.store, since=meant.begin.isoformat(), until=meant.end.isoformat()
        )
        standing = budget.standing(resources.store, meant, settings.monthly_budget_usd)
        return UsageReport(
            month=meant.name,
            lines=spending.lines(rows),
            cost=standing.spent,
            unpriced=standing.unpriced,
            budget=standing.limit,
            prices=tuple(sorted({row.prices for row in rows if row.prices})),
            ratios=tuple(
                RatioInfo(f"{one.provider}/{one.model}", one.ratio, one.tokens, one.at)
                for one in ratios.every(resources.store)
            ),
        )

    def layers(
        self, use_case: str = "chat", model: str | None = None, daily: int = 50
    ) -> LayerReport:
        """What each layer of a use case costs a day at `daily` calls. Raises LilaError."""
        resources = self._resources
        policy = resources.policy
        name = model or resources.roster.default
        case = Case(
            policy=policy,
            row=find_use_case(policy, use_case),
            model=name,
            limits=resources.roster.limits(name),
            daily=daily,
            now=resources.clock(),
        )
        table = policies.caching(resources.home)
        return layer_costs.layers(resources.store, table, resources.prices, case)
