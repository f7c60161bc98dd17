"""Every fault of every wire, through a whole turn: somebody answers, or what came is kept."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from contextlib import aclosing
from pathlib import Path
from typing import cast

import pytest

from lila_app.assistant import Lila, open_lila
from lila_app.errors import GatewayError
from lila_app.events import Done, Notice, TextDelta, TurnEvent
from lila_app.paths import Home
from lila_app.storage import ledger
from lila_app.storage.connection import Store
from lila_app.storage.ledger import UsageRow
from lila_app.testing import FakeClock, ScriptedProvider
from tests.contracts import serving
from tests.contracts.openai_server import KEY as OPENAI_KEY
from tests.contracts.serving import Fault
from tests.contracts.wires import LIMITS, Wire, anthropic, compatible, google, openai
from tests.stories.crash_child import HashEmbedder

FLOOR = "embedded/small"

POLICY = """
[calling]
backoff_ms = 1
[calling.chat]
deadline_seconds = {deadline}
first_token_seconds = {first}
stall_seconds = {stall}
"""


WIRES = {"anthropic": anthropic, "openai": openai, "gemini": google, "compatible": compatible}


@pytest.fixture(params=WIRES)
def wire(request: pytest.FixtureRequest) -> Iterator[Wire]:
    opening = cast(Callable[..., object], WIRES[str(request.param)])
    with opening() as opened:  # type: ignore[attr-defined]
        yield opened


@pytest.fixture
def floor() -> ScriptedProvider:
    return ScriptedProvider("I am here.", name=FLOOR, limits=LIMITS)


@pytest.fixture
def lila(
    home: Path, wire: Wire, floor: ScriptedProvider, request: pytest.FixtureRequest
) -> Iterator[Lila]:
    varied = cast(dict[str, object], getattr(request.node, "callspec").params)  # noqa: B009
    _policy(home, fault=cast("Fault | None", varied.get("fault")))
    chain = (wire.provider, floor)
    with open_lila(home, provider=chain, clock=FakeClock(), embedder=HashEmbedder()) as opened:
        yield opened


def _policy(home: Path, more: str = "", *, fault: Fault | None = None) -> None:
    """More patience than any test needs, and where a fault takes patience a second of it."""
    deadline = first = stall = 60
    if fault is not None and fault.kind == "stall":
        stall = 1
        if not fault.after:
            deadline = first = 1
    elif fault is not None and fault.retry_after is not None:
        deadline = 3  # less than it asks for
    folder = Home.at(home).policies_dir
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "gateway.toml").write_text(
        POLICY.format(deadline=deadline, first=first, stall=stall) + more, encoding="utf-8"
    )


def told(lila: Lila, into: list[TurnEvent]) -> None:
    """Ask, and keep what is told, also before an error."""

    async def run() -> None:
        async with aclosing(lila.turn("Good morning")) as events:
            async for event in events:
                into.append(event)

    asyncio.run(run())


def text(events: Sequence[TurnEvent]) -> str:
    return "".join(event.text for event in events if isinstance(event, TextDelta))


def rows(lila: Lila) -> list[UsageRow]:
    with Store.open(lila.home.profile_db("default"), read_only=True) as store:
        return ledger.list_usage(store)


@pytest.mark.parametrize("fault", serving.BEFORE, ids=str)
def test_before_the_first_token_the_next_answers_and_each_attempt_is_kept(
    fault: Fault, lila: Lila, wire: Wire
) -> None:
    wire.server.fail(fault, times=2)
    events: list[TurnEvent] = []
    told(lila, events)
    assert text(events) == "I am here."
    assert isinstance(events[-1], Done) and events[-1].model == FLOOR
    (notice,) = [event.text for event in events if isinstance(event, Notice)]
    assert notice.endswith(f"; {FLOOR} answers")
    *failed, last = rows(lila)
    assert (f"{last.provider}/{last.model}", last.finished) == (FLOOR, "stop")
    assert failed and all(row.finished.endswith("Error") for row in failed)
    assert {f"{row.provider}/{row.model}" for row in failed} == {wire.provider.name}
    assert all(row.record_id == "c1" for row in (*failed, last))
    if fault is serving.REFUSED:
        assert [row.finished for row in failed] == ["UnreachableError"]
    else:
        assert len(failed) == wire.asked  # whatever was sent is accounted for
    (turn,) = lila.sessions.show("s1").turns
    assert (turn.reply, turn.stopped, turn.model) == ("I am here.", False, FLOOR)


@pytest.mark.parametrize("fault", serving.AFTER, ids=str)
def test_after_the_first_token_what_came_is_kept_and_said_to_be_partial(
    fault: Fault, lila: Lila, wire: Wire, floor: ScriptedProvider
) -> None:
    wire.server.fail(fault)
    events: list[TurnEvent] = []
    with pytest.raises(GatewayError) as caught:
        told(lila, events)
    assert "--retry" in caught.value.hint
    came = text(events)
    assert came and came != "Hello" and "Hello".startswith(came)
    (turn,) = lila.sessions.show("s1").turns
    assert (turn.reply, turn.stopped, turn.model) == (came, True, wire.provider.name)
    assert [row.finished for row in rows(lila)] == [type(caught.value).__name__]
    assert (wire.asked, floor.requests) == (1, [])


@pytest.mark.parametrize("fault", serving.HARMLESS, ids=str)
def test_a_slow_first_token_is_waited_for(fault: Fault, lila: Lila, wire: Wire) -> None:
    wire.server.fail(fault)
    events: list[TurnEvent] = []
    told(lila, events)
    assert text(events) == "Hello"
    assert [(row.model, row.finished) for row in rows(lila)] == [
        (wire.provider.name.partition("/")[2], "stop")
    ]


def test_one_hiccup_is_over_at_the_second_attempt(lila: Lila, wire: Wire) -> None:
    wire.server.fail(serving.OVERLOADED)
    events: list[TurnEvent] = []
    told(lila, events)
    assert text(events) == "Hello"
    assert [row.finished for row in rows(lila)] == ["UnavailableError", "stop"]
    assert wire.asked == 2


def test_the_outage_of_a_wire_costs_three_requests_and_then_a_probe(
    lila: Lila, wire: Wire, floor: ScriptedProvider
) -> None:
    floor.enqueue(*["Me."] * 9)
    wire.server.fail(serving.BROKEN, times=4)
    for _ in range(5):
        told(lila, [])
    assert wire.asked == 3
    clock = cast(FakeClock, lila._resources.clock)  # pyright: ignore[reportPrivateUsage]
    clock.advance(31)
    told(lila, [])
    assert wire.asked == 4
    clock.advance(61)
    events: list[TurnEvent] = []
    told(lila, events)
    assert text(events) == "Hello"


def test_twenty_callers_at_half_open_make_one_request(
    lila: Lila, wire: Wire, floor: ScriptedProvider
) -> None:
    floor.enqueue(*["Me."] * 30)
    wire.server.fail(serving.BROKEN, times=3)
    told(lila, [])
    told(lila, [])
    resources = lila._resources  # pyright: ignore[reportPrivateUsage]
    cast(FakeClock, resources.clock).advance(31)
    request = floor.requests[0]

    async def one() -> str:
        pieces: list[str] = []
        called = resources.caller.stream((wire.provider, floor), request)
        async with aclosing(called) as events:
            async for event in events:
                pieces += [event.text] if isinstance(event, TextDelta) else []
        return "".join(pieces)

    async def twenty() -> list[str]:
        return await asyncio.gather(*(one() for _ in range(20)))

    before = wire.asked
    assert sorted(asyncio.run(twenty())) == ["Hello"] + ["Me."] * 19
    assert wire.asked == before + 1


@pytest.mark.parametrize(
    ("name", "address", "key"),
    [
        ("anthropic/claude-sonnet-5-5", "ANTHROPIC_BASE_URL", "ANTHROPIC_API_KEY"),
        ("openai/gpt-6.1-terra", "OPENAI_BASE_URL", "OPENAI_API_KEY"),
        ("gemini/gemini-3.8-flash", "GOOGLE_GEMINI_BASE_URL", "GOOGLE_API_KEY"),
    ],
)
def test_the_declared_chain_holds_for_models_that_were_only_named(
    name: str, address: str, key: str, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opening = cast(Callable[..., object], WIRES[name.partition("/")[0]])
    _policy(home, '[jobs]\nreply = ["vllm/m"]\n')
    with opening() as named, compatible() as other:  # type: ignore[attr-defined]
        named.server.fail(serving.BROKEN, times=2)
        base = named.server.origin + ("/v1" if name.startswith("openai/") else "")
        monkeypatch.setenv(address, base)
        monkeypatch.setenv(key, OPENAI_KEY)
        monkeypatch.setenv("LILA_MODEL", name)
        monkeypatch.setenv("LILA_PROVIDERS__VLLM__BASE_URL", f"{other.server.origin}/v1")
        with open_lila(home, clock=FakeClock(), embedder=HashEmbedder()) as lila:
            events: list[TurnEvent] = []
            told(lila, events)
            found = rows(lila)
            parents = [lila.contexts.show(id)["meta"]["parent_record_id"] for id in ("c1", "c2")]
        assert isinstance(events[-1], Done) and events[-1].model == "vllm/m"
        assert [row.finished for row in found] == ["UnavailableError", "UnavailableError", "stop"]
        assert all(row.credential for row in found[:2])
        assert len({row.credential for row in found[:2]}) == 1
        # The other one cannot call tools, so it got a prompt without them, in a linked record.
        assert [row.record_id for row in found] == ["c1", "c1", "c2"]
        assert parents == [None, "c1"]
