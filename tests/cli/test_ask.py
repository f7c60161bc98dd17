from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

from lila_app.errors import TruncatedReplyError
from lila_app.events import Notice, TextDelta, ThinkingDelta, ToolCall, ToolResult
from lila_app.views import ToolUseInfo
from tests.cli.conftest import Say
from tests.cli.fake import SESSION, FakeLila


def test_stdout_is_the_answer_and_nothing_else(fake: FakeLila, say: Say) -> None:
    fake.script = (
        Notice("took the other model"),
        ThinkingDelta("hm, "),
        ThinkingDelta("well"),
        ToolCall("time", "{}"),
        ToolResult("time", "noon"),
        TextDelta("It is"),
        TextDelta(" noon."),
    )
    seen = say("ask", "what", "time")
    assert seen.stdout == "It is noon.\n"
    assert seen.stderr == (
        "took the other model\nhm, well\ntool time {}\ntool time returned 4 characters\n"
    )
    assert seen.exit_code == 0


def test_a_tool_that_did_nothing_is_not_told_as_one_that_returned(fake: FakeLila, say: Say) -> None:
    refused = "Not done: it needs the person's consent, and here nobody can be asked."
    fake.script = (
        ToolCall("memory_add", "{}"),
        ToolResult("memory_add", refused, failed=True),
        TextDelta("Kept."),
    )
    assert say("ask", "remember it").stderr == f"tool memory_add {{}}\ntool memory_add: {refused}\n"


def test_json_says_what_came_and_what_it_cost(say: Say) -> None:
    seen = say("ask", "hi", "--json")
    assert json.loads(seen.stdout) == {
        "schema_version": 1,
        "text": "Hello there.",
        "session_id": "s7",
        "record_id": "c3",
        "model": "embedded/small",
        "stopped": False,
        "usage": {
            "total": 30,
            "read": None,
            "written": None,
            "output": 3,
            "written_long": None,
        },
    }
    assert seen.stderr == ""


@pytest.mark.parametrize(
    ("args", "stdin", "text"),
    [
        (["sum", "it", "up"], b"", "sum it up"),
        (["sum it up"], b"one\ntwo\n", "sum it up\n\none\ntwo"),
        (["-"], b"only this\n", "only this"),
        ([], b"\xef\xbb\xbfonly this\r\n", "only this"),
        (["a", "-", "b"], b"piped", "a b\n\npiped"),
        (["--", "--json", "is", "text"], b"", "--json is text"),
    ],
)
def test_the_message_is_the_words_then_standard_input(
    fake: FakeLila, say: Say, args: list[str], stdin: bytes, text: str
) -> None:
    assert say("ask", *args, stdin=stdin).exit_code == 0
    assert fake.asked[0]["text"] == text


def test_every_option_reaches_the_assistant(fake: FakeLila, say: Say) -> None:
    say(
        *("--profile", "work", "ask", "hi", "--use-case", "voice", "--session", "s4"),
        *("--model", "local/x", "--budget", "900", "--now", "2026-11-30T07:00:00Z"),
    )
    assert fake.profile == "work"
    assert fake.asked == [
        {
            "text": "hi",
            "use_case": "voice",
            "session": "s4",
            "model": "local/x",
            "budget": 900,
            "now": datetime(2026, 11, 30, 7, tzinfo=UTC),
            "confirm": None,
        }
    ]


def test_it_starts_a_session_unless_told_to_go_on(fake: FakeLila, say: Say) -> None:
    fake.sessions_known = (SESSION,)
    say("ask", "hi")
    say("ask", "-c", "hi")
    assert [asked["session"] for asked in fake.asked] == [None, "s7"]


def test_going_on_without_a_session_is_an_error(say: Say) -> None:
    seen = say("ask", "-c", "hi")
    assert seen.exit_code == 5
    assert seen.stderr == "error: there is no session yet\nhint: start one with `lila chat`\n"


def test_two_ways_to_name_the_session_are_one_too_many(say: Say) -> None:
    assert say("ask", "-c", "--session", "s1", "hi").exit_code == 2


def test_a_dry_run_prints_the_exact_bytes(fake: FakeLila, say: Say) -> None:
    seen = say("ask", "hi", "--dry-run")
    assert seen.stdout_bytes == b"PROMPT\nhi\r\n"
    assert ("pull", "embedded/small") not in fake.calls


def test_a_dry_run_prints_the_record_with_the_prompt(say: Say) -> None:
    seen = say("ask", "hi", "--dry-run", "--json")
    record = json.loads(seen.stdout)
    assert record["text"] == "PROMPT\nhi\r\n"
    assert record["schema_version"] == 1
    assert len(record["bytes_sha256"]) == 64


