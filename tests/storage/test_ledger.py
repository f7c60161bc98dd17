from __future__ import annotations

import math
import subprocess
from dataclasses import replace

import pytest

from lila_app.storage import check, contents, forget, ledger, memories, ratios, reuse, sessions
from lila_app.storage.connection import Store
from lila_app.storage.contents import ContentRow
from lila_app.storage.ledger import PrefixRow, Spent, UsageRow
from lila_app.storage.ratios import RatioRow
from lila_app.storage.reuse import Place
from tests.processes import child, outcome
from tests.storage.builders import AT, LATER, answered, places_of, save, session

PROVIDER = UsageRow(AT, None, "openai", "small", 900, 800, None, 40, 120, 900, "stop")
PROFILE = PrefixRow("profile", "a" * 64, 700, "long")
TALK = PrefixRow("conversation", "b" * 64, 900, "short")


def call(store: Store, at: str, *prefixes: PrefixRow, **changed: object) -> UsageRow:
    """A call with a record of its own, kept."""
    record = save(store, None, [])
    row = replace(PROVIDER, at=at, record_id=record, use_case="chat", prefixes=prefixes, **changed)
    ledger.add_usage(store, row)
    return row


def time(clock: str) -> str:
    return f"2026-11-30T{clock}+00:00"


def test_the_ledger_keeps_what_was_reported_and_what_was_not(store: Store) -> None:
    _, record_id = answered(store, session(store), "hello", "hi", [])
    row = UsageRow(LATER, record_id, "ollama", "tiny", 900, None, None, 0, None, 800, "stopped")
    ledger.add_usage(store, PROVIDER)
    ledger.add_usage(store, row)
    assert ledger.list_usage(store) == [PROVIDER, row]
    assert ledger.list_usage(store, limit=1) == [row]
    assert ledger.of_record(store, record_id) == [row]


def test_a_call_comes_back_with_everything_that_was_known_of_it(store: Store) -> None:
    one = session(store)
    row = call(
        store,
        AT,
        PROFILE,
        TALK,
        session_id=one,
        epoch=2,
        written=50,
        written_long=20,
        credential="12ab34cd",
        job="summary",
        slot="background",
        prompt_tokens=850,
        frozen="f" * 64,
        response_id="msg_1",
        miss="tools_changed",
        missed=700,
        cost=18_900_000_000,
        cost_note="estimated",
        prices="prices of 2026-11",
    )
    assert ledger.list_usage(store) == [row]


def test_calls_can_be_listed_by_time(store: Store) -> None:
    rows = [call(store, time(clock)) for clock in ("08:00:00", "09:00:00", "10:00:00")]
    assert ledger.list_usage(store, since=time("09:00:00")) == rows[1:]
    assert ledger.list_usage(store, until=time("09:00:00")) == rows[:1]
    assert ledger.list_usage(store, since=time("10:30:00+01:00"[:8])) == []


def test_the_last_whole_call_of_an_epoch_is_that_of_the_same_model(store: Store) -> None:
    one, other = session(store), session(store)
    wanted = call(store, time("08:00:00"), TALK, session_id=one, epoch=1)
    call(store, time("08:01:00"), session_id=one, epoch=1, finished="TruncatedReplyError")
    call(store, time("08:02:00"), session_id=one, epoch=1, finished="stopped")
    call(store, time("08:03:00"), session_id=one, epoch=1, model="large")
    call(store, time("08:04:00"), session_id=one, epoch=2)
    call(store, time("08:05:00"), session_id=other, epoch=1)
    assert ledger.last_whole(store, one, 1, "openai", "small") == wanted
    assert ledger.last_whole(store, one, 3, "openai", "small") is None


def test_spending_is_summed_over_a_stretch_and_unpriced_calls_are_counted(store: Store) -> None:
    for clock, cost in (("07:59:59", 1), ("08:00:00", 20), ("09:00:00", None), ("10:00:00", 300)):
        call(store, time(clock), cost=cost)
    assert ledger.spent(store, time("08:00:00"), time("10:00:00")) == Spent(20, 1)
    assert ledger.spent(store, time("11:00:00"), time("12:00:00")) == Spent(0, 0)


def test_a_gap_is_measured_between_calls_with_one_prefix_and_the_first_has_none(
    store: Store,
) -> None:
    place = Place("chat", "openai", "small", "profile")
    call(store, time("08:00:00"), PROFILE)
    call(store, time("08:02:00"), replace(PROFILE, sha256="c" * 64))
    call(store, time("08:10:00"), PROFILE)
    call(store, time("08:10:30"), PROFILE)
    assert reuse.gaps(store, place) == (30, 600, math.inf, math.inf)
    assert reuse.places(store) == [place]


