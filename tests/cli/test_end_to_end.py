"""The command line over the real assistant, real store and a model server on loopback."""

from __future__ import annotations

import hashlib
import os
import re
import signal
import stat
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.lila import Outcome, here, launched, lila
from tests.cli.model_server import ModelServer, model_server
from tests.cli.terminal import CTRL_C, CTRL_Q, terminal
from tests.waiting import PATIENCE, SOON

NOW = "2026-11-30T12:00:00+01:00"


@pytest.fixture
def server(tmp_path: Path) -> Iterator[ModelServer]:
    with model_server() as made:
        made.serve_home(tmp_path)
        yield made


def _ok(home: Path, *args: str, stdin: bytes = b"") -> Outcome:
    seen = here(home, *args, stdin=stdin)
    assert seen.code == 0, seen.err
    return seen


def test_a_question_is_answered_and_what_the_model_saw_can_be_looked_at(
    tmp_path: Path, server: ModelServer
) -> None:
    assert _ok(tmp_path, "memory", "add", "The spare key is with Ana").out == "m1\n"
    said = _ok(tmp_path, "ask", "Who has the spare key?", "--now", NOW, "--json").json
    assert said == {
        "schema_version": 1,
        "text": "Hello there.",
        "session_id": "s1",
        "record_id": "c1",
        "model": "local/test",
        "stopped": False,
        "usage": {
            "total": 30,
            "read": None,
            "written": None,
            "output": 3,
            "written_long": None,
        },
    }
    assert "The spare key is with Ana" in server.prompts[0]
    assert "Who has the spare key?" in server.prompts[0]

    record = _ok(tmp_path, "context", "show", "--json").json
    memory = next(layer for layer in record["layers"] if layer["name"] == "memory")
    assert [item["id"] for item in memory["items"]] == ["m1"]
    (call,) = record["calls"]
    assert (call["model"], call["outcome"], call["tokens"]) == ("local/test", "stop", 30)
    table = _ok(tmp_path, "context", "show", "c1").out
    assert re.search(r"^layer +nominal +cap +granted +returned +borrowed +used +ms", table, re.M)
    assert re.search(r"^m1 +memory", table, re.M)
    assert "memory: Who has the spare key?" in table
    assert re.search(r"^local/test +stop", table, re.M)
    assert all(block["hash"][:16] in table for block in record["blocks"])

    assert _ok(tmp_path, "context", "replay", "c1").out.startswith("identical")
    assert _ok(tmp_path, "sessions", "show").out.splitlines()[2:] == [
        "t1  2026-11-30 11:00",
        "You: Who has the spare key?",
        "LILA: Hello there.",
    ]


@pytest.mark.slow
def test_a_question_asked_now_sees_what_is_known_too(tmp_path: Path, server: ModelServer) -> None:
    _ok(tmp_path, "memory", "add", "The spare key is with Ana")
    # In a process of its own: what a first question has to load must not cost it the layers. Where
    # much else computes a layer may miss its 400 ms all the same, but not each time.
    for _ in range(5):
        assert lila(tmp_path, "ask", "Who has the spare key?").code == 0
        if "The spare key is with Ana" in server.prompts[-1]:
            return
    raise AssertionError("its layers never answered in time")


def test_a_dry_run_prints_exactly_what_would_be_sent_and_calls_nobody(
    tmp_path: Path, server: ModelServer
) -> None:
    how = ("ask", "Wer hat den Schlüssel?", "--now", NOW, "--dry-run")
    record = _ok(tmp_path, *how, "--json").json
    prompt = _ok(tmp_path, *how).out
    assert record["text"] == prompt
    assert record["bytes_sha256"] == hashlib.sha256(prompt.encode()).hexdigest()
    assert record["token_budget"]["used"] <= record["token_budget"]["limit"]
    assert server.prompts == []
    assert _ok(tmp_path, "sessions", "list", "--json").json["sessions"] == []


def test_what_is_piped_in_is_part_of_the_question(tmp_path: Path, server: ModelServer) -> None:
    _ok(tmp_path, "ask", "Sum this up:", "--now", NOW, stdin="Grüße\naus Wien\n".encode())
    assert server.prompts[0].rstrip().endswith("Sum this up:\n\nGrüße\naus Wien")


def test_a_briefing_uses_its_own_policy(tmp_path: Path, server: ModelServer) -> None:
    assert _ok(tmp_path, "brief", "--now", NOW).out == "Hello there.\n"
    assert "today, Monday 30 November 2026" in server.prompts[0]
    record = _ok(tmp_path, "context", "show", "--json").json
    assert record["meta"]["use_case"] == "briefing"