def test_a_reply_that_breaks_off_is_shown_and_explained(fake: FakeLila, say: Say) -> None:
    fake.script = (TextDelta("Half"), TruncatedReplyError("it broke off", hint="ask again"))
    seen = say("ask", "hi")
    assert seen.stdout == "Half\n"
    assert seen.stderr == "error: it broke off\nhint: ask again\n"
    assert seen.exit_code == 7


def test_a_reply_that_breaks_off_prints_no_json_document(fake: FakeLila, say: Say) -> None:
    fake.script = (TextDelta("Half"), TruncatedReplyError("it broke off"))
    seen = say("ask", "hi", "--json")
    assert (seen.stdout, seen.exit_code) == ("", 7)


def test_a_fault_of_lila_is_a_sentence_and_a_log_without_content(fake: FakeLila, say: Say) -> None:
    fake.script = (ValueError("what the person said"),)
    seen = say("ask", "hi")
    assert seen.exit_code == 70
    assert "Traceback" not in seen.stderr
    assert "what the person said" not in seen.stderr
    log = seen.stderr.split("hint: ")[1].split(" says where")[0]
    with open(log, encoding="utf-8") as file:  # noqa: PTH123
        text = file.read()
    assert "builtins.ValueError" in text
    assert "what the person said" not in text


@pytest.mark.parametrize(
    ("args", "stdin", "code", "says"),
    [
        (["ask"], b"", 2, "the message is empty"),
        (["ask", " ", "-"], b"\n\n", 2, "the message is empty"),
        (["ask", "-"], b"caf\xe9", 2, "not valid UTF-8 (byte 3)"),
        (["ask", "\udce9"], b"", 2, "not valid UTF-8"),
        (["ask", "-"], b"x" * (1024 * 1024 + 1), 2, "longer than 1 MiB"),
        (["ask", "ü" * 600_000], b"", 2, "longer than 1 MiB"),
        (["ask", "hi", "--now", "2026-11-30T07:00:00"], b"", 2, "has no zone"),
        (["ask", "hi", "--now", "today"], b"", 2, "'today' is not a time"),
        (["ask", "hi", "--budget", "0"], b"", 2, "--budget"),
        (["ask", "hi", "--bugdet", "9"], b"", 2, "--bugdet"),
        (["brief", "--now", "2026-11-30"], b"", 2, "has no zone"),
    ],
)
def test_what_cannot_be_a_request_is_refused_in_a_sentence(
    fake: FakeLila, say: Say, args: list[str], stdin: bytes, code: int, says: str
) -> None:
    seen = say(*args, stdin=stdin)
    assert seen.exit_code == code
    first, hint, *rest = seen.stderr.splitlines()
    assert first.startswith("error: ")
    assert says in first
    assert hint.startswith("hint: ")
    assert rest == []
    assert seen.stdout == ""
    assert fake.asked == []


def test_a_message_of_exactly_one_mebibyte_is_taken(fake: FakeLila, say: Say) -> None:
    assert say("ask", "-", stdin=b"x" * 1024 * 1024).exit_code == 0
    assert len(fake.asked[0]["text"]) == 1024 * 1024


def test_brief_names_the_persons_day_in_the_same_words_everywhere(
    fake: FakeLila, say: Say, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LILA_TIMEZONE", "Asia/Tokyo")
    assert say("brief", "--now", "2026-11-30T20:00:00Z").stdout == "Hello there.\n"
    assert "today, Tuesday 1 December 2026:" in fake.asked[0]["text"]
    assert fake.asked[0]["use_case"] == "briefing"


def test_retry_asks_the_last_turn_again_and_takes_no_text(fake: FakeLila, say: Say) -> None:
    fake.sessions_known = (SESSION,)
    assert say("ask", "--retry").stdout == "Hello there.\n"
    assert say("ask", "--retry", "--session", "s3").exit_code == 0
    assert [call for call in fake.calls if call[0] == "retry"] == [("retry", "s7"), ("retry", "s3")]
    refused = say("ask", "--retry", "and", "more")
    assert refused.exit_code == 2
    assert "leave out the text" in refused.stderr
    assert fake.asked == []


def test_what_tools_did_is_shown_between_the_question_and_the_answer(
    fake: FakeLila, say: Say
) -> None:
    fake.sessions_known = (SESSION,)
    fake.tools_used = (
        ToolUseInfo("t9", "memory_search", '{"query":"key"}', "[m5] With\x1b[31m\nAna", False),
        ToolUseInfo("t9", "memory_add", "{}", None, False),
    )
    lines = say("sessions", "show", "s7").stdout.splitlines()
    assert lines[-4:] == [
        "You: Where is the key?",
        '[tool memory_search {"query":"key"}: [m5] With\ufffd[31m Ana]',
        "[tool memory_add {}: no result]",
        "LILA: With Ana.",
    ]
