"""A marked key goes through everything the command line does, and is found nowhere afterwards."""

from __future__ import annotations

import base64
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from lila_app.paths import Home
from tests.cli.lila import environment
from tests.cli.terminal import terminal
from tests.keys.echoing import REPLY, Echoing, Family, Mood, echoing

pytestmark = pytest.mark.slow

KEY = "sk-marked-5b7e0c92d41f4a6e8833aa10f2c6d9be"
SIGNS = tuple(
    sign.encode()
    for sign in (KEY[:18], KEY[18:-4], base64.b64encode(KEY.encode()).decode()[:24], KEY[::-1])
)
"""A part is as bad as the whole, but for the last four characters, which are shown on purpose."""

VARIABLES = {
    "anthropic": ("ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL"),
    "openai": ("OPENAI_API_KEY", "OPENAI_BASE_URL"),
    "gemini": ("GEMINI_API_KEY", "GOOGLE_GEMINI_BASE_URL"),
}
LOUD = {
    "ANTHROPIC_LOG": "debug",
    "OPENAI_LOG": "debug",
    "PYTHONASYNCIODEBUG": "1",
    "PYTHONFAULTHANDLER": "1",
    "TERM": "dumb",
}


@dataclass
class Machine:
    """A home of its own with nothing else in it, and all that was ever said in it."""

    root: Path
    server: Echoing
    said: list[bytes] = field(default_factory=list[bytes])

    def run(self, *args: str, stdin: str = "", **env: str) -> tuple[int, str]:
        """`lila` with these arguments; its code and its stdout."""
        return self.run_module("lila_app", *args, stdin=stdin, **env)

    def run_module(self, module: str, *args: str, stdin: str = "", **env: str) -> tuple[int, str]:
        """A module in a process, with every debug switch on."""
        folders = {name: str(self.root / name) for name in ("home", "tmp", "user")}
        for folder in folders.values():
            Path(folder).mkdir(exist_ok=True)
        done = subprocess.run(
            [sys.executable, "-m", module, *args],
            input=stdin.encode(),
            capture_output=True,
            env={
                **environment(Path(folders["home"])),
                **LOUD,
                "HOME": folders["user"],
                "TMPDIR": folders["tmp"],
                **env,
            },
            timeout=100,
            check=False,
        )
        self.said += [done.stdout, done.stderr]
        return done.returncode, done.stdout.decode()

    def as_provider(self, family: Family) -> dict[str, str]:
        """The environment in which a provider is this server and has the marked key."""
        if family == "local":
            return {
                "LOCAL_KEY": KEY,
                "LILA_PROVIDERS__LOCAL__BASE_URL": f"{self.server.origin}/v1",
                "LILA_PROVIDERS__LOCAL__API_KEY_ENV": "LOCAL_KEY",
            }
        key, address = VARIABLES[family]
        return {key: KEY, address: self.address(family)}

    def address(self, family: Family) -> str:
        return f"{self.server.origin}/v1" if family == "openai" else self.server.origin

    def traces(self, *, but: Path | None = None) -> list[str]:
        """Where the key, or a part of it, was left."""
        found = [text.decode() for text in self.said if _marked(text)]
        for folder, _, files in os.walk(self.root):
            paths = (Path(folder) / name for name in files)
            found += [str(path) for path in paths if path != but and _marked(path.read_bytes())]
        return found


def _marked(data: bytes) -> bool:
    return any(sign in data for sign in SIGNS)


@pytest.fixture
def machine(tmp_path: Path) -> Iterator[Machine]:
    with echoing() as server:
        yield Machine(tmp_path, server)


def test_the_search_finds_a_key_that_was_left(machine: Machine) -> None:
    (machine.root / "x").write_text(f"somewhere {KEY[:20]} …")
    machine.said.append(KEY.encode())
    assert len(machine.traces()) == 2


@pytest.mark.slow
@pytest.mark.parametrize("family", ["anthropic", "openai", "gemini", "local"])
def test_no_provider_and_no_failure_of_one_leaves_the_key_anywhere(
    machine: Machine, family: Family
) -> None:
    env, model = machine.as_provider(family), f"{family}/m"
    code, out = machine.run("ask", "--model", model, "Good morning", **env)
    assert (code, out.strip()) == (0, REPLY)
    assert any(KEY in str(exchange.headers) for exchange in machine.server.seen)
    moods: tuple[Mood, ...] = ("refusing", "asking to wait", "page", "garbage", "in the stream")
    for mood in moods:
        machine.server.mood = mood
        code, _ = machine.run("ask", "--json", "--model", model, "And now?", **env)
        assert code != 0
    assert (machine.root / "home" / "data" / "profiles" / "default.db").exists()
    assert machine.traces() == []


