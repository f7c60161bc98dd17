from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from lila_app.errors import UnavailableError
from lila_app.events import TextDelta
from tests.cli.conftest import Say
from tests.cli.fake import SESSION, FakeLila
from tests.cli.lila import environment, launched
from tests.cli.terminal import CTRL_C, CTRL_D, Terminal, terminal

FAKE = ("-m", "tests.cli.run_fake")


def test_in_a_pipe_every_line_is_a_message_and_stdout_holds_the_answers(
    fake: FakeLila, say: Say
) -> None:
    seen = say("chat", "--plain", stdin="one\n\ntwo\\\nmore\n")
    assert seen.stdout == "Hello there.\nHello there.\n"
    assert seen.stderr == ""
    assert [asked["text"] for asked in fake.asked] == ["one", "two\nmore"]


def test_lila_alone_without_a_terminal_is_the_plain_chat(fake: FakeLila, say: Say) -> None:
    assert say(stdin="hi\n").stdout == "Hello there.\n"
    assert fake.asked[0]["text"] == "hi"


def test_a_conversation_stays_in_its_session_until_a_new_one_is_wanted(
    fake: FakeLila, say: Say
) -> None:
    fake.sessions_known = (SESSION,)
    say("chat", "--plain", "-c", stdin="one\ntwo\n/new\nthree\n/switch s7\nfour\n")
    assert [asked["session"] for asked in fake.asked] == ["s7", "s7", None, "s7"]


def test_retry_asks_the_last_message_of_the_session_again(fake: FakeLila, say: Say) -> None:
    assert say("chat", "--plain", stdin="one\n/retry\n").stdout == "Hello there.\n" * 2
    assert [asked["text"] for asked in fake.asked] == ["one"]
    assert ("retry", "s7") in fake.calls
    refused = say("chat", "--plain", stdin="/retry\n")
    assert refused.exit_code == 2
    assert "nothing was asked in this session yet" in refused.stderr


def test_a_command_nobody_knows_is_not_said_to_the_model(fake: FakeLila, say: Say) -> None:
    seen = say("chat", "--plain", stdin="/quti\nhi\n")
    assert seen.exit_code == 2
    assert "there is no command /quti" in seen.stderr
    assert fake.asked == []


def test_words_that_begin_with_a_slash_can_be_said(fake: FakeLila, say: Say) -> None:
    say("chat", "--plain", stdin=" /etc is a folder\n/a/b is one too\n/quit\nnever\n")
    assert [asked["text"] for asked in fake.asked] == [" /etc is a folder", "/a/b is one too"]


def test_in_a_pipe_a_failed_turn_ends_the_run_with_its_code(fake: FakeLila, say: Say) -> None:
    fake.script = (TextDelta("Half"), UnavailableError("nothing answered"))
    seen = say("chat", "--plain", stdin="one\ntwo\n")
    assert (seen.exit_code, seen.stdout) == (7, "Half\n")
    assert len(fake.asked) == 1


@pytest.mark.parametrize(
    ("stdin", "says"), [(b"caf\xe9\n", "UTF-8"), (b"x" * 2_000_000, "longer than 1 MiB")]
)
def test_a_line_that_cannot_be_a_message_is_refused(
    fake: FakeLila, say: Say, stdin: bytes, says: str
) -> None:
    seen = say("chat", "--plain", stdin=stdin)
    assert seen.exit_code == 2
    assert says in seen.stderr
    assert fake.asked == []


def _answered(screen: Terminal) -> None:
    screen.wait_for("LILA: Hello there.\n")
    # Keys typed before line editing is on again belong to the terminal, not to it.
    screen.wait_for("You: ")


def test_a_person_sees_labels_and_lines_and_no_drawing(tmp_path: Path) -> None:
    with terminal(tmp_path, [*FAKE, "answers", "chat", "--plain"]) as screen:
        screen.wait_for("You: ")
        screen.type("hi\n")
        _answered(screen)
        screen.type("/help\n")
        said = screen.wait_for("/quit")
        assert "/context" in said
        screen.type("/quit\n")
        assert screen.leave() == 0
        assert "\x1b[?1049h" not in said + screen.seen


def test_a_line_ending_in_a_backslash_goes_on(tmp_path: Path) -> None:
    with terminal(tmp_path, [*FAKE, "answers", "chat", "--plain"]) as screen:
        screen.wait_for("You: ")
        screen.type("one\\\n")
        screen.wait_for("...: ")
        screen.type("two\n")
        _answered(screen)
        screen.type(CTRL_D)
        assert screen.leave() == 0


def test_ctrl_c_at_the_prompt_drops_the_line_and_only_twice_leaves(tmp_path: Path) -> None:
    with terminal(tmp_path, [*FAKE, "answers", "chat", "--plain"]) as screen:
        screen.wait_for("You: ")
        screen.type("half a th")
        screen.wait_for("half a th")
        screen.interrupt("[Ctrl-C again or Ctrl-D leaves]")
        screen.wait_for("You: ")
        screen.type("hi\n")
        _answered(screen)
        screen.interrupt("[Ctrl-C again or Ctrl-D leaves]")
        screen.wait_for("You: ")
        screen.interrupt("stopped")
        assert screen.leave() == 130


