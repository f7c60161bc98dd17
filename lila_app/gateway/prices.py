"""What a call costs, in US dollars, from the price data that comes with genai-prices.

The data lies in the package; nothing is fetched, and its updater is never started. A price that is
not known is None with the reason, which is not zero; a model on one's own machine costs zero.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import TYPE_CHECKING

from lila_app.gateway.port import Usage

if TYPE_CHECKING:
    from genai_prices.types import ModelPrice, TieredPrices

MILLION = Decimal(1_000_000)

OWN = frozenset({"embedded", "ollama", "llama-server", "lmstudio", "vllm"})
"""Providers that run on one's own machine."""

PUBLISHED: Mapping[str, str] = {"0.2.3": "2026-11"}
"""When each release of the price data came out (PyPI, 2026-11-30); it carries no date itself."""

_THEIRS = {"gemini": "google"}
"""Providers that the data knows by another name."""


@dataclass(frozen=True, slots=True)
class Cost:
    """US dollars; None when not known, and then `note` says why.

    `prices` names the data and its date. A `note` beside a cost says how it was arrived at.
    """

    usd: Decimal | None
    note: str = ""
    prices: str = ""


@dataclass(frozen=True, slots=True)
class Rates:
    """US dollars a million tokens. `write_long` is None where the data does not have it."""

    input: Decimal
    read: Decimal
    write_short: Decimal
    write_long: Decimal | None
    output: Decimal
    prices: str


LongWrite = Callable[[str], int]
"""The multiplier of a long write of `provider/model`, in basis points, for data without it."""


class Prices:
    """The price data. `own` says of a provider whether it runs on one's own machine.

    `long_write` is the table's multiplier (policies/caching.toml) where the data has none.
    """

    def __init__(
        self,
        own: Callable[[str], bool] = OWN.__contains__,
        long_write: LongWrite = lambda _: 20_000,
    ) -> None:
        self._own = own
        self._long_write = long_write

    def own(self, provider: str) -> bool:
        """Whether a provider runs on one's own machine and so costs nothing."""
        return self._own(provider)

    def load(self) -> None:
        """Read the data now (0.4 s), so that the first cost is there at once."""
        dated()

    def cost(self, name: str, usage: Usage, at: datetime) -> Cost:
        """What a call of `provider/model` cost at a time, by what the provider reported.

        A part that was not reported counts as the dearer: not read from a cache, not written.
        """
        provider, _, _ = name.partition("/")
        if self.own(provider):
            return Cost(Decimal(0), "on your own machine")
        if usage.total is None:
            return Cost(None, "the provider reported no tokens")
        rates = self.rates(name, at, usage.total)
        if rates is None:
            return Cost(None, f"no price is known for {name}", dated())
        return Cost(_sum(rates, usage, self._long_write(name)), prices=rates.prices)

    def rates(self, name: str, at: datetime, prompt_tokens: int = 0) -> Rates | None:
        """The prices of `provider/model` at a time for a prompt of this length.

        None when the data does not know it. All zero on one's own machine.
        """
        provider, _, model = name.partition("/")
        if self.own(provider):
            zero = Decimal(0)
            return Rates(zero, zero, zero, zero, zero, "")
        found = _find(provider, model, at)
        if found is None:
            return None

        def price(*keys: str) -> Decimal | None:
            return next(
                (
                    _tier(value, prompt_tokens)
                    for key in keys
                    if (value := getattr(found, key)) is not None
                ),
                None,
            )

        each = price("input_mtok")
        if each is None:
            return None
        read = price("cache_read_mtok")
        short = price("cache_write_5m_mtok", "cache_write_mtok")
        return Rates(
            input=each,
            read=each if read is None else read,
            write_short=each if short is None else short,
            write_long=price("cache_write_1h_mtok"),
            output=price("output_mtok") or Decimal(0),
            prices=dated(),
        )


def dated() -> str:
    """Whose prices these are and of when, as in "genai-prices 0.2.3 (2026-11)"."""
    from genai_prices import __version__

    published = PUBLISHED.get(__version__)
    return f"genai-prices {__version__}" + (f" ({published})" if published else "")


def _sum(rates: Rates, usage: Usage, long_write: int) -> Decimal:
    total, read, written = usage.total or 0, usage.read or 0, usage.written or 0
    long = min(usage.written_long or 0, written)
    write_long = rates.write_long
    if write_long is None:
        write_long = rates.input * long_write / 10_000
    # What a provider says of its parts may exceed the whole by a token or two.
    uncached = max(0, total - read - written)
    return (
        uncached * rates.input
        + read * rates.read
        + (written - long) * rates.write_short
        + long * write_long
        + (usage.output or 0) * rates.output
    ) / MILLION


def _tier(value: Decimal | TieredPrices, prompt_tokens: int) -> Decimal:
    """The price a long prompt has: every token of it costs what the highest tier reached says."""
    if isinstance(value, Decimal):
        return value
    reached = [tier.price for tier in value.tiers if prompt_tokens > tier.start]
    return reached[-1] if reached else value.base


def _find(provider: str, model: str, at: datetime) -> ModelPrice | None:
    from genai_prices.data_snapshot import get_snapshot

    try:
        _, found = get_snapshot().find_provider_model(
            model, None, _THEIRS.get(provider, provider), None
        )
    except LookupError:
        return None
    return found.get_prices(at)
