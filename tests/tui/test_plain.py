"""No text whatever takes the app down or reaches the terminal as a command."""

from __future__ import annotations

import asyncio
import unicodedata
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from textual.app import App, ComposeResult
from textual.widget import Widget

from lila_app.errors import UnavailableError
from lila_app.events import Notice, TextDelta, ThinkingDelta
from lila_app.tui.exchange import Exchange
from lila_app.tui.plain import one_line, plain, visible
from lila_app.tui.record_view import read_record
from lila_app.tui.screens.ask_line import AskLineScreen
from lila_app.tui.screens.choose_model import ChooseModelScreen
from lila_app.tui.screens.confirm import ConfirmScreen
from lila_app.tui.session_model import Phase, Status
from lila_app.tui.weights import Missing
from lila_app.tui.widgets.context_panel import ContextPanel
from lila_app.tui.widgets.fetch_bar import FetchBar
from lila_app.tui.widgets.folded_turn import FoldedTurn
from lila_app.tui.widgets.live_turn import LiveTurn
from lila_app.tui.widgets.note import Note
from lila_app.tui.widgets.prompt import Prompt
from lila_app.tui.widgets.status_line import StatusLine
from lila_app.tui.widgets.thinking import Thinking
from lila_app.tui.widgets.title_bar import TitleBar
from lila_app.tui.widgets.waiting_list import WaitingList
from lila_app.tui.widgets.welcome import Welcome
from tests.tui.driving import prompt, running, say, screen_text, settled
from tests.tui.fake_lila import FakeLila
from tests.tui.records import record

NASTY = (
    "[/INST] [data: 1-609b-] [b]x[/c] [@click=app.quit]x[/] $primary \\[ [",
    "\x1b]52;c;AAAA\x07\x1b[2J\x9b31m\x00\x7f\r\n\ud800",
    "# h\n\n```[/x]\n~~~\n| a | [b |\n|--|--|\n> - 1. [l](javascript:x) ![i]( <b>&#27;[1m",
    "\u2028\u2029\x0b\x0c\x85\u202e\u200d",
    "  \n\t\n",
)

texts = st.one_of(
    st.sampled_from(NASTY),
    st.text(alphabet=st.characters(exclude_categories=()), max_size=60),
    st.text(alphabet="[]/@=#$\\`~*_-|<>&;:()!\n abc\x1b", max_size=60),
)


@given(texts)
def test_visible_text_holds_nothing_a_terminal_obeys(text: str) -> None:
    shown = visible(text)
    bad = [c for c in shown if unicodedata.category(c) in ("Cc", "Cs") and c not in "\n\t"]
    assert bad == []
    assert str(plain(text)) == shown


@given(st.text(alphabet=st.characters(exclude_categories=("Cc", "Cs"))))
def test_visible_text_leaves_ordinary_text_alone(text: str) -> None:
    assert visible(text) == text


@given(texts, st.integers(1, 30))
def test_one_line_is_one_line_of_that_length(text: str, limit: int) -> None:
    line = one_line(text, limit)
    assert "\n" not in line
    assert len(line) <= limit


def _nasty_record(text: str) -> dict[str, object]:
    found = record()
    found["query"] = {"memory": text}
    found["dropped_items"] = [
        {"id": text, "layer": text, "reason": text, "source": text, "tokens": 1}
    ]
    found["blocks"] = [{"name": text, "lifetime": text, "tokens": 1, "hash": text}]
    found["erased"] = text
    return found


class Gallery(App[None]):
    """Every widget, holding one text."""

    CSS_PATH = str(Path(__file__).parents[2] / "lila_app" / "tui" / "lila.tcss")

    def __init__(self, text: str) -> None:
        super().__init__()
        self._text = text

    def compose(self) -> ComposeResult:
        text = self._text
        yield TitleBar(text)
        yield Welcome(text)
        yield Prompt()
        yield WaitingList()
        yield StatusLine()
        yield Thinking()
        yield FetchBar()
        yield ContextPanel()
        widgets: list[Widget] = [
            Note("error", text, text),
            FoldedTurn(Exchange(text, text, True).noted("error", text, text)),
            LiveTurn(Exchange(text, text, True).noted("notice", text, text)),
        ]
        yield from widgets

    async def fill(self) -> None:
        text = self._text
        self.title = text
        self.query_one(Prompt).put(text)
        self.query_one(WaitingList).say((text,) * 5)
        self.query_one(StatusLine).status = Status(Phase.READY, text, 1, 2, 3, None)
        self.query_one(TitleBar).conversation = text
        thinking = self.query_one(Thinking)
        thinking.add(text)
        thinking.action_show()
        self.query_one(FetchBar).begin(text)
        self.query_one(ContextPanel).show(read_record(_nasty_record(text)))


async def _show(text: str) -> None:
    app = Gallery(text)
    async with app.run_test(size=(80, 100)) as pilot:
        await app.fill()
        await pilot.pause()
    empty: App[None] = App()
    async with empty.run_test() as pilot:
        for screen in (
            ConfirmScreen(text, yes=text, no=text),
            AskLineScreen(text, text),
            ChooseModelScreen(Missing(text, text, (text,))),
        ):
            await empty.push_screen(screen)
            await pilot.pause()
            await empty.pop_screen()


async def test_every_widget_shows_the_worst_texts() -> None:
    await _show("".join(NASTY))


@pytest.mark.slow
@settings(max_examples=25)
@given(texts)
def test_every_widget_shows_any_text(text: str) -> None:
    asyncio.run(_show(text))


async def _talk(text: str, cut: int) -> None:
    with TemporaryDirectory() as folder:
        lila = FakeLila(Path(folder))
        lila.sessions.add(text, (text, text), (text, None))
        lila.contexts.record = _nasty_record(text)
        pieces = [TextDelta(text[at : at + cut]) for at in range(0, len(text), cut)]
        failure = UnavailableError(text, hint=text)
        lila.script = [[ThinkingDelta(text), *pieces, Notice(text), failure]]
        async with running(lila, size=(120, 40), session="s1") as pilot:
            await say(pilot, f"x{text}")
            await settled(pilot)
            pilot.app.notify(text, title=text)
            await pilot.pause()
            shown = screen_text(pilot)
            await pilot.press("f2")
            await pilot.pause()
            shown += screen_text(pilot)
            assert prompt(pilot).app.is_running
        assert not set(shown) & set("\x1b\x07\x9b\x00\x7f\r")
        shown.encode("utf-8")


async def test_the_worst_texts_may_come_from_anywhere_in_a_whole_turn() -> None:
    await _talk("".join(NASTY), 3)


@pytest.mark.slow
@settings(max_examples=15)
@given(texts, st.integers(1, 9))
def test_any_text_may_come_from_anywhere_in_a_whole_turn(text: str, cut: int) -> None:
    asyncio.run(_talk(text, cut))
