"""What `lila.costs` and `lila.cache` make of the calls in the ledger."""

from __future__ import annotations

import math
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest

from lila_app.assistant import Lila
from lila_app.costs.views import CacheReport
from lila_app.errors import ConfigError, LilaError, UsageError
from lila_app.gateway.ledger import Attempt
from lila_app.gateway.port import Prefix, Usage
from lila_app.storage import reuse
from lila_app.storage.reuse import Place
from lila_app.testing import FakeClock, Scripted, ScriptedProvider
from tests.assistant.conftest import Open, say

SONNET = "anthropic/claude-sonnet-5-5"


def keep(lila: Lila, at: str, usage: Usage, **changed: Any) -> Attempt:
    """A call of Claude Sonnet 5.5, kept in the ledger."""
    attempt = Attempt(
        at=at,
        provider="anthropic",
        model="claude-sonnet-5-5",
        outcome="stop",
        usage=usage,
        use_case="chat",
        first_token_ms=500,
        total_ms=900,
        prompt_tokens=usage.total or 0,
    )
    attempt = replace(attempt, **changed)
    lila._resources.ledger.attempted(attempt)  # pyright: ignore[reportPrivateUsage]
    return attempt


def at(clock: str, day: int = 30) -> str:
    return f"2026-11-{day:02}T{clock}+00:00"


def test_a_months_calls_are_added_up_by_model_and_job_with_their_price(lila: Lila) -> None:
    # 1,000·2 + 8,000·0.10 + 500·2.50 + 500·4 + 100·10 a million = 0.007050
    whole = Usage(total=10_000, read=8_000, written=1_000, output=100, written_long=500)
    for wait in (100, 200, 300, 400):
        keep(lila, at("07:00:00"), whole, first_token_ms=wait)
    keep(lila, at("07:10:00"), Usage(), outcome="TimedOutError", first_token_ms=None)
    keep(lila, at("07:20:00"), Usage(2_000, 0, 0, 10), job="summary")
    keep(lila, at("22:59:59", day=1), whole, model="claude-unheard-of")
    keep(lila, "2026-10-31T12:00:00+00:00", whole)
    found = lila.costs.usage()
    assert [(line.model, line.job) for line in found.lines] == [
        ("claude-sonnet-5-5", "reply"),
        ("claude-sonnet-5-5", "summary"),
        ("claude-unheard-of", "reply"),
    ]
    reply, _, unknown = found.lines
    assert (reply.attempts, reply.failed, reply.unpriced) == (5, 1, 1)
    assert (reply.uncached, reply.read, reply.output) == (4_000, 32_000, 400)
    assert (reply.written_short, reply.written_long) == (2_000, 2_000)
    assert (reply.first_token_p50, reply.first_token_p95) == (200, 400)
    assert reply.cost == Decimal("0.0282")
    assert reply.notes == ("the provider reported no tokens",)
    assert (unknown.cost, unknown.unpriced) == (0, 1)
    assert "no price is known" in unknown.notes[0]
    assert found.cost == Decimal("0.0282") + Decimal("0.0041")
    assert found.unpriced == 2
    assert found.prices and found.prices[0].startswith("genai-prices")


@pytest.mark.parametrize(
    "outcome",
    ["UnreachableError", "RateLimitedError", "AuthenticationError", "SpendLimitError"],
)
def test_a_call_that_never_arrived_or_was_refused_certainly_cost_nothing(
    lila: Lila, outcome: str
) -> None:
    keep(lila, at("07:00:00"), Usage(), outcome=outcome, first_token_ms=None)
    assert lila.costs.usage().unpriced == 0
    # One that broke off after its first word was worked on.
    keep(lila, at("07:01:00"), Usage(), outcome=outcome)
    keep(lila, at("07:02:00"), Usage(), outcome="UnavailableError", first_token_ms=None)
    assert lila.costs.usage().unpriced == 2


def test_what_was_not_reported_is_not_zero(lila: Lila) -> None:
    keep(lila, at("07:00:00"), Usage(total=900, output=5))
    (line,) = lila.costs.usage("2026-11").lines
    assert (line.read, line.written_short, line.written_long) == (None, None, None)
    assert line.uncached == 900