def test_a_conversation_goes_on_forks_and_is_erased(tmp_path: Path, server: ModelServer) -> None:
    _ok(tmp_path, "chat", "--plain", stdin=b"My cat is called Miso\n")
    server.pieces = ("Noted.",)
    _ok(tmp_path, "ask", "-c", "She is grey")
    assert "Miso" in server.prompts[1]
    assert _ok(tmp_path, "sessions", "fork", "last", "--through", "t1").out == "s2\n"
    assert _ok(tmp_path, "sessions", "rename", "s1", "The", "cat").out == "s1  The cat\n"
    listed = _ok(tmp_path, "sessions", "--json").json["sessions"]
    assert {row["id"]: row["turns"] for row in listed} == {"s1": 2, "s2": 1}
    assert _ok(tmp_path, "sessions", "search", "grey", "--json").json["hits"][0]["session_id"] == (
        "s1"
    )
    assert "s1" in _ok(tmp_path, "sessions", "delete", "s1").out
    assert here(tmp_path, "sessions", "show", "s1").code == 5


def test_goals_and_notes_stand_in_the_prompt(tmp_path: Path, server: ModelServer) -> None:
    _ok(tmp_path, "goal", "set", "Finish", "the", "report")
    _ok(tmp_path, "ask", "hi")
    _ok(tmp_path, "sessions", "note", "waiting", "for", "Jo")
    _ok(tmp_path, "sessions", "open", "report.odt")
    prompt = _ok(tmp_path, "ask", "-c", "And now?", "--dry-run").out
    assert "Finish the report" in prompt
    assert "waiting for Jo" in prompt
    assert "report.odt" in prompt
    assert _ok(tmp_path, "goal", "done", "g1").out == "g1 is done\n"
    assert "Finish the report" not in _ok(tmp_path, "ask", "-c", "And now?", "--dry-run").out
    assert _ok(tmp_path, "goal", "list", "--all", "--json").json["goals"][0]["status"] == "done"


def test_a_memory_is_found_and_forgotten(tmp_path: Path, server: ModelServer) -> None:
    _ok(tmp_path, "memory", "add", "Allergic to hazelnuts", "--core", "--pinned")
    found = _ok(tmp_path, "memory", "search", "hazelnuts", "--json").json["hits"]
    assert found[0]["memory"]["pinned"] is True
    _ok(tmp_path, "ask", "What can I eat?", "--now", NOW)
    assert "hazelnuts" in server.prompts[0]
    assert _ok(tmp_path, "memory", "forget", "m1").out.startswith("erased m1")
    seen = here(tmp_path, "context", "replay", "c1")
    assert (seen.code, seen.out) == (1, "unreplayable: erased\n")
    assert b"hazelnuts" not in b"".join(p.read_bytes() for p in _files(tmp_path))


def test_relations_are_followed(tmp_path: Path) -> None:
    _ok(tmp_path, "graph", "add", "Ana", "works at", "Blue Harbor", "--from", "2024-03-01")
    _ok(tmp_path, "graph", "add", "Jo", "sister of", "Ana")
    path = _ok(tmp_path, "graph", "path", "Jo", "Blue Harbor", "--json").json["relations"]
    assert [relation["id"] for relation in path] == ["r2", "r1"]
    assert "works at" in _ok(tmp_path, "graph", "show", "Ana").out
    before = _ok(tmp_path, "graph", "show", "Ana", "--now", "2024-01-01T00:00:00Z").out
    assert "works at" not in before
    assert here(tmp_path, "graph", "show", "Nobody").code == 5


def test_documents_go_in_and_one_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    folder = tmp_path / "papers"
    folder.mkdir()
    (folder / "house.md").write_text("# House\n\nThe boiler was serviced in May.\n")
    (folder / "broken.pdf").write_bytes(b"%PDF-1.7 nothing else")
    seen = _ok(tmp_path, "ingest", str(folder), "--json")
    assert seen.json["added"] == 1
    assert "broken.pdf" in seen.err
    prompt = _ok(tmp_path, "ask", "When was the boiler serviced?", "--dry-run").out
    assert "serviced in May" in prompt
    assert _ok(tmp_path, "ingest", str(folder)).out.startswith("0 added, 0 changed, 1 unchanged")
    nothing = here(tmp_path, "ingest", str(folder / "broken.pdf"))
    assert nothing.code == 9
    assert here(tmp_path, "ingest", str(tmp_path / "missing")).code in (2, 9)
    (folder / "house.md").unlink()
    assert "1 removed" in _ok(tmp_path, "ingest", str(folder)).out