def test_trying_keys_and_models_leaves_none(machine: Machine) -> None:
    families: tuple[Family, ...] = ("anthropic", "openai", "gemini")
    env = {
        name: value for family in families for name, value in machine.as_provider(family).items()
    }
    code, out = machine.run("keys", "test", **env)
    assert (code, out.count("is accepted")) == (0, 3)
    machine.server.mood = "refusing"
    assert machine.run("keys", "test", "--json", **env)[0] == 7
    assert machine.run("models", "test", "anthropic/m", **env)[0] == 7
    machine.server.mood = "well"
    machine.run("models", "test", "--json", "gemini/m", **env)
    for command in (("keys", "list"), ("models", "list"), ("doctor",), ("context", "show")):
        machine.run(*command, "--json", **env)
    assert machine.traces() == []


def test_a_crash_leaves_frames_and_no_key(machine: Machine) -> None:
    ask = ("ask", "--model", "openai/m", "Hello")
    env = machine.as_provider("openai")
    code, _ = machine.run_module("tests.keys.run_crashing", *ask, **env)
    assert code == 70
    log = (machine.root / "home" / "state" / "logs" / "lila.log").read_text()
    assert "run_crashing.py" in log and "builtins.KeyError" in log
    assert machine.traces() == []


def test_a_kept_key_is_in_its_file_and_nowhere_else(machine: Machine) -> None:
    address = {"ANTHROPIC_BASE_URL": machine.address("anthropic")}
    assert machine.run("keys", "set", "anthropic", stdin=f"{KEY}\n")[0] == 0
    kept = machine.root / "home" / "config" / "keys.toml"
    assert KEY in kept.read_text()
    code, out = machine.run("ask", "--model", "anthropic/m", "Good morning", **address)
    assert (code, out.strip()) == (0, REPLY)
    assert machine.traces(but=kept) == []
    assert machine.run("keys", "delete", "--json", "anthropic")[0] == 0
    assert machine.traces() == []


def test_a_key_in_the_wrong_place_is_not_repeated(machine: Machine) -> None:
    for args in (
        ("keys", "set", "anthropic", KEY),
        ("keys", "set", KEY),
        ("keys", "set", "anthropic", f"--key={KEY}"),
        ("keys", "test", KEY),
        ("--key-file", KEY, "keys", "list"),
        ("--key-file", f"anthropic={KEY}", "keys", "list"),
    ):
        assert machine.run(*args)[0] == 2, args
    assert machine.run("keys", "set", "anthropic", stdin=f"{KEY}\n{KEY}\n")[0] == 2
    assert machine.traces() == []


def test_a_key_handed_over_in_a_file_is_used_and_not_kept(machine: Machine) -> None:
    secret = machine.root / "secret"
    secret.write_text(f"{KEY}\n")
    address = {"OPENAI_BASE_URL": machine.address("openai")}
    code, out = machine.run(
        *("--key-file", f"openai={secret}", "ask", "--model", "openai/m", "Good morning"),
        **address,
    )
    assert (code, out.strip()) == (0, REPLY)
    assert machine.traces(but=secret) == []


@pytest.mark.parametrize("family", ["anthropic", "openai", "gemini"])
def test_debugging_switched_on_from_outside_writes_none_of_the_persons_words(
    machine: Machine, family: Family
) -> None:
    words = "quartz-heliotrope-marmalade"
    env = machine.as_provider(family)
    assert machine.run("ask", "--model", f"{family}/m", words, **env) == (0, f"{REPLY}\n")
    _, err = machine.said
    assert err == b""
    logs = machine.root / "home" / "state" / "logs"
    assert not [file for file in logs.glob("*") if words in file.read_text()]
    assert words in str(machine.server.seen[-1].body)


def test_the_chat_shows_no_key_when_a_turn_or_the_app_itself_breaks(tmp_path: Path) -> None:
    home = tmp_path / "home"
    command = ["-m", "tests.keys.run_broken_app", str(tmp_path)]
    with terminal(home, command, A_KEY=KEY) as screen:
        screen.wait_for("After the first reply")
        screen.type("Hello\r")
        shown = screen.wait_for("KeyError")
        screen.type("\x1bOP")  # F1
        code = screen.leave()
    shown += screen.seen
    assert code == 70
    assert "something went wrong inside LILA (KeyError)" in shown
    assert not _marked(shown.encode())
    log = Home.at(home).log_file.read_text()
    assert "run_broken_app.py" in log
    assert not _marked(log.encode())
