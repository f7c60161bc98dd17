"""Who is left alone for a while: a model that keeps failing, and all where there is no way out."""

from __future__ import annotations

import asyncio

from lila_app.errors import UnavailableError, UnreachableError
from lila_app.gateway.calls.means import About
from lila_app.testing import Scripted
from tests.gateway.bench import DOWN, GONE, Bench, model, switches, text


async def test_three_failures_in_a_row_open_and_the_floor_answers_until_a_probe_succeeds() -> None:
    bench = Bench(model("a/one", *[DOWN] * 4, "Well again."), model("embedded/small", *["Me."] * 4))
    for _ in range(3):
        assert text(await bench.ask()) == "Me."
    assert len(bench.models[0].requests) == 3
    bench.clock.advance(30)
    assert text(await bench.ask()) == "Me."  # the probe failed; there is no second attempt
    assert len(bench.models[0].requests) == 4
    bench.clock.advance(60)
    assert text(await bench.ask()) == "Well again."


async def test_twenty_at_half_open_make_one_request_upstream() -> None:
    bench = Bench(
        model("a/one", *[DOWN] * 3, Scripted(("Well ", "again"), delay=0.01)),
        model("embedded/small", *["Me."] * 30),
    )
    await bench.ask()
    await bench.ask()
    bench.clock.advance(31)
    replies = await asyncio.gather(*(bench.ask() for _ in range(20)))
    assert sorted(text(events) for events in replies) == ["Me."] * 19 + ["Well again"]
    why = {switched.why for events in replies for switched in switches(events)}
    assert why == {"a/one is just being tried by another call: it kept failing"}
    assert len(bench.models[0].requests) == 4


async def test_when_all_are_left_alone_nobody_is_asked_past_the_breaker() -> None:
    bench = Bench(model("a/one", *[DOWN] * 3), model("b/two", *[DOWN] * 3))
    await bench.fails(UnavailableError)
    await bench.fails(UnavailableError)
    error = await bench.fails(UnavailableError)
    assert str(error) == "b/two is left alone for 30 s more: it kept failing"
    assert [len(model.requests) for model in bench.models] == [3, 3]


async def test_another_key_has_a_breaker_of_its_own() -> None:
    about: dict[str, About] = {"a/one": About("k1")}
    bench = Bench(model("a/one", *[DOWN] * 3, "Me."), about=about)
    await bench.fails(UnavailableError)
    await bench.fails(UnavailableError)
    about["a/one"] = About("k2")
    assert text(await bench.ask()) == "Me."


async def test_an_outage_of_ten_minutes_costs_the_threshold_and_the_probes() -> None:
    # A question every ten seconds, for ten minutes. The first makes two attempts, the second one,
    # which opens at 10 s (and 0.75 s of waiting). Probes: at 50 (30 s later, at the next
    # question), 110 (60), 230 (120), 470 (240). The next would be at 710.
    bench = Bench(model("a/one", *[DOWN] * 7), model("embedded/small", *["Me."] * 60))
    for _ in range(60):
        assert text(await bench.ask()) == "Me."
        bench.clock.advance(10)
    assert len(bench.models[0].requests) == 3 + 4


async def test_offline_is_found_out_once_and_again_when_its_time_is_over() -> None:
    bench = Bench(
        model("a/one", GONE, GONE), model("b/two", GONE, "On line."),
        model("embedded/small", *["Me."] * 3),
        about={"embedded/small": About(local=True)},
    )  # fmt: skip
    assert text(await bench.ask()) == "Me."
    (switched,) = switches(await bench.ask())
    assert switched.why == "no model beyond this machine could be reached a moment ago"
    assert [len(model.requests) for model in bench.models] == [1, 1, 2]
    bench.clock.advance(20)
    assert text(await bench.ask()) == "On line."


async def test_being_offline_is_nobodys_ill_health() -> None:
    bench = Bench(
        model("a/one", *[GONE] * 5, "Back."), model("embedded/small", *["Me."] * 5),
        about={"embedded/small": About(local=True)},
    )  # fmt: skip
    for _ in range(5):
        await bench.ask()
        bench.clock.advance(20)
    assert text(await bench.ask()) == "Back."


async def test_one_provider_that_cannot_be_reached_does_not_keep_the_others_away() -> None:
    bench = Bench(model("a/one", GONE, GONE), model("b/two", "1", "2"))
    assert [text(await bench.ask()) for _ in range(2)] == ["1", "2"]


async def test_a_server_on_this_machine_is_asked_again_as_soon_as_it_is_started() -> None:
    bench = Bench(model("ollama/m", *[GONE] * 9, "Up."), about={"ollama/m": About(local=True)})
    for _ in range(9):
        await bench.fails(UnreachableError)
    assert text(await bench.ask()) == "Up."