def test_a_prefix_is_the_same_whichever_breakpoint_it_ended_at_before(store: Store) -> None:
    # Breakpoints that fall together have the name of the last of them.
    call(store, time("08:00:00"), replace(PROFILE, after="conversation"))
    call(store, time("08:01:00"), PROFILE, TALK)
    assert reuse.gaps(store, Place("chat", "openai", "small", "profile")) == (60,)


def test_the_breakpoint_that_moves_with_the_conversation_is_used_again_by_the_next_turn(
    store: Store,
) -> None:
    one = session(store)
    for number, clock in enumerate(("08:00:00", "08:01:00", "08:03:00")):
        turn = replace(TALK, sha256=str(number) * 64)
        call(store, time(clock), PROFILE, turn, session_id=one, epoch=1)
    place = Place("chat", "openai", "small", "conversation")
    assert reuse.gaps(store, place) == (120, 60, math.inf)
    changed = replace(PROFILE, sha256="d" * 64)
    call(store, time("08:04:00"), changed, TALK, session_id=one, epoch=1)
    call(store, time("08:05:00"), PROFILE, TALK, session_id=one, epoch=2)
    assert reuse.gaps(store, place)[0] == 60  # the very same bytes, in another epoch
    assert reuse.gaps(store, place)[1] == math.inf


def test_other_models_and_credentials_share_no_cache(store: Store) -> None:
    call(store, time("08:00:00"), PROFILE)
    call(store, time("08:01:00"), PROFILE, credential="other")
    call(store, time("08:02:00"), PROFILE, model="large")
    assert reuse.gaps(store, Place("chat", "openai", "small", "profile")) == (math.inf, math.inf)
    assert reuse.gaps(store, Place("chat", "openai", "large", "profile")) == (math.inf,)


def test_a_call_the_provider_never_read_leaves_nothing_to_read(store: Store) -> None:
    call(store, time("08:00:00"), PROFILE, finished="UnavailableError", first_token_ms=None)
    call(store, time("08:01:00"), PROFILE, finished="TruncatedReplyError", first_token_ms=9)
    assert reuse.gaps(store, Place("chat", "openai", "small", "profile")) == (math.inf,)


def test_only_the_latest_200_gaps_count(store: Store) -> None:
    record = save(store, None, [])
    row = replace(PROVIDER, record_id=record, use_case="chat", prefixes=(PROFILE,))
    with store.write() as connection:
        for _ in range(205):
            ledger.add_usage(connection, row)
    found = reuse.gaps(store, Place("chat", "openai", "small", "profile"))
    assert found == (0,) * 200


def test_prefix_hashes_go_when_something_in_their_record_is_forgotten(store: Store) -> None:
    memory = memories.add(store, "Zebulon keeps pelargoniums", at=AT)
    one = session(store)
    held = save(store, None, [(memory.id, memory.digest, memory.text)])
    row = replace(
        PROVIDER, record_id=held, session_id=one, use_case="chat", prefixes=(PROFILE, TALK)
    )
    ledger.add_usage(store, row)
    call(store, LATER, replace(PROFILE, sha256="c" * 64))
    forget.forget_memory(store, memory.id, at=LATER)
    kept = ledger.list_usage(store)
    assert [len(call.prefixes) for call in kept] == [0, 1]
    assert kept[0] == replace(row, prefixes=())  # what it cost stays
    for digest in (PROFILE.sha256, TALK.sha256):  # in no column, also not in a lineage
        assert places_of(store.path, digest) == []
    ledger.add_usage(store, row)  # a call that was under way meanwhile
    assert ledger.list_usage(store)[-1].prefixes == ()
    assert places_of(store.path, PROFILE.sha256) == []


def test_the_check_finds_a_hash_that_should_have_gone(store: Store) -> None:
    call(store, AT, PROFILE)
    assert check.check(store).problems == ()
    with store.write() as connection:
        connection.execute("update records set erased = 1, inputs = null")
    (found,) = check.check(store).problems
    assert (found.kind, found.where) == ("records", "c1")
    assert "hashes of its prompt are kept" in found.detail


def test_prefix_hashes_without_a_record_are_not_kept(store: Store) -> None:
    ledger.add_usage(store, replace(PROVIDER, prefixes=(PROFILE,)))
    ledger.add_usage(store, replace(PROVIDER, record_id="c99", prefixes=(PROFILE,)))
    assert [row.prefixes for row in ledger.list_usage(store)] == [(), ()]


