"""`lila import` and `lila db export`, through the command line."""

from __future__ import annotations

import json
import re
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from lila_app.resources import Resources
from tests.cli.lila import REPOSITORY, environment, here, lila

AT = 1_700_000_000


def talk(path: Path, count: int, *, bad: int = 0) -> Path:
    records = [
        {
            "id": str(number),
            "session": f"s{number // 10}",
            "at": AT + number,
            "role": "assistant" if number % 2 else "user",
            "text": f"message {number} about larch trees",
        }
        for number in range(count)
    ]
    lines = [json.dumps(record) for record in records] + ['{"text": "x"}'] * bad
    path.write_text("\n".join(lines))
    return path


def test_a_dry_run_makes_nothing_and_says_what_would_be(tmp_path: Path) -> None:
    home = tmp_path / "home"
    done = here(home, "import", str(talk(tmp_path / "t.jsonl", 6, bad=2)), "--dry-run")
    assert done.code == 0
    assert "6 messages would be imported, 0 were here, 2 left out" in done.out
    assert "left out: t.jsonl: line 7: it has neither role nor speaker" in done.err
    assert not home.exists()


def test_what_was_left_out_is_printed_up_to_twenty_and_reported_whole(tmp_path: Path) -> None:
    home, report = tmp_path / "home", tmp_path / "left.jsonl"
    path = talk(tmp_path / "t.jsonl", 2, bad=30)
    done = here(home, "import", str(path), "--report", str(report))
    assert done.code == 0
    assert done.err.count("left out: ") == 20
    assert "30 × it has neither role nor speaker" in done.err
    named = [json.loads(line) for line in report.read_text().splitlines()]
    assert [one["where"] for one in named] == [f"t.jsonl: line {n}" for n in range(3, 33)]
    assert stat.S_IMODE(report.stat().st_mode) == 0o600


def test_what_is_left_out_is_said_once_and_adds_up_and_files_are_said_apart(
    tmp_path: Path,
) -> None:
    from tests.importing.support import chat, node, zipped

    talk = chat(
        node("a", None, "user", "Q"),
        node("b", "a", "tool", "x"),
        node("c", "b", "user", " "),
        node("d", "a", "assistant", "A"),
        current="c",
    )
    path = tmp_path / "gpt.zip"
    user = ("user.json", b"{}")
    zipped(path, [("conversations.json", json.dumps([talk]).encode()), user])
    done = here(tmp_path / "home", "import", str(path))
    assert done.err.splitlines()[:4] == [
        "left out: conversations.json: conversation 1, b (Bees): a tool returned it",
        "left out: conversations.json: conversation 1, c (Bees): it is empty",
        "left out: conversations.json: conversation 1, d (Bees): they are on a branch that was "
        "left",
        "not read: user.json: it is about the account",
    ]
    assert "×" not in done.err
    assert "1 message imported in 1 new session, 0 were here, 3 left out\n" in done.out
    (again,) = here(tmp_path / "home", "import", str(path), "--json").json["imports"]
    assert sum(count for _, count in again["reasons"]) == again["skipped"] == 3
    assert again["besides"] == [["it is about the account", 1]]