def test_a_turn_is_in_the_months_account(lila: Lila, provider: ScriptedProvider) -> None:
    provider.enqueue(Scripted(("Yes.",), usage=Usage(1_200, 300, None, 2)))
    say(lila, "Is it so?")
    (line,) = lila.costs.usage().lines
    assert (line.provider, line.attempts, line.uncached, line.read) == ("scripted", 1, 900, 300)


def test_another_month_can_be_asked_for_and_must_be_one(lila: Lila) -> None:
    assert lila.costs.usage("2026-10").lines == ()
    with pytest.raises(UsageError, match="is no month"):
        lila.costs.usage("last")


def test_the_largest_token_ratio_is_learned_from_large_prompts_only(lila: Lila) -> None:
    keep(lila, at("07:00:00"), Usage(total=1_300), prompt_tokens=1_000)
    keep(lila, at("07:01:00"), Usage(total=1_250), prompt_tokens=1_000)
    keep(lila, at("07:02:00"), Usage(total=900), prompt_tokens=300)  # 600 of the provider's own
    keep(lila, at("07:03:00"), Usage(total=90_000), prompt_tokens=1_000)  # no tokenizer does that
    (ratio,) = lila.costs.usage().ratios
    assert (ratio.model, ratio.ratio, ratio.tokens) == (SONNET, 13_000, 1_000)
    assert ratio.at == at("07:00:00")


def test_a_ratio_that_was_learned_holds_from_the_next_epoch_on(
    open_again: Open, provider: ScriptedProvider
) -> None:
    lila = open_again()
    provider.enqueue("One.", "Two.", "Three.")
    first = say(lila, "First things first, tell me of the harbour")
    keep(
        lila,
        at("08:00:00"),
        Usage(total=3_000),
        provider="scripted",
        model="test",
        prompt_tokens=2_000,
    )
    second = say(lila, "And then, what of the ferry over there?", session=first.session_id)
    other = say(lila, "Something else altogether, please")

    def limits(record_id: str) -> tuple[int, int]:
        record: Any = lila.contexts.show(record_id)
        return record["meta"]["epoch"], record["limits"]["token_ratio"]

    assert limits(first.record_id) == (1, 10_000)
    assert limits(second.record_id) == (1, 10_000)
    assert limits(other.record_id) == (1, 15_000)
    preview: Any = lila.preview("And now?", session=first.session_id).record
    assert preview["limits"]["token_ratio"] == 10_000


# --- caches ----------------------------------------------------------------------------------

PROFILE = Prefix("profile", "a" * 64, 2_000)


def chat(lila: Lila, provider: ScriptedProvider, clock: FakeClock, turns: int) -> list[str]:
    """Records of real turns, a minute apart."""
    found: list[str] = []
    session = None
    for number in range(turns):
        provider.enqueue(f"Reply {number}.")
        done = say(lila, f"Tell me the story of number {number} please", session=session)
        session = done.session_id
        found.append(done.record_id)
        clock.advance(60)
    return found


def sonnet_report(lila: Lila) -> CacheReport:
    report = lila.cache.report()
    return replace(report, lines=tuple(one for one in report.lines if one.model == SONNET))


def test_the_report_says_what_was_measured_what_each_lifetime_costs_and_what_was_chosen(
    lila: Lila, provider: ScriptedProvider, clock: FakeClock
) -> None:
    record = chat(lila, provider, clock, 1)[0]
    # Eleven calls: the first without one before it, six after a minute, four after half an hour.
    minutes = [0, 1, 2, 3, 33, 63, 64, 65, 66, 96, 126]
    for minute in minutes:
        keep(
            lila,
            f"2026-11-30T{2 + minute // 60:02}:{minute % 60:02}:00+00:00",
            Usage(total=3_000, read=2_000, written=500, output=10),
            prefixes=(PROFILE,),
            record_id=record,
            session_id="s1",
        )
    (line,) = sonnet_report(lila).lines
    assert (line.calls, line.total, line.read, line.written) == (11, 33_000, 22_000, 5_500)
    # 22,000·(2 − 0.10) saved, 5,500·(2.50 − 2) spent on writes, a million.
    assert line.saved == Decimal("0.03905")
    (profile,) = line.breakpoints
    assert (profile.calls, profile.short, profile.long, profile.gap) == (11, 6, 4, 60)
    # short: 6·0.05 + 5·1.25 = 6.55; long: 10·0.05 + 1·2 = 2.5, by eleven.
    assert profile.cost_short == pytest.approx(6.55 / 11, abs=1e-4)
    assert profile.cost_long == pytest.approx(2.5 / 11, abs=1e-4)
    # 0.25/1.20 of the calls; 0.75·(5/11)/1.95.
    assert profile.short_from == pytest.approx(0.2083, abs=1e-4)
    assert profile.long_from == pytest.approx(0.1748, abs=1e-4)
    assert (profile.choice, profile.measured) == ("long", True)
    assert (line.contract.kind, line.contract.read, line.contract.minimum) == (
        *("anthropic", 0.05, 512),
    )
    assert "genai-prices" in line.contract.source


