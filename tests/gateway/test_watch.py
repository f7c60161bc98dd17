from __future__ import annotations

from dataclasses import replace

import pytest

from lila_app.gateway.caching.contract import CacheContract
from lila_app.gateway.caching.watch import CacheWarning, first_difference, sentence, watch
from lila_app.gateway.ledger import Attempt
from lila_app.gateway.port import Prefix, Usage

CLAUDE = CacheContract("anthropic", minimum=1_024, short_seconds=300, long_seconds=3_600)
PROFILE = Prefix("profile", "a" * 64, 2_000)


def at(clock: str) -> str:
    return f"2026-11-30T{clock}+00:00"


def talk(number: int) -> Prefix:
    return Prefix("conversation", str(number) * 64, 2_500)


def call(clock: str, *prefixes: Prefix, read: int | None = 0, written: int = 2_000) -> Attempt:
    return Attempt(
        at=at(clock),
        provider="anthropic",
        model="claude",
        outcome="stop",
        usage=Usage(3_000, read, written, 100),
        session_id="s1",
        epoch=1,
        record_id=f"c{clock[3:5]}",
        first_token_ms=300,
        prompt_tokens=3_000,
        prefixes=prefixes,
        frozen="f",
    )


FIRST = call("08:00:00", PROFILE, talk(1))
SECOND = call("08:01:00", PROFILE, talk(2))


def warned(*attempts: Attempt, contract: CacheContract = CLAUDE) -> tuple[CacheWarning, ...]:
    return watch(attempts, lambda _: contract)


def test_a_second_call_that_reads_nothing_is_a_warning() -> None:
    (warning,) = warned(FIRST, SECOND)
    assert (warning.record_id, warning.previous_record_id) == ("c01", "c00")
    assert (warning.cause, warning.after) == ("provider", "")
    assert warning.promised == 2_500  # what was said before is still there, this turn added to it


def test_not_reported_is_not_zero() -> None:
    assert warned(FIRST, replace(SECOND, usage=Usage(3_000, None, None, 100))) == ()


def test_any_read_is_no_warning_and_the_first_call_of_a_session_never_is() -> None:
    assert warned(FIRST, replace(SECOND, usage=Usage(3_000, 1, 0, 100))) == ()
    assert warned(FIRST) == ()
    assert warned(FIRST, replace(SECOND, session_id="s2")) == ()


def test_a_prefix_that_changed_within_the_epoch_names_where_it_changed() -> None:
    # A clock above the breakpoints makes every prompt another one.
    (warning,) = warned(FIRST, call("08:01:00", Prefix("profile", "b" * 64, 2_000), talk(2)))
    assert (warning.cause, warning.after) == ("changed", "profile")
    assert "profile is not what it was" in sentence(warning)
    assert "block identity is not" in sentence(warning, "identity")


def test_what_changes_on_purpose_below_the_first_breakpoint_is_not_expected() -> None:
    summary = Prefix("summary", "c" * 64, 2_100)
    cut = call("08:01:00", PROFILE, summary, talk(2))
    (warning,) = warned(FIRST, cut)
    assert (warning.cause, warning.promised) == ("provider", 2_000)  # the profile still stands
    short = replace(PROFILE, tokens=800)
    before = call("08:00:00", short, talk(1))
    assert warned(before, call("08:01:00", short, summary, talk(2))) == ()


def test_the_same_prefix_under_the_name_of_another_breakpoint_is_the_same() -> None:
    # On the first turn there is no conversation, so its breakpoint falls to the profile's end.
    first = call("08:00:00", replace(PROFILE, after="conversation"))
    (warning,) = warned(first, SECOND)
    assert (warning.cause, warning.promised) == ("provider", 2_000)


def test_a_prefix_below_the_minimum_is_not_expected() -> None:
    # 1,127 is 110 % of the minimum.
    below, above = replace(PROFILE, tokens=1_126), replace(PROFILE, tokens=1_127)
    assert warned(call("08:00:00", below), call("08:01:00", below)) == ()
    assert len(warned(call("08:00:00", above), call("08:01:00", above))) == 1


def test_tokens_are_counted_as_the_provider_counted_the_prompt() -> None:
    half = replace(call("08:00:00", PROFILE), prompt_tokens=6_000)  # 2,000 declared are 1,000
    assert warned(half, call("08:01:00", PROFILE)) == ()


@pytest.mark.parametrize(
    ("clock", "ttls", "warnings"),
    [
        ("08:05:00", (), 1),  # none asked for means short
        ("08:05:01", (), 0),
        ("08:05:01", ("long", "short"), 1),
        ("09:00:01", ("long", "long"), 0),
        ("08:01:00", (None, None), 0),
        ("08:01:00", (None, "short"), 1),
    ],
)
def test_a_read_is_expected_within_the_lifetime_that_was_asked_for(
    clock: str, ttls: tuple[object, ...], warnings: int
) -> None:
    first = replace(FIRST, ttls=ttls)  # type: ignore[arg-type]
    assert len(warned(first, call(clock, PROFILE, talk(2)))) == warnings


@pytest.mark.parametrize(
    "changed",
    [
        {"epoch": 2},
        {"frozen": "g"},
        {"credential": "other"},
        {"model": "another"},
        {"prefixes": ()},
    ],
)
def test_where_something_else_was_asked_nothing_is_expected(changed: dict[str, object]) -> None:
    assert warned(FIRST, replace(SECOND, **changed)) == ()  # type: ignore[arg-type]


def test_a_call_that_was_never_answered_leaves_nothing_and_is_not_compared_with() -> None:
    failed = replace(FIRST, outcome="UnavailableError", first_token_ms=None)
    assert warned(failed, SECOND) == ()
    between = replace(SECOND, at=at("08:00:30"), first_token_ms=None, usage=Usage())
    assert len(warned(FIRST, between, SECOND)) == 1


def test_where_nothing_was_kept_before_either_the_minimum_is_doubted() -> None:
    (warning,) = warned(call("08:00:00", PROFILE, written=0), call("08:01:00", PROFILE))
    assert warning.cause == "minimum"
    assert "minimum may be higher" in sentence(warning)


@pytest.mark.parametrize("kind", ["key", "contents", "prefix", "none"])
def test_caches_that_promise_nothing_are_not_held_to_it(kind: str) -> None:
    contract = replace(CLAUDE, kind=kind)  # type: ignore[arg-type]
    assert warned(FIRST, SECOND, contract=contract) == ()


def test_the_providers_own_reason_is_told() -> None:
    (warning,) = warned(FIRST, replace(SECOND, miss="tools_changed"))
    assert sentence(warning).endswith("; anthropic says tools_changed")


def test_the_first_differing_block_is_found_by_hash() -> None:
    before = [("identity", "1"), ("profile", "2"), ("conversation", "3")]
    assert first_difference(before, [("identity", "1"), ("profile", "9")]) == "profile"
    assert first_difference(before, [("identity", "1"), ("goals", "2")]) == "goals"
    assert first_difference(before, before) is None
    assert first_difference([("identity", None)], [("identity", "1")]) is None  # forgotten
