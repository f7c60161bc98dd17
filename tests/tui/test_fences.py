"""Code fences in a growing text, and how often the screen is painted in them."""

from __future__ import annotations

import asyncio
import time
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual.app import App, ComposeResult
from textual.widgets.markdown import MarkdownStream

from lila_app.tui.fences import FenceTracker
from lila_app.tui.widgets.reply import FENCE_INTERVAL, Reply
from tests.waiting import until


@pytest.mark.parametrize(
    ("text", "is_open"),
    [
        ("", False),
        ("```py\n", True),
        ("```py", False),
        ("```py\nx = 1\n```\n", False),
        ("```py\nx = 1\n```", True),
        ("````\n```\n", True),
        ("````\n```\n`````\n", False),
        ("~~~\n```\n", True),
        ("~~~ `\n", True),
        ("``` a`b\n", False),
        ("- item\n  ```sh\n", True),
        ("1. ```\n", True),
        ("> ```\n> x\n> ```\n", False),
        ("``\n", False),
        ("```\n``` not closing\n", True),
    ],
)
def test_a_fence_is_open_between_its_lines(text: str, is_open: bool) -> None:
    tracker = FenceTracker()
    tracker.feed(text)
    assert tracker.open is is_open


@given(st.text(alphabet="`~\n >-a1.", max_size=80), st.lists(st.integers(0, 80), max_size=6))
def test_where_the_text_is_cut_does_not_matter(text: str, cuts: list[int]) -> None:
    whole, pieces = FenceTracker(), FenceTracker()
    whole.feed(text)
    bounds = [0, *sorted(cuts), len(text)]
    for start, end in pairwise(bounds):
        pieces.feed(text[start:end])
    assert pieces.open is whole.open


class Bare(App[None]):
    def compose(self) -> ComposeResult:
        yield Reply()


async def test_inside_a_fence_the_screen_is_painted_ten_times_a_second_at_most(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    writes: list[str] = []
    write = MarkdownStream.write

    async def counted(self: MarkdownStream, piece: str) -> None:
        writes.append(piece)
        await write(self, piece)

    monkeypatch.setattr(MarkdownStream, "write", counted)
    app = Bare()
    async with app.run_test():
        reply = app.query_one(Reply)
        await reply.write("```\n")
        writes.clear()
        before = time.monotonic()
        for number in range(120):
            await reply.write(f"line {number}\n")
            await asyncio.sleep(0.005)
        seconds = time.monotonic() - before
        assert 2 <= len(writes) <= seconds / FENCE_INTERVAL * 2 + 2
        held = "".join(writes)
        await asyncio.to_thread(until, lambda: "".join(writes).endswith("line 119\n"))
        assert len("".join(writes)) >= len(held)
        await reply.write("```\n")
        writes.clear()
        for number in range(20):
            await reply.write(f"word {number} ")
        assert len(writes) == 20


async def test_the_end_shows_the_whole_text_whatever_was_held_back() -> None:
    app = Bare()
    async with app.run_test():
        reply = app.query_one(Reply)
        pieces = ["# a\n\n```\n", "x\n", "y\u2028z\n", "```\n", "end"]
        for piece in pieces:
            await reply.write(piece)
        await reply.finish("".join(pieces))
        assert reply.source == "".join(pieces)