def test_real_turns_are_measured_at_the_breakpoints_of_their_prompts(
    lila: Lila, provider: ScriptedProvider, clock: FakeClock
) -> None:
    chat(lila, provider, clock, 4)
    (line,) = lila.cache.report().lines
    assert (line.model, line.calls) == ("scripted/test", 4)
    # What stands above the conversation is sent with every turn: on the first under the name of
    # the conversation's breakpoint, which falls together with it. What was said is sent again from
    # the third turn on, a minute after it was first sent.
    found = {one.after: (one.calls, one.gap) for one in line.breakpoints}
    assert found == {"summary": (3, 60), "conversation": (4, 60)}
    assert {one.choice for one in line.breakpoints} == {None}  # nothing is known of this server
    store = lila._resources.store  # pyright: ignore[reportPrivateUsage]
    gaps = reuse.gaps(store, Place("chat", "scripted", "test", "conversation"))
    assert gaps == (60, 60, math.inf, math.inf)


def test_calls_of_a_month_ago_are_no_longer_reported(lila: Lila) -> None:
    keep(lila, "2026-10-30T12:00:00+00:00", Usage(100, 0, 0, 1))
    assert lila.cache.report().lines == ()


def test_a_promised_read_that_did_not_come_is_named_with_the_block_that_differs(
    lila: Lila, provider: ScriptedProvider, clock: FakeClock
) -> None:
    first, second = chat(lila, provider, clock, 2)
    usage = Usage(total=3_000, read=0, written=2_500, output=10)
    keep(lila, at("07:00:00"), usage, prefixes=(PROFILE,), record_id=first, session_id="s1")
    keep(
        lila,
        at("07:01:00"),
        usage,
        prefixes=(replace(PROFILE, sha256="b" * 64),),
        record_id=second,
        session_id="s1",
        miss="system_changed",
    )
    (warning,) = sonnet_report(lila).warnings
    assert (warning.cause, warning.record_id, warning.miss) == ("changed", second, "system_changed")
    # The two prompts were real ones: up to the conversation they are the same.
    assert warning.block == "conversation"
    assert "anthropic says system_changed" in warning.text
    assert lila.cache.warnings("s1") == (warning,)
    assert lila.cache.warnings("s9") == ()


def test_a_missed_read_is_in_the_log_by_its_kind_alone(
    lila: Lila,
    provider: ScriptedProvider,
    clock: FakeClock,
    caplog: pytest.LogCaptureFixture,
) -> None:
    record = chat(lila, provider, clock, 1)[0]
    usage = Usage(total=3_000, read=0, written=2_500, output=10)
    for clock_time in ("07:00:00", "07:01:00"):
        keep(lila, at(clock_time), usage, prefixes=(PROFILE,), record_id=record, session_id="s1")
    lines = [entry.getMessage() for entry in caplog.records if "cache" in entry.getMessage()]
    assert lines == [f"a promised cache read did not come: {SONNET}, provider"]


# --- layers ----------------------------------------------------------------------------------


def test_layers_without_a_measured_prompt_are_priced_by_the_policys_own_sizes(
    lila: Lila,
) -> None:
    found = lila.costs.layers("voice", SONNET, daily=1_000)
    assert found.records == 0
    assert found.assumed
    blocks = {one.block: one for one in found.blocks}
    assert {one.basis for one in found.blocks} == {"nominal", "unknown"}
    identity = blocks["identity"]
    assert (identity.lifetime, identity.tokens) == ("L1", 600)
    # 600 declared at the scripted model's ratio of 1: 1,000 a day at 2 a million.
    assert identity.uncached == Decimal("1.2")
    assert blocks["conversation"].tokens == 0
    assert (blocks["clock"].ttl, blocks["turn"].basis) == (None, "unknown")
    assert (found.output, found.output_basis) == (300, "nominal")