def test_ctrl_c_stops_the_reply_and_the_chat_goes_on(tmp_path: Path) -> None:
    with terminal(tmp_path, [*FAKE, "never-ends", "chat", "--plain"]) as screen:
        for _ in range(2):
            screen.wait_for("You: ")
            screen.type("hi\n")
            screen.wait_for("LILA: It begins. And then. ")  # what is no whole sentence waits
            screen.type(CTRL_C)
            assert "So" in screen.wait_for("[stopped; what came so far is kept]")
        screen.wait_for("You: ")
        screen.type(CTRL_D)
        assert screen.leave() == 0


def test_at_a_terminal_a_failed_turn_is_explained_and_the_chat_goes_on(tmp_path: Path) -> None:
    with terminal(tmp_path, [*FAKE, "fails", "chat", "--plain"]) as screen:
        for _ in range(2):
            screen.wait_for("You: ")
            screen.type("hi\n")
            screen.wait_for("error: nothing answered\nhint: start the server\n")
        screen.wait_for("You: ")
        screen.type(CTRL_D)
        assert screen.leave() == 0


def test_what_the_model_writes_reaches_the_terminal_without_its_control_characters(
    tmp_path: Path,
) -> None:
    with terminal(tmp_path, [*FAKE, "rude", "ask", "hi"]) as screen:
        screen.wait_for("a\ufffd]0;owned\ufffdb. ")
        assert screen.leave() == 0


def test_a_person_who_waits_sees_that_something_happens(tmp_path: Path) -> None:
    with terminal(tmp_path, [*FAKE, "answers", "ask", "hi"]) as screen:
        said = screen.wait_for("Hello there.\n")
        assert said.endswith("LILA is reading …\r\x1b[KHello there.\n")
        assert screen.leave() == 0


def test_a_script_that_is_interrupted_says_where_the_partial_reply_is(tmp_path: Path) -> None:
    with launched(tmp_path, *FAKE, "never-ends", "ask", "hi") as process:
        assert process.stdout is not None
        assert process.stderr is not None
        said = b""
        while said != b"It begins. And then. So":
            said += os.read(process.stdout.fileno(), 100) or pytest.fail("it ended by itself")
        process.send_signal(signal.SIGINT)
        assert process.stdout.read() == b"\n"
        explained = process.stderr.read().decode()
    assert process.returncode == 130
    assert explained.startswith("stopped\nhint: your message and what came of the reply are kept; ")
    assert "lila ask --session s7" in explained


def test_a_terminal_is_asked_before_anything_is_erased(tmp_path: Path) -> None:
    with terminal(tmp_path, [*FAKE, "answers", "memory", "forget", "m5"]) as screen:
        said = screen.wait_for("[y/N]: ")
        assert "Forget m5 for good: The spare key is\ufffd[31m with Ana?" in said
        screen.type("n\n")
        assert screen.leave() == 130
        assert "erased" not in screen.seen
    with terminal(tmp_path, [*FAKE, "answers", "memory", "forget", "m5", "--yes"]) as screen:
        screen.wait_for("erased m5")
        assert screen.leave() == 0


def test_a_tool_that_changes_something_is_asked_about_at_a_terminal(tmp_path: Path) -> None:
    for key, given in (("y\n", True), ("\n", False), (CTRL_D, None)):
        with terminal(tmp_path, [*FAKE, "consent", "ask", "hi"]) as screen:
            said = screen.wait_for("[y/N]: ")
            assert 'Shall I?\ntool memory_add {"text":"x"}\n' in said
            assert "Remember “the\ufffd[31m key”?" in said
            screen.type(key)
            if given is None:
                assert screen.leave() == 130, "leaving the question leaves the turn"
            else:
                screen.wait_for(f"consent: {given}")
                assert screen.leave() == 0


def test_ctrl_c_at_the_question_stops_the_turn_at_once(tmp_path: Path) -> None:
    with terminal(tmp_path, [*FAKE, "consent", "chat", "--plain"]) as screen:
        screen.wait_for("You: ")
        screen.type("hi\n")
        assert 'LILA: Shall I?\ntool memory_add {"text":"x"}\n' in screen.wait_for("[y/N]: ")
        screen.interrupt("[stopped; what came so far is kept]")
        screen.wait_for("You: ")
        screen.type(CTRL_D)
        assert screen.leave() == 0


def test_without_a_terminal_nobody_is_asked(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, *FAKE, "consent", "ask", "hi"],
        input=b"y\n",
        capture_output=True,
        env=environment(tmp_path),
        timeout=60,
        check=True,
    )
    assert done.stdout == b"Shall I?consent: nobody\n"