def test_the_store_is_checked_saved_and_put_back(tmp_path: Path) -> None:
    _ok(tmp_path, "memory", "add", "one")
    copy = tmp_path / "copy.db"
    assert _ok(tmp_path, "db", "backup", str(copy)).out == f"{copy}\n"
    assert stat.S_IMODE(copy.stat().st_mode) == 0o600
    _ok(tmp_path, "memory", "add", "two")
    kept = _ok(tmp_path, "db", "restore", str(copy), "--json").json["kept"]
    assert Path(kept).exists()
    assert len(_ok(tmp_path, "memory", "list", "--json").json["memories"]) == 1
    checked = _ok(tmp_path, "db", "check", "--json").json
    assert checked["problems"] == []
    assert checked["counts"]["memories"] == 1
    store = Path(_ok(tmp_path, "db", "path").out.strip())
    assert stat.S_IMODE(store.stat().st_mode) == 0o600


def test_a_store_that_no_longer_opens_can_be_replaced_by_its_backup(tmp_path: Path) -> None:
    _ok(tmp_path, "memory", "add", "one")
    copy, store = tmp_path / "copy.db", tmp_path / "data" / "profiles" / "default.db"
    _ok(tmp_path, "db", "backup", str(copy))
    for file in store.parent.glob("default.db*"):
        file.write_bytes(b"no longer a database" * 1000)
    assert here(tmp_path, "memory", "list").code == 4
    kept = _ok(tmp_path, "db", "restore", str(copy), "--json").json["kept"]
    assert Path(kept).read_bytes().startswith(b"no longer")
    assert len(_ok(tmp_path, "memory", "list", "--json").json["memories"]) == 1
    elsewhere = tmp_path / "other"
    assert _ok(elsewhere, "db", "restore", str(copy)).out == f"restored {copy}\n"
    assert len(_ok(elsewhere, "memory", "list", "--json").json["memories"]) == 1


def test_two_records_are_compared(tmp_path: Path, server: ModelServer) -> None:
    _ok(tmp_path, "ask", "one thing", "--now", NOW)
    _ok(tmp_path, "ask", "another thing", "--now", NOW)
    assert "bytes_sha256" in _ok(tmp_path, "context", "diff", "c1", "c2").out
    assert _ok(tmp_path, "context", "show", "--at", NOW, "--json").json["meta"]["record_id"] == "c2"


def test_a_model_is_chosen_listed_and_tried(tmp_path: Path, server: ModelServer) -> None:
    assert _ok(tmp_path, "models", "default").out == "local/test\n"
    listed = _ok(tmp_path, "models", "--json").json["models"]
    assert {"embedded/smollm2-135m", "local/test"} <= {row["name"] for row in listed}
    small = next(row for row in listed if row["name"] == "embedded/smollm2-135m")
    assert "small" in small["note"]
    tried = here(tmp_path, "models", "test")
    assert tried.out.startswith("ok   reach: local/test")
    settings = tmp_path / "config" / "settings.toml"
    before = settings.read_text()
    assert _ok(tmp_path, "models", "default", "ollama/llama3.2").out == "ollama/llama3.2\n"
    assert settings.read_text() == before.replace("local/test", "ollama/llama3.2")


def test_a_policy_of_ones_own_is_shown_checked_and_refused_when_wrong(tmp_path: Path) -> None:
    own = Path(_ok(tmp_path, "policy", "path").out.splitlines()[0])
    assert own == tmp_path / "config" / "policies"
    assert "conversation" in _ok(tmp_path, "policy", "show", "chat").out
    assert "the tables are in order" in _ok(tmp_path, "policy", "check").out
    own.mkdir(parents=True, exist_ok=True)
    (own / "chat.toml").write_text("budget = 1\n")
    looked_at = _ok(tmp_path, "policy", "check").out
    assert "chat.toml is not read" in looked_at
    assert looked_at.endswith("the tables can be used as they are\n")
    (own / "allocation.toml").write_text("[chat]\n\tbudget = \n")
    seen = here(tmp_path, "policy", "check")
    assert seen.code == 3
    assert str(own / "allocation.toml") in seen.err


@pytest.mark.slow
def test_ctrl_c_at_a_terminal_keeps_what_was_said_and_what_came(
    tmp_path: Path, server: ModelServer
) -> None:
    server.pieces, server.hang = ("Hello", " there. ", "And then. So"), True
    with terminal(tmp_path, ["-m", "lila_app", "chat", "--plain"]) as screen:
        screen.wait_for("You: ")
        screen.type("Tell me everything\n")
        screen.wait_for("LILA: ")
        screen.wait_for("Hello there. And then. ")  # what is no whole sentence waits
        screen.type(CTRL_C)
        start = time.monotonic()
        screen.wait_for("[stopped; what came so far is kept]")
        assert time.monotonic() - start < 2 * SOON
        screen.wait_for("You: ")
        screen.type("/quit\n")
        assert screen.leave() == 0
    assert server.gone.wait(PATIENCE)
    turn = _ok(tmp_path, "sessions", "show", "--json").json["turns"][0]
    assert (turn["user"], turn["reply"], turn["stopped"]) == (
        "Tell me everything",
        "Hello there. And then. So",
        True,
    )