def test_layers_are_measured_in_stored_prompts_of_the_use_case_under_the_same_limits(
    lila: Lila, provider: ScriptedProvider, clock: FakeClock
) -> None:
    records = chat(lila, provider, clock, 2)
    found = lila.costs.layers("chat", SONNET, daily=10)
    assert found.records == 2
    sizes: list[dict[str, int]] = []
    for id in records:
        record: Any = lila.contexts.show(id)
        sizes.append({block["name"]: block["tokens"] for block in record["blocks"]})
    for one in found.blocks:
        mean = -(-sum(size.get(one.block, 0) for size in sizes) // 2)
        assert (one.tokens, one.basis) == (mean, "measured"), one.block
    assert lila.costs.layers("voice", SONNET).records == 0


def test_a_layer_above_a_breakpoint_is_priced_as_it_would_be_cached(lila: Lila) -> None:
    found = lila.costs.layers("chat", SONNET, daily=2_880)
    (tools,) = [one for one in found.blocks if one.block == "identity"]
    # Every 30 seconds: 288 writes at most, at 2.50; the rest are reads at 0.10; 600 tokens.
    assert tools.ttl == "short"
    assert tools.cached == 600 * (288 * Decimal("2.5") + 2_592 * Decimal("0.1")) / 1_000_000
    assert tools.uncached == 600 * 2_880 * Decimal(2) / 1_000_000


def test_before_calls_were_measured_a_lifetime_is_chosen_for_calls_spread_over_the_day(
    lila: Lila,
) -> None:
    # 50 a day come every 29 minutes: after the short lifetime of 5 minutes, within the long of 60.
    found = lila.costs.layers("chat", SONNET, daily=50)
    (tools,) = [one for one in found.blocks if one.block == "identity"]
    assert tools.ttl == "long"
    # An hour's write is 4.00, at most 24 of them; the rest are reads at 0.10.
    assert tools.cached == 600 * (24 * Decimal(4) + 26 * Decimal("0.1")) / 1_000_000
    # 10 a day come after both: nothing is worth a mark.
    found = lila.costs.layers("chat", SONNET, daily=10)
    assert all(one.cached == one.uncached for one in found.blocks)


def test_a_prefix_below_the_providers_minimum_is_not_cached(lila: Lila) -> None:
    # Voice has 600 tokens above its breakpoints at most; an unknown Claude needs 4,096.
    found = lila.costs.layers("voice", "anthropic/claude-fable-5-2", daily=2_880)
    assert {one.ttl for one in found.blocks} == {None}
    assert all(one.cached == one.uncached for one in found.blocks)


def test_what_is_too_short_to_be_cached_alone_is_cached_with_what_follows_it(
    lila: Lila,
) -> None:
    # Up to the profile 3,200 tokens nominally at the most, of which 4,096 are needed here; with the
    # conversation it is more.
    found = lila.costs.layers("chat", "anthropic/claude-fable-5-2", daily=2_880)
    above = {one.block: one.ttl for one in found.blocks if one.lifetime in ("L1", "L2", "L3")}
    assert set(above.values()) == {"short"}


def test_tokens_are_the_models_own_as_its_calls_came_to_on_the_mean(lila: Lila) -> None:
    assert lila.costs.layers("chat", SONNET, 1_000).ratio_basis == "nominal"
    keep(lila, at("07:00:00"), Usage(total=1_300, output=30), prompt_tokens=1_000)
    keep(lila, at("07:01:00"), Usage(total=1_100, output=10), prompt_tokens=1_000)
    keep(lila, at("07:02:00"), Usage(total=900), prompt_tokens=100)  # too small to tell
    found = lila.costs.layers("chat", SONNET, daily=1_000)
    assert (found.ratio, found.ratio_basis) == (12_000, "measured")
    (clock,) = [one for one in found.blocks if one.block == "clock"]
    assert clock.uncached == 48 * 1_000 * Decimal(2) / 1_000_000  # 40 declared tokens
    assert (found.output, found.output_basis) == (20, "measured")


def test_a_model_without_a_known_price_cannot_be_priced(lila: Lila) -> None:
    with pytest.raises(ConfigError, match="no price is known"):
        lila.costs.layers("chat", "anthropic/claude-unheard-of")
    with pytest.raises(LilaError, match="no use case"):
        lila.costs.layers("nothing", SONNET)