def test_deleting_a_session_takes_its_prefix_hashes_and_leaves_what_it_cost(store: Store) -> None:
    one = session(store)
    row = replace(
        PROVIDER, record_id=save(store, one, []), session_id=one, prefixes=(PROFILE,), cost=5
    )
    ledger.add_usage(store, row)
    sessions.delete(store, one, at=LATER)
    assert ledger.list_usage(store) == [replace(row, prefixes=())]
    assert places_of(store.path, PROFILE.sha256) == []


CACHE = ContentRow("cachedContents/1", "gemini", "g", "e" * 64, "s1", 5_000, LATER)


def test_explicit_caches_are_kept_replaced_and_dropped(store: Store) -> None:
    contents.keep(store, CACHE)
    contents.keep(store, replace(CACHE, tokens=6_000))
    contents.keep(store, replace(CACHE, name="cachedContents/2", model="other"))
    assert contents.list_contents(store, "gemini", "g") == (replace(CACHE, tokens=6_000),)
    contents.drop(store, CACHE.name)
    assert contents.list_contents(store, "gemini", "g") == ()


def test_after_a_forgetting_no_explicit_cache_matches_and_its_name_stays_to_be_deleted(
    store: Store,
) -> None:
    contents.keep(store, CACHE)
    memory = memories.add(store, "Zebulon keeps pelargoniums", at=AT)
    forget.forget_memory(store, memory.id, at=LATER)
    assert contents.list_contents(store, "gemini", "g") == (replace(CACHE, key=""),)
    assert places_of(store.path, CACHE.key) == []


def test_the_largest_ratio_of_a_model_stays_with_its_date(store: Store) -> None:
    first = RatioRow("openai", "small", 11_000, 2_000, AT)
    ratios.observe(store, first)
    ratios.observe(store, replace(first, ratio=10_500, at=LATER))
    assert ratios.largest(store, "openai", "small") == first
    larger = replace(first, ratio=15_600, tokens=3_000, at=LATER)
    ratios.observe(store, larger)
    ratios.observe(store, replace(first, model="other"))
    assert ratios.every(store) == [replace(first, model="other"), larger]
    assert ratios.largest(store, "openai", "none") is None


_PROBE = """
import sys
from pathlib import Path
from lila_app.storage import breakers
from lila_app.storage.connection import Store
with Store.open(Path(sys.argv[1])) as store:
    print("ready", flush=True)
    sys.stdin.readline()
    def probe(row):
        if row.probing:
            return row, "refused"
        return breakers.BreakerRow(row.failures, row.until, 1.0, row.opened, row.reason), "probe"
    print(breakers.change(store, "anthropic/x", probe))
"""


def test_of_several_processes_one_becomes_the_probe(store: Store) -> None:
    children = [child(_PROBE, str(store.path), stdin=subprocess.PIPE) for _ in range(3)]
    for one in children:
        assert one.stdout is not None
        assert one.stdout.readline() == "ready\n"
    for one in children:
        assert one.stdin is not None
        one.stdin.write("go\n")
        one.stdin.flush()
    said = sorted(outcome(one).strip() for one in children)
    assert said == ["probe", "refused", "refused"]


def test_of_many_threads_one_becomes_the_probe(store: Store) -> None:
    from concurrent.futures import ThreadPoolExecutor

    from lila_app.storage import breakers
    from lila_app.storage.breakers import BreakerRow

    def probe(row: BreakerRow) -> tuple[BreakerRow, bool]:
        return (row, False) if row.probing else (replace(row, probing=1.0), True)

    with Store.open(store.path) as second, ThreadPoolExecutor(8) as pool:
        stores = [store, second] * 10
        told = list(pool.map(lambda one: breakers.change(one, "key", probe), stores))
    assert sum(told) == 1
    assert breakers.get(store, "key") == BreakerRow(probing=1.0)
    assert breakers.get(store, "another") == BreakerRow()


def test_a_change_that_fails_changes_nothing(store: Store) -> None:
    from lila_app.storage import breakers
    from lila_app.storage.breakers import BreakerRow

    def broken(row: BreakerRow) -> tuple[BreakerRow, None]:
        raise ValueError(row)

    with pytest.raises(ValueError, match="BreakerRow"):
        breakers.change(store, "key", broken)
    assert breakers.get(store, "key") == BreakerRow()
