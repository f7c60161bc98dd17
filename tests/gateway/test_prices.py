from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal

import genai_prices
import pytest

from lila_app.gateway.port import Usage
from lila_app.gateway.prices import PUBLISHED, Prices, dated
from tests.processes import printed

AT = datetime(2026, 11, 30, 12, tzinfo=UTC)


def usd(name: str, usage: Usage, at: datetime = AT) -> Decimal:
    cost = Prices().cost(name, usage, at).usd
    assert cost is not None
    return cost


def test_the_total_is_inclusive_and_each_part_has_its_price() -> None:
    # 1,000 at 2, 4,000 read at 0.10, 3,000 written at 2.50, 2,000 for an hour at 4, 100 out at 10.
    usage = Usage(total=10_000, read=4_000, written=5_000, output=100, written_long=2_000)
    assert usd("anthropic/claude-sonnet-5-5", usage) == Decimal("0.0189")


def test_what_was_not_reported_counts_as_the_dearer_part() -> None:
    assert usd("openai/gpt-5.5", Usage(total=1_000_000)) > usd(
        "openai/gpt-5.5", Usage(total=1_000_000, read=500_000)
    )
    assert usd("openai/gpt-5.5", Usage(1_000, None, None, 0)) == Decimal("0.005")


def test_a_long_write_that_the_data_has_no_price_for_takes_the_tables_multiplier() -> None:
    prices = Prices(long_write=lambda name: 25_000 if name == "openai/gpt-6.1-sol" else 0)
    # 1,000 tokens at 2.5 times 2 a million.
    cost = prices.cost("openai/gpt-6.1-sol", Usage(1_000, 0, 1_000, 0, 1_000), AT)
    assert cost.usd == Decimal("0.005")


@pytest.mark.parametrize(
    "name",
    [
        *("anthropic/claude-opus-5-5", "anthropic/claude-haiku-5-5", "openai/gpt-4.1"),
        *("openai/gpt-5.6-terra", "gemini/gemini-3.8-flash", "gemini/gemini-2.5-pro"),
    ],
)
@pytest.mark.parametrize("total", [9_000, 150_000, 300_000])
def test_costs_agree_with_the_librarys_own_calculation(name: str, total: int) -> None:
    provider, _, model = name.partition("/")
    usage = Usage(total=total, read=4_000, written=3_000, output=200)
    theirs = genai_prices.calc_price(
        genai_prices.Usage(
            input_tokens=total, cache_read_tokens=4_000, cache_write_tokens=3_000, output_tokens=200
        ),
        model,
        provider_id={"gemini": "google"}.get(provider, provider),
        genai_request_timestamp=AT,
    )
    assert usd(name, usage) == theirs.total_price


def test_prices_are_those_of_the_calls_own_day() -> None:
    # Gemini 3.8 Flash: 0.75 until the end of 2026, 1.50 after.
    usage = Usage(total=1_000_000, read=0, output=0)
    assert usd("gemini/gemini-3.8-flash", usage) == Decimal("0.75")
    later = datetime(2027, 1, 2, tzinfo=UTC)
    assert usd("gemini/gemini-3.8-flash", usage, later) == Decimal("1.5")


@pytest.mark.parametrize("name", ["embedded/smollm2-135m", "ollama/llama3.2", "lmstudio/any"])
def test_a_model_on_ones_own_machine_costs_nothing(name: str) -> None:
    assert Prices().cost(name, Usage(), AT).usd == 0


def test_a_server_that_is_said_to_be_on_ones_own_machine_costs_nothing() -> None:
    assert Prices(own=lambda provider: provider == "mine").cost("mine/x", Usage(), AT).usd == 0


@pytest.mark.parametrize(
    ("name", "usage", "said"),
    [
        ("anthropic/claude-unheard-of", Usage(10, 0, 0, 1), "no price is known"),
        ("nobody/model", Usage(10, 0, 0, 1), "no price is known"),
        ("anthropic/claude-opus-5-5", Usage(), "reported no tokens"),
    ],
)
def test_a_cost_that_is_not_known_is_none_with_its_reason_and_not_zero(
    name: str, usage: Usage, said: str
) -> None:
    cost = Prices().cost(name, usage, AT)
    assert cost.usd is None
    assert said in cost.note


def test_the_price_data_is_named_with_its_date() -> None:
    assert genai_prices.__version__ in PUBLISHED, "say when this release came out"
    assert (
        dated()
        == f"genai-prices {genai_prices.__version__} ({PUBLISHED[genai_prices.__version__]})"
    )


def test_nothing_is_fetched_and_no_updater_runs() -> None:
    script = (
        "import sys, threading\n"
        "from datetime import UTC, datetime\n"
        "from lila_app.gateway.port import Usage\n"
        "from lila_app.gateway.prices import Prices\n"
        "assert 'genai_prices' not in sys.modules\n"
        "import socket\n"
        "def refuse(*a, **k): raise AssertionError('network')\n"
        "socket.socket.connect = refuse\n"
        "cost = Prices().cost('openai/gpt-5.5', Usage(10, 0, 0, 1), datetime.now(UTC))\n"
        "print(cost.usd, threading.active_count())\n"
    )
    assert printed(script).split()[1] == "1"
