"""Turns on the screen: streaming, stopping, failing, waiting."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from lila_app.costs.views import WarningInfo
from lila_app.errors import UnavailableError
from lila_app.events import (
    Confirmation,
    Notice,
    TextDelta,
    ThinkingDelta,
    ToolCall,
    ToolResult,
    Usage,
)
from lila_app.tui.record_view import read_record
from lila_app.tui.screens.confirm import ConfirmScreen
from lila_app.tui.widgets.reply import Reply
from lila_app.tui.widgets.status_line import StatusLine
from lila_app.tui.widgets.thinking import Thinking
from lila_app.tui.widgets.waiting_list import WaitingList
from tests.tui.driving import (
    chat,
    notes,
    prompt,
    running,
    say,
    screen_text,
    settled,
    state,
    text_of,
    turns,
    until,
)
from tests.tui.fake_lila import FakeLila, Hang, Pause, reply
from tests.tui.records import record
from tests.waiting import SOON


def drafts(lila: FakeLila) -> list[str]:
    """Every text kept on disk."""
    kept: list[str] = []
    for path in sorted((lila.home.state_dir / "drafts").glob("*.json")):
        found = json.loads(path.read_text())
        kept += [*found["waiting"], found["text"]]
    return [text for text in kept if text]


async def test_a_reply_is_shown_whole_as_markdown(lila: FakeLila) -> None:
    lila.script = [reply("# Head", "ing\n\nSome **bo", "ld** [text](https://example.org) [/INST]")]
    async with running(lila) as pilot:
        await say(pilot, "hello")
        await settled(pilot)
        assert lila.said == ["hello"]
        source = turns(pilot)[0].query_one(Reply).source
        assert source == "# Heading\n\nSome **bold** [text](https://example.org) [/INST]"
        assert turns(pilot)[0].exchange.reply == source


async def test_the_second_message_goes_to_the_same_session(lila: FakeLila) -> None:
    async with running(lila) as pilot:
        await say(pilot, "one")
        await settled(pilot)
        await say(pilot, "two")
        await settled(pilot)
        assert list(lila.sessions.details) == ["s1"]
        assert lila.said == ["one", "two"]


async def test_escape_stops_at_once_and_keeps_what_came(lila: FakeLila) -> None:
    lila.script = [[TextDelta("half a "), TextDelta("sentence"), Hang()]]
    async with running(lila) as pilot:
        await say(pilot, "go")
        await until(pilot, lambda: state(pilot) == "answering")
        before = time.monotonic()
        await pilot.press("escape")
        await until(pilot, lambda: state(pilot) == "stopped")
        assert time.monotonic() - before < SOON
        assert lila.stopped == ["half a sentence"]
        turn = turns(pilot)[0]
        assert (turn.exchange.reply, turn.exchange.stopped) == ("half a sentence", True)
        assert notes(pilot) == ["Stopped: this reply is not whole"]
        assert prompt(pilot).text == ""


async def test_ctrl_c_stops_a_reply_and_does_not_quit(lila: FakeLila) -> None:
    lila.script = [[TextDelta("half"), Hang()]]
    async with running(lila) as pilot:
        await say(pilot, "go")
        await until(pilot, lambda: state(pilot) == "answering")
        await pilot.press("ctrl+c")
        await until(pilot, lambda: state(pilot) == "stopped")
        assert lila.stopped == ["half"]
        assert pilot.app.is_running


async def test_stopping_before_the_message_was_accepted_gives_it_back(lila: FakeLila) -> None:
    lila.accepting.clear()
    async with running(lila) as pilot:
        await say(pilot, "take this")
        await until(pilot, lambda: state(pilot) == "reading")
        assert drafts(lila) == ["take this"]
        await pilot.press("escape")
        await until(pilot, lambda: state(pilot) == "stopped")
        await until(pilot, lambda: prompt(pilot).text == "take this")
        assert turns(pilot) == []


async def test_the_draft_goes_when_the_message_is_accepted_and_not_before(lila: FakeLila) -> None:
    lila.accepting.clear()
    lila.script = [[TextDelta("x"), Hang()]]
    async with running(lila) as pilot:
        await say(pilot, "keep me")
        await until(pilot, lambda: drafts(lila) == ["keep me"])
        lila.accepting.set()
        await until(pilot, lambda: drafts(lila) == [])


async def test_what_is_typed_is_on_disk_while_it_is_typed(lila: FakeLila) -> None:
    async with running(lila) as pilot:
        await pilot.press(*"abc")
        await until(pilot, lambda: drafts(lila) == ["abc"])
        (file,) = (lila.home.state_dir / "drafts").glob("*.json")
        assert file.stat().st_mode & 0o777 == 0o600


async def test_a_draft_left_by_a_dead_process_comes_back(lila: FakeLila, tmp_path: Path) -> None:
    folder = lila.home.state_dir / "drafts"
    folder.mkdir(parents=True)
    (folder / "default-3.json").write_text('{"waiting": ["first [/a]"], "text": "second"}')
    async with running(lila) as pilot:
        await until(pilot, lambda: prompt(pilot).text != "")
        assert prompt(pilot).text == "first [/a]\n\nsecond"
        assert lila.said == []


async def test_quitting_keeps_the_draft(lila: FakeLila) -> None:
    async with running(lila) as pilot:
        prompt(pilot).put("not yet")
        await pilot.press("ctrl+q")
        await pilot.pause()
    assert drafts(lila) == ["not yet"]


async def test_quitting_while_it_answers_stops_the_reply(lila: FakeLila) -> None:
    lila.script = [[TextDelta("half"), Hang()]]
    async with running(lila) as pilot:
        await say(pilot, "go")
        await until(pilot, lambda: state(pilot) == "answering")
        await pilot.press("ctrl+q")
        await pilot.pause()
    assert lila.stopped == ["half"]


async def test_messages_typed_while_it_answers_wait_and_are_sent_in_order(lila: FakeLila) -> None:
    lila.script = [[TextDelta("one"), Pause(), TextDelta(".")], reply("two"), reply("three")]
    async with running(lila) as pilot:
        await say(pilot, "first")
        await until(pilot, lambda: state(pilot) == "answering")
        await say(pilot, "second [x]")
        await say(pilot, "third")
        await pilot.pause()
        assert lila.said == ["first"]
        waiting = chat(pilot).query_one(WaitingList)
        assert waiting.display
        assert "second [x]" in text_of(waiting)
        assert "third" in text_of(waiting)
        await until(pilot, lambda: drafts(lila) == ["second [x]", "third"])
        lila.go_on.set()
        await until(pilot, lambda: len(lila.said) == 3)
        await settled(pilot)
        assert lila.said == ["first", "second [x]", "third"]
        assert [turn.exchange.reply for turn in turns(pilot)] == ["one.", "two", "three"]
        assert not waiting.display
        assert drafts(lila) == []


async def test_stopping_takes_waiting_messages_back_to_the_prompt(lila: FakeLila) -> None:
    lila.script = [[TextDelta("one"), Hang()]]
    async with running(lila) as pilot:
        await say(pilot, "first")
        await until(pilot, lambda: state(pilot) == "answering")
        await say(pilot, "second")
        prompt(pilot).put("third")
        await pilot.press("escape")
        await until(pilot, lambda: state(pilot) == "stopped")
        assert prompt(pilot).text == "second\n\nthird"
        assert lila.said == ["first"]


async def test_an_error_is_told_with_its_hint_and_the_message_comes_back(lila: FakeLila) -> None:
    lila.script = [[UnavailableError("nothing answered [/x]", hint="start the server")]]
    async with running(lila) as pilot:
        await say(pilot, "are you there?")
        await settled(pilot)
        assert state(pilot) == "failed"
        assert notes(pilot) == ["Error: nothing answered [/x]\nStart the server."]
        assert prompt(pilot).text == "are you there?"
        await until(pilot, lambda: drafts(lila) == ["are you there?"])
        await pilot.press("enter")
        await settled(pilot)
        assert turns(pilot)[-1].exchange.reply == "yes"


async def test_an_error_after_acceptance_and_before_a_reply_gives_the_words_back(
    lila: FakeLila,
) -> None:
    lila.script = [[Usage(10), UnavailableError("it went away")]]
    async with running(lila) as pilot:
        await say(pilot, "hello")
        await settled(pilot)
        assert prompt(pilot).text == "hello"


async def test_an_error_in_the_middle_keeps_the_partial_reply(lila: FakeLila) -> None:
    lila.script = [[TextDelta("half"), UnavailableError("it went away")]]
    async with running(lila) as pilot:
        await say(pilot, "hello")
        await settled(pilot)
        assert turns(pilot)[0].exchange.reply == "half"
        assert turns(pilot)[0].exchange.stopped
        assert prompt(pilot).text == ""
        assert [note.split(":")[0] for note in notes(pilot)] == ["Stopped", "Error"]


async def test_a_failure_holds_back_the_messages_that_wait(lila: FakeLila) -> None:
    lila.script = [[TextDelta("x"), Pause(), UnavailableError("it went away")]]
    async with running(lila) as pilot:
        await say(pilot, "first")
        await until(pilot, lambda: state(pilot) == "answering")
        await say(pilot, "second")
        lila.go_on.set()
        await settled(pilot)
        assert lila.said == ["first"]
        assert prompt(pilot).text == "second"


@pytest.mark.parametrize("bug", [ValueError("bad [/value]"), RuntimeError("")])
async def test_a_defect_below_does_not_end_the_app(lila: FakeLila, bug: Exception) -> None:
    lila.script = [[bug]]
    async with running(lila) as pilot:
        await say(pilot, "hello")
        await settled(pilot)
        (note,) = notes(pilot)
        assert f"({type(bug).__name__})" in note and "bad" not in note
        assert pilot.app.is_running
        assert prompt(pilot).text == "hello"


async def test_thinking_is_collapsed_and_never_part_of_the_reply(lila: FakeLila) -> None:
    lila.script = [[ThinkingDelta("let me [see]"), Pause(), TextDelta("yes")]]
    async with running(lila) as pilot:
        await say(pilot, "hello")
        await until(pilot, lambda: state(pilot) == "thinking")
        thinking = chat(pilot).query_one(Thinking)
        await until(pilot, lambda: "3 words" in text_of(thinking))
        lila.go_on.set()
        await settled(pilot)
        assert turns(pilot)[0].exchange.reply == "yes"
        thinking.action_show()
        assert "let me [see]" in text_of(thinking)


async def test_notices_and_tools_are_told_below_the_reply(lila: FakeLila) -> None:
    lila.script = [
        [
            Notice("a [notice]"),
            ToolCall("search", "{}"),
            ToolResult("search", "found"),
            ToolCall("memory_add", "{}"),
            ToolResult("memory_add", "Not done: the person said no.", failed=True),
            TextDelta("yes"),
        ]
    ]
    async with running(lila) as pilot:
        await say(pilot, "hello")
        await settled(pilot)
        assert notes(pilot) == [
            "Note: a [notice]",
            "Note: used the tool search",
            "Note: tool memory_add: Not done: the person said no.",
        ]


async def test_the_status_line_names_who_steps_in_while_it_answers(lila: FakeLila) -> None:
    lila.script = [[Notice("a/one is down; b/two answers", "b/two"), TextDelta("ye"), Pause()]]
    async with running(lila) as pilot:
        await say(pilot, "hello")
        await until(pilot, lambda: "two" in text_of(chat(pilot).query_one(StatusLine)))
        lila.go_on.set()
        await settled(pilot)


async def test_the_status_line_tells_model_context_and_cache(lila: FakeLila) -> None:
    lila.contexts.record = record()
    lila.script = [reply("a", read=1_420, total=1_498)]
    async with running(lila, size=(120, 30)) as pilot:
        await say(pilot, "hello")
        await settled(pilot)
        shown = text_of(chat(pilot).query_one(StatusLine))
        assert shown.startswith("ready · smol · context 1,512/2,048 · cached 1,420/1,498")
        # It is looked for once a second too, while a turn goes on.
        assert lila.contexts.asked[-1] == ("c1", None)


async def test_cache_reads_nobody_reported_are_not_shown_as_nought(lila: FakeLila) -> None:
    lila.script = [reply("a", read=None, total=1_498)]
    async with running(lila) as pilot:
        await say(pilot, "hello")
        await settled(pilot)
        assert "cached ?/1,498" in text_of(chat(pilot).query_one(StatusLine))


async def test_a_promised_read_that_did_not_come_is_told_and_only_for_that_turn(
    lila: FakeLila,
) -> None:
    lila.contexts.record = record()
    lila.script = [reply("a", read=0), reply("b", read=90)]
    id = read_record(record()).id
    lila.cache.found = (WarningInfo("", "s1", id, "anthropic/x", "provider", None, None, ""),)
    async with running(lila, size=(120, 30)) as pilot:
        await say(pilot, "hello")
        await settled(pilot)
        told = text_of(chat(pilot).query_one(StatusLine))
        assert "cached 0/120, promised: `lila cache report`" in told
        await say(pilot, "again")
        await settled(pilot)
        assert "cached 90/120 " in text_of(chat(pilot).query_one(StatusLine))


async def test_after_stopping_the_context_of_that_turn_is_shown(lila: FakeLila) -> None:
    lila.contexts.record = record()
    lila.script = [[TextDelta("half"), Hang()]]
    async with running(lila) as pilot:
        await say(pilot, "go")
        await until(pilot, lambda: state(pilot) == "answering")
        await pilot.press("escape")
        await until(pilot, lambda: "context 1,512" in text_of(chat(pilot).query_one(StatusLine)))
        assert set(lila.contexts.asked) == {("last", "s1")}


async def test_a_tool_that_changes_something_is_asked_about_and_no_is_under_enter(
    lila: FakeLila,
) -> None:
    question = Confirmation("memory_add", "{}", "Remember “the [key]”?")
    lila.script = [[question, TextDelta("kept")], [question, TextDelta("not kept")]]
    async with running(lila) as pilot:
        for key in ("y", "enter"):
            await say(pilot, "remember the key")
            await until(pilot, lambda: isinstance(pilot.app.screen, ConfirmScreen))
            await pilot.pause()
            assert "Remember “the [key]”?" in screen_text(pilot)
            await pilot.press(key)
            await settled(pilot)
        assert lila.consented == [True, False]
        assert [turn.exchange.reply for turn in turns(pilot)] == ["kept", "not kept"]


async def test_what_is_given_back_after_a_failure_is_asked_again_and_not_said_twice(
    lila: FakeLila,
) -> None:
    lila.script = [[UnavailableError("down")], [TextDelta("yes")], [TextDelta("new")]]
    lila.script[0].insert(0, Notice("looking"))
    async with running(lila) as pilot:
        await say(pilot, "are you there?")
        await until(pilot, lambda: prompt(pilot).text == "are you there?")
        await settled(pilot)
        await pilot.press("enter")
        await until(pilot, lambda: lila.retried == ["s1"])
        await settled(pilot)
        await say(pilot, "are you there?")
        await settled(pilot)
        assert lila.said == ["are you there?", "", "are you there?"]
        assert lila.retried == ["s1"]


async def test_a_partial_reply_is_asked_again_with_f5(lila: FakeLila) -> None:
    lila.script = [[TextDelta("half"), UnavailableError("reset")], [TextDelta("whole")]]
    async with running(lila) as pilot:
        await pilot.press("f5")
        assert lila.retried == []
        await say(pilot, "tell me")
        await until(pilot, lambda: len(notes(pilot)) == 2)
        assert notes(pilot)[1] == "Error: reset\nWhat came of the reply is kept; F5 asks again."
        await settled(pilot)
        await pilot.press("f5")
        await until(pilot, lambda: lila.retried == ["s1"])
        await settled(pilot)
        assert turns(pilot)[-1].exchange.reply == "whole"
