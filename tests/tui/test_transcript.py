"""Long conversations stay cheap, and nothing of them is out of reach."""

from __future__ import annotations

import pytest
from textual.pilot import Pilot

from lila_app.tui.widgets import transcript
from lila_app.tui.widgets.folded_turn import FoldedTurn
from lila_app.tui.widgets.live_turn import LiveTurn
from lila_app.tui.widgets.transcript import LoadEarlier, Transcript
from lila_app.tui.widgets.welcome import Welcome
from tests.tui.driving import chat, notes, running, say, settled, text_of, turns, until
from tests.tui.fake_lila import FakeLila, reply

REPLY = "# Head\n\n- a\n- b\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```\nx\n```\n"


@pytest.fixture
def smaller(monkeypatch: pytest.MonkeyPatch) -> None:
    """The limits at a size at which a test of them is quick."""
    for name, number in (
        ("LIVE_LIMIT", 3),
        ("LIVE_AT_OPENING", 2),
        ("PAGE", 5),
        ("FOLDED_LIMIT", 10),
    ):
        monkeypatch.setattr(transcript, name, number)


def _talk(number: int) -> list[tuple[str, str | None]]:
    return [(f"question {at}", f"{REPLY}answer {at}") for at in range(1, number + 1)]


async def widgets(pilot: Pilot[None]) -> int:
    """How many there are once the number stands still."""
    before, times = -1, 0
    while times < 3:
        await pilot.pause(0.03)
        now = len(chat(pilot).query("*"))
        times, before = (times + 1 if now == before else 0), now
    return before


def folded(pilot: Pilot[None]) -> list[FoldedTurn]:
    return list(chat(pilot).query(FoldedTurn))


def live(pilot: Pilot[None]) -> list[str]:
    return [turn.exchange.user for turn in turns(pilot)]


def earlier(pilot: Pilot[None]) -> LoadEarlier:
    return chat(pilot).query_one(LoadEarlier)


async def test_opening_a_thousand_turns_makes_no_more_widgets_than_fifty(lila: FakeLila) -> None:
    assert transcript.LIVE_AT_OPENING <= transcript.LIVE_LIMIT <= 20
    small = lila.sessions.add("small", *_talk(50))
    large = lila.sessions.add("large", *_talk(1_000))
    async with running(lila, session=small) as pilot:
        of_small = await widgets(pilot)
    async with running(lila, session=large) as pilot:
        assert await widgets(pilot) == of_small < 350
        assert turns(pilot)[-1].exchange.user == "question 1000"
        hidden = 1_000 - len(turns(pilot)) - len(folded(pilot))
        assert text_of(earlier(pilot)) == f"Load earlier ({hidden} not shown; Enter or click)"


@pytest.mark.usefixtures("smaller")
async def test_load_earlier_goes_back_to_the_first_turn(lila: FakeLila) -> None:
    session = lila.sessions.add("long", *_talk(2 + 5 * 3 + 4))
    async with running(lila, session=session) as pilot:
        for hidden in (14, 9, 4):
            assert text_of(earlier(pilot)).startswith(f"Load earlier ({hidden} ")
            earlier(pilot).focus()
            await pilot.press("enter")
            await pilot.pause()
        assert not earlier(pilot).display
        shown = [turn.exchange.user for turn in folded(pilot)]
        assert shown == [f"question {at}" for at in range(1, 20)]
        assert "question 1\n" in text_of(folded(pilot)[0])


@pytest.mark.usefixtures("smaller")
async def test_a_folded_turn_opens_in_full_and_another_gives_way(lila: FakeLila) -> None:
    session = lila.sessions.add("long", *_talk(7))
    async with running(lila, session=session) as pilot:
        for opened in ("question 5", "question 3"):
            (turn,) = (turn for turn in folded(pilot) if turn.exchange.user == opened)
            turn.focus()
            await pilot.press("enter")
            await until(pilot, lambda opened=opened: opened in live(pilot))
            await pilot.pause()
        assert live(pilot) == ["question 3", "question 6", "question 7"]
        said = [
            widget.exchange.user
            for widget in chat(pilot).query_one(Transcript).children
            if isinstance(widget, LiveTurn | FoldedTurn)
        ]
        assert said == [f"question {at}" for at in range(1, 8)]


@pytest.mark.usefixtures("smaller")
async def test_older_turns_are_folded_as_the_talk_goes_on(lila: FakeLila) -> None:
    lila.script = [reply("short") for _ in range(5)]
    async with running(lila) as pilot:
        for number in range(5):
            await say(pilot, f"question {number}")
        await until(pilot, lambda: len(lila.said) == 5)
        await settled(pilot)
        assert live(pilot) == [f"question {number}" for number in (2, 3, 4)]
        assert [turn.exchange.user for turn in folded(pilot)] == ["question 0", "question 1"]
        assert "short" in text_of(folded(pilot)[0])


@pytest.mark.usefixtures("smaller")
async def test_old_folded_turns_go_behind_load_earlier_when_the_talk_goes_on(
    lila: FakeLila,
) -> None:
    session = lila.sessions.add("long", *_talk(2 + 5 * 4))
    async with running(lila, session=session) as pilot:
        for _ in range(3):
            earlier(pilot).action_load()
            await pilot.pause()
        assert len(folded(pilot)) == 20
        await say(pilot, "one more")
        await settled(pilot)
        assert len(folded(pilot)) == 10
        assert text_of(earlier(pilot)).startswith("Load earlier (10 ")


async def test_an_endless_reply_is_folded_from_the_start(lila: FakeLila) -> None:
    session = lila.sessions.add("huge", ("q", "- x\n" * transcript.LIVE_LENGTH))
    async with running(lila, session=session) as pilot:
        assert turns(pilot) == []
        assert len(text_of(folded(pilot)[0])) < 5_000


async def test_an_unanswered_turn_says_so(lila: FakeLila) -> None:
    session = lila.sessions.add("one", ("are you there?", None))
    async with running(lila, session=session) as pilot:
        assert notes(pilot) == ["Note: this message was not answered"]


async def test_an_empty_conversation_greets_and_the_greeting_goes_with_the_first_turn(
    lila: FakeLila,
) -> None:
    async with running(lila) as pilot:
        assert "Enter" in text_of(chat(pilot).query_one(Welcome))
        await say(pilot, "hello")
        await settled(pilot)
        assert list(chat(pilot).query(Welcome)) == []


async def test_the_transcript_follows_the_reply_until_the_person_scrolls_away(
    lila: FakeLila,
) -> None:
    lila.script = [reply(*[f"line {at}\n\n" for at in range(60)])]
    async with running(lila, size=(80, 24)) as pilot:
        await say(pilot, "go")
        await settled(pilot)
        shown = chat(pilot).query_one(Transcript)
        assert shown.scroll_y == shown.max_scroll_y > 0
        await pilot.press("pageup")
        await pilot.pause()
        assert shown.scroll_y < shown.max_scroll_y
        await pilot.press("pagedown")
        await pilot.pause()
        assert shown.scroll_y == shown.max_scroll_y
