"""One holder at a time; the higher rank takes the model, equals wait their turn."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable

import pytest

from lila_app.errors import UnavailableError
from lila_app.gateway.embedded.precedence import Precedence, Rank


async def hold(
    precedence: Precedence, rank: Rank, log: list[str], name: str, until: asyncio.Event
) -> None:
    async with precedence.hold(rank) as held:
        log.append(f"{name} has it")
        loop = asyncio.get_running_loop()
        held.when_taken(lambda: loop.call_soon_threadsafe(until.set))
        await until.wait()
        log.append(f"{name} {'lost' if held.taken else 'left'} it")


class Cast:
    """Holders by name, each leaving when told."""

    def __init__(self) -> None:
        self.precedence = Precedence()
        self.log: list[str] = []
        self.until: dict[str, asyncio.Event] = {}
        self.tasks: dict[str, asyncio.Task[None]] = {}

    async def enter(self, name: str, rank: Rank) -> None:
        self.until[name] = asyncio.Event()
        self.tasks[name] = asyncio.create_task(
            hold(self.precedence, rank, self.log, name, self.until[name])
        )
        await settle()

    async def leave(self, name: str) -> None:
        self.until[name].set()
        await settle()


async def settle() -> None:
    for _ in range(10):
        await asyncio.sleep(0)


@pytest.mark.parametrize("low", [Rank.WARMING, Rank.BACKGROUND, Rank.LISTENING, Rank.CHAT])
async def test_the_higher_rank_takes_it(low: Rank) -> None:
    cast = Cast()
    await cast.enter("low", low)
    await cast.enter("voice", Rank.VOICE)
    await cast.leave("voice")
    assert cast.log == ["low has it", "low lost it", "voice has it", "voice left it"]


@pytest.mark.parametrize("second", [Rank.WARMING, Rank.BACKGROUND, Rank.CHAT])
async def test_equals_and_lower_ranks_wait(second: Rank) -> None:
    cast = Cast()
    await cast.enter("first", Rank.CHAT)
    await cast.enter("second", second)
    assert cast.log == ["first has it"]
    await cast.leave("first")
    await cast.leave("second")
    assert cast.log[1:] == ["first left it", "second has it", "second left it"]


async def test_the_highest_waiter_is_next_and_equals_go_in_order() -> None:
    cast = Cast()
    await cast.enter("voice", Rank.VOICE)
    for name, rank in (("warm", 0), ("chat 1", 3), ("background", 1), ("chat 2", 3)):
        await cast.enter(name, Rank(rank))
    for name in ("voice", "chat 1", "chat 2", "background", "warm"):
        await cast.leave(name)
    order = [line.removesuffix(" has it") for line in cast.log if line.endswith("has it")]
    assert order == ["voice", "chat 1", "chat 2", "background", "warm"]


async def test_a_waiter_that_gives_up_is_forgotten() -> None:
    cast = Cast()
    await cast.enter("first", Rank.CHAT)
    await cast.enter("second", Rank.CHAT)
    await cast.enter("third", Rank.CHAT)
    cast.tasks["second"].cancel()
    await settle()
    await cast.leave("first")
    assert cast.log[-1] == "third has it"
    await cast.leave("third")


async def test_giving_up_in_the_moment_of_being_served_passes_it_on() -> None:
    cast = Cast()
    await cast.enter("first", Rank.CHAT)
    await cast.enter("second", Rank.CHAT)
    await cast.enter("third", Rank.CHAT)
    cast.until["first"].set()
    for _ in range(2):  # first lets go; second is granted, but has not run yet
        await asyncio.sleep(0)
    cast.tasks["second"].cancel()
    await settle()
    assert cast.log[-1] == "third has it"
    await cast.leave("third")


async def test_closing_takes_it_from_the_holder_and_turns_the_others_away() -> None:
    cast = Cast()
    await cast.enter("first", Rank.CHAT)
    await cast.enter("second", Rank.CHAT)
    cast.precedence.close()
    await settle()
    assert cast.log == ["first has it", "first lost it"]
    with pytest.raises(UnavailableError, match="closed"):
        await cast.tasks["second"]
    with pytest.raises(UnavailableError, match="closed"):
        async with cast.precedence.hold(Rank.VOICE):
            pass


def test_holders_in_different_threads_and_loops_take_turns() -> None:
    precedence = Precedence()
    inside: list[int] = []
    most = 0
    lock = threading.Lock()

    async def work(rank: Rank) -> None:
        nonlocal most
        for _ in range(30):
            async with precedence.hold(rank):
                with lock:
                    inside.append(1)
                    most = max(most, len(inside))
                await asyncio.sleep(0)
                with lock:
                    inside.pop()

    def run(rank: Rank) -> Callable[[], None]:
        return lambda: asyncio.run(work(rank))

    threads = [threading.Thread(target=run(rank)) for rank in (*Rank, *Rank)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
        assert not thread.is_alive()
    assert most == 1