def test_times_without_a_zone_are_counted_in_whole_sentences(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    line = '{"role": "user", "text": "x", "at": "2025-01-%02dT10:00:00"}'
    path.write_text("\n".join(line % day for day in range(1, 22)))
    (tmp_path / "notes").mkdir()
    path.rename(tmp_path / "notes" / "t.jsonl")
    for number in range(21):
        (tmp_path / "notes" / f"{number}.png").write_bytes(b"x")
    done = here(tmp_path / "home", "import", str(tmp_path / "notes"), "--dry-run")
    assert "and 1 more; `--report FILE` names every one" in done.err
    assert "21 × its time has no zone; `--zone` says which one" in done.err
    assert done.err.count("not read: ") == 1
    assert "not read: 21 × images, sound and films are not imported" in done.err
    assert "0 messages would be imported, 0 were here, 21 left out\n" in done.out


def test_twice_and_then_its_status(tmp_path: Path) -> None:
    home, path = tmp_path / "home", talk(tmp_path / "t.jsonl", 20)
    assert here(home, "import", str(path), "--json").code == 0
    again = here(home, "import", str(path), "--json", "--no-learn").json
    assert again["imports"][0]["messages"] == 0
    assert again["imports"][0]["known"] == 20
    assert again["schema_version"] == 1
    status = here(home, "import", "status", "--json").json
    assert status["imports"][0]["messages"] == 20
    assert status["imports"][0]["state"] == "done"
    assert status["vectors"]["total"] == 10
    shown = here(home, "import", "status").out
    assert re.search(r"vectors: \d+ of 10 turns", shown)
    assert here(home, "db", "check").code == 0


def test_what_cannot_be_imported_is_a_sentence_and_a_hint(tmp_path: Path) -> None:
    home = tmp_path / "home"
    (tmp_path / "x.json").write_text('[{"a": 1}]')
    for arguments, code in (
        (("import", str(tmp_path / "gone")), 9),
        (("import", str(tmp_path / "x.json")), 9),
        (("import", str(tmp_path / "x.json"), "--format", "odd"), 2),
        (("import", str(tmp_path / "x.json"), "--zone", "Mars/Base"), 2),
        (("import", "files"), 2),
    ):
        done = here(home, *arguments)
        assert done.code == code, arguments
        assert done.err.startswith("error: ")
        assert "Traceback" not in done.err


def test_a_search_says_how_far_vectors_are(tmp_path: Path) -> None:
    from lila_app.importing.running import Choice, Watch, run
    from lila_app.paths import Home
    from lila_app.settings import load
    from lila_app.storage.connection import Store

    home = tmp_path / "home"
    assert here(home, "sessions", "list").code == 0
    place = Home.at(home)
    watch = Watch(lambda *_: None, lambda _: None, lambda: False, lambda: "2026-01-01T00:00:00Z")
    with Store.open(place.profile_db("default")) as store:
        run(store, talk(tmp_path / "t.jsonl", 2), Choice(load(place).zone), watch)
    found = here(home, "sessions", "search", "larch", "--json")
    assert "vectors: 0 of 1;" in found.err
    assert len(found.json["hits"]) == 1
    assert here(home, "import", "vectors").out == "1 vector\n"
    assert "vectors:" not in here(home, "sessions", "search", "larch").err


def test_an_export_and_back_through_the_command_line(tmp_path: Path) -> None:
    home, out = tmp_path / "home", tmp_path / "out"
    here(home, "import", str(talk(tmp_path / "t.jsonl", 10)))
    here(home, "memory", "add", "I", "keep", "bees")
    made = here(home, "db", "export", str(out), "--json").json
    assert made["rows"]["messages.jsonl"] == 10
    assert made["rows"]["memories.jsonl"] == 1
    told = here(home, "import", str(out), "--dry-run").out
    assert re.search(r"an export of LILA's own, would be put back: \d+ rows", told)
    refused = here(home, "import", str(out))
    assert refused.code == 2
    assert "holds something already" in refused.err
    back = here(home, "--profile", "twin", "import", str(out))
    assert back.code == 0, back.err
    shown = here(home, "--profile", "twin", "memory", "list", "--json").json
    assert [one["text"] for one in shown["memories"]] == ["I keep bees"]
    assert here(home, "--profile", "twin", "db", "check").code == 0
    assert here(home, "db", "export", str(out)).code == 2


@pytest.mark.slow
@pytest.mark.timeout(120)
def test_interrupted_it_says_how_to_go_on_and_does(tmp_path: Path) -> None:
    home, path = tmp_path / "home", talk(tmp_path / "t.jsonl", 60_000)
    command = [sys.executable, "-m", "lila_app", "import", str(path), "--no-learn"]
    with subprocess.Popen(
        command, cwd=REPOSITORY, env=environment(home), stderr=subprocess.PIPE, text=True
    ) as process:
        database = home / "data"
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and _bytes(database) < 3_000_000:
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        assert process.stderr is not None
        err = process.stderr.read()
    assert process.returncode == 130
    assert "run it again to go on from there" in err
    assert "Traceback" not in err
    done = lila(home, "import", str(path), "--no-learn", "--json").json["imports"][0]
    assert 0 < done["resumed_at"] < 60_000
    assert done["messages"] + done["known"] == 60_000 - done["resumed_at"]
    assert lila(home, "import", str(path), "--json").json["imports"][0]["known"] == 60_000


def _bytes(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*.db*") if path.is_file())


def test_an_import_says_what_follows_and_what_does_it_now(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Resources, "learn", lambda _: None)  # which may be quicker than we look
    path = talk(tmp_path / "t.jsonl", 2)
    home = tmp_path / "home"
    vectors = "vectors follow while LILA is open; `lila import vectors` does it now"
    both = (
        "vectors and learning follow while LILA is open; "
        "`lila import vectors` and `lila memory learn` do it now"
    )
    assert both not in here(home, "import", str(path), "--dry-run").err
    assert here(home, "import", str(path)).err.splitlines() == [both]
    assert here(home, "import", str(path), "--source", "b", "--json").err.splitlines() == [both]
    other = tmp_path / "other"
    assert here(other, "import", str(path), "--no-learn").err.splitlines() == [vectors]
    assert here(other, "import", "vectors").code == 0
    assert here(other, "import", str(path), "--no-learn").err == ""


def test_an_export_whose_vault_has_its_key_elsewhere_says_so_when_it_is_put_back(
    tmp_path: Path,
) -> None:
    home, other, out = tmp_path / "home", tmp_path / "other", tmp_path / "out"
    assert here(home, "paths").code == 0
    table = home / "config" / "policies" / "privacy.toml"
    table.parent.mkdir(parents=True, exist_ok=True)
    table.write_text("[storage]\nredact = true\n")
    here(home, "memory", "add", "Ada's mail is ada@example.org")
    assert here(home, "db", "export", str(out)).code == 0
    assert "ada@example.org" not in (out / "memories.jsonl").read_text()

    back = here(other, "import", str(out))
    assert back.code == 0
    (warning,) = [line for line in back.err.splitlines() if line.startswith("warning: ")]
    key = other / "config" / "vault.key"
    assert f"Copy config/vault.key of the home it comes from to {key}" in warning
    assert "the vault's key is gone" in warning
    assert "`lila privacy reset`" in warning
    key.parent.mkdir(exist_ok=True)
    key.write_bytes((home / "config" / "vault.key").read_bytes())
    key.chmod(0o600)
    (shown,) = here(other, "memory", "list", "--json").json["memories"]
    assert shown["text"] == "Ada's mail is ada@example.org"
    twin = here(home, "--profile", "twin", "import", str(out), "--json")
    assert "warning" in twin.json["imports"][0] and not twin.json["imports"][0]["warning"]

    third = tmp_path / "third"  # with a key of its own
    (third / "config" / "policies").mkdir(parents=True)
    (third / "config" / "policies" / "privacy.toml").write_bytes(table.read_bytes())
    here(third, "memory", "add", "Ben's mail is ben@example.org")
    foreign = here(third, "--profile", "twin", "import", str(out))
    assert "the key that is here reads 0 of 1 of them" in foreign.err