@pytest.mark.slow
def test_lila_alone_at_a_terminal_is_the_full_screen_chat(
    tmp_path: Path, server: ModelServer
) -> None:
    with terminal(tmp_path, ["-m", "lila_app"], COLUMNS="100", LINES="30") as screen:
        screen.wait_for("\x1b[?1049h")
        screen.wait_for("new conversation")
        screen.type("hello")
        screen.type("\r")
        screen.wait_for("there")
        screen.type(CTRL_Q)
        assert screen.leave() == 0
        assert "\x1b[?1049l" in screen.seen
    assert _ok(tmp_path, "sessions", "show", "--json").json["turns"][0]["user"] == "hello"


@pytest.mark.slow
def test_an_interrupted_script_exits_130_and_keeps_it_too(
    tmp_path: Path, server: ModelServer
) -> None:
    server.hang = True
    with launched(tmp_path, "-m", "lila_app", "ask", "Tell me everything") as process:
        assert process.stdout is not None
        said = b""
        while b"there." not in said:
            said += os.read(process.stdout.fileno(), 100) or pytest.fail("it ended by itself")
        process.send_signal(signal.SIGINT)
        assert process.wait(PATIENCE) == 130
    turn = _ok(tmp_path, "sessions", "show", "--json").json["turns"][0]
    assert (turn["reply"], turn["stopped"]) == ("Hello there.", True)


def test_profiles_know_nothing_of_each_other(tmp_path: Path) -> None:
    _ok(tmp_path, "--profile", "work", "memory", "add", "The launch is on Friday")
    assert _ok(tmp_path, "--profile", "work", "memory", "list", "--json").json["memories"]
    assert _ok(tmp_path, "memory", "list", "--json").json["memories"] == []


@pytest.mark.parametrize(
    ("args", "code", "says"),
    [
        (("ask", "hi", "--use-case", "dinner"), 2, "there is no use case 'dinner'"),
        (("ask", "hi", "--session", "s99"), 5, "s99"),
        (("ask", "hi", "--model", "nowhere/x"), 2, "nowhere"),
        (("ask", "hi", "--budget", "20"), 6, "fixed parts"),
        (("context", "show", "c99"), 5, "c99"),
        (("context", "show"), 5, "no context record"),
        (("goal", "done", "g99"), 5, "g99"),
        (("memory", "forget", "m99"), 5, "m99"),
        (("models", "adopt", "missing.gguf"), 8, "missing.gguf"),
        (("db", "restore", "missing.db"), 5, "missing.db"),
        (("sessions", "show"), 5, "there is no session yet"),
    ],
)
def test_what_is_not_there_is_said_in_a_sentence_with_its_code(
    tmp_path: Path, server: ModelServer, args: tuple[str, ...], code: int, says: str
) -> None:
    seen = here(tmp_path, *args)
    assert seen.code == code, seen.err
    assert says in seen.err
    assert seen.err.startswith("error: ")
    assert "\nhint: " in seen.err
    assert "Traceback" not in seen.err
    assert seen.out == ""


def test_a_server_that_is_gone_is_said_and_the_words_are_kept(
    tmp_path: Path, server: ModelServer
) -> None:
    settings = tmp_path / "config" / "settings.toml"
    settings.write_text(server.settings.replace(str(server.server_port), "9"))
    seen = here(tmp_path, "ask", "Are you there?")
    assert seen.code == 7
    assert seen.err.startswith("error: ")
    assert _ok(tmp_path, "sessions", "show", "--json").json["turns"][0]["user"] == "Are you there?"


def test_a_home_that_cannot_be_made_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    seen = here(tmp_path / "file", "sessions")
    assert seen.code == 4
    assert "is a file where LILA needs a folder" in seen.err


def test_settings_with_a_typo_are_refused_with_the_right_word(tmp_path: Path) -> None:
    (tmp_path / "config").mkdir()
    (tmp_path / "config" / "settings.toml").write_text('timezon = "UTC"\n')
    seen = here(tmp_path, "sessions")
    assert seen.code == 3
    assert "hint: did you mean timezone?" in seen.err


def _files(folder: Path) -> Iterator[Path]:
    return (path for path in folder.rglob("*") if path.is_file())
