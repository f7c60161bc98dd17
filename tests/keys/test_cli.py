"""`lila keys` on the command line."""

from __future__ import annotations

import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from lila_app.paths import Home
from tests.cli.lila import environment, here
from tests.cli.terminal import terminal
from tests.keys.echoing import Echoing, Mood, echoing
from tests.keys.rings import Keeping

KEY = "sk-test-0123456789abcdef"


@pytest.fixture
def server() -> Iterator[Echoing]:
    with echoing() as running:
        yield running


def test_a_key_is_kept_listed_and_deleted(home: Path, ring: Keeping) -> None:
    done = here(home, "keys", "set", "openai", stdin=f"{KEY}\n".encode())
    assert (done.code, done.out) == (0, "openai: …cdef is kept in the keyring (test ring)\n")
    listed = here(home, "keys", "list", "--json").json["keys"]
    assert [(info["provider"], info["source"], info["key"]) for info in listed] == [
        ("anthropic", "", ""),
        ("openai", "keyring", "…cdef"),
        ("gemini", "", ""),
    ]
    assert "openai     …cdef   keyring (test ring)" in here(home, "keys").out
    gone = here(home, "keys", "delete", "openai", "--json").json
    assert gone["deleted"] == ["test ring"]
    assert ring.kept == {}
    assert here(home, "keys", "delete", "openai").code == 5


def test_without_a_keyring_it_is_the_file_that_path_names(home: Path) -> None:
    where = here(home, "keys", "path")
    assert here(home, "keys", "set", "anthropic", stdin=KEY.encode()).code == 0
    file = Path(where.out.strip())
    assert KEY in file.read_text()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert "no keyring" in where.err
    paths = here(home, "keys", "path", "--json").json
    assert (paths["file"], paths["keyring"]) == (str(Home.at(home).keys_file), "")


def test_what_comes_before_the_kept_key_is_said(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GEMINI_API_KEY", "another")
    done = here(home, "keys", "set", "gemini", stdin=KEY.encode())
    assert "another key comes first: environment (GEMINI_API_KEY)" in done.err
    done = here(home, "keys", "delete", "gemini")
    assert "a key is still there: environment (GEMINI_API_KEY)" in done.err


def test_servers_of_ones_own_have_keys_too(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert here(home, "keys", "set", "box", stdin=KEY.encode()).code == 2
    monkeypatch.setenv("LILA_PROVIDERS__BOX__BASE_URL", "http://127.0.0.1:9/v1")
    assert here(home, "keys", "set", "box", stdin=KEY.encode()).code == 0
    assert "box" in here(home, "keys", "list").out


@pytest.mark.parametrize("stdin", [b"", b"\n", b"two words\n"])
def test_no_key_on_stdin_is_an_error_of_use(home: Path, stdin: bytes) -> None:
    done = here(home, "keys", "set", "anthropic", stdin=stdin)
    assert done.code == 2
    assert "is not a key" in done.err


@pytest.mark.parametrize(
    ("mood", "code", "says"),
    [
        ("well", 0, "the key is accepted by"),
        ("refusing", 7, "refused the key"),
        ("asking to wait", 7, "asks to wait"),
        ("page", 7, "not with a list of models"),
    ],
)
@pytest.mark.parametrize("provider", ["anthropic", "openai", "gemini", "box"])
def test_trying_a_key_says_what_the_provider_said(
    home: Path,
    server: Echoing,
    monkeypatch: pytest.MonkeyPatch,
    provider: str,
    mood: Mood,
    code: int,
    says: str,
) -> None:
    versioned = provider in ("openai", "box")
    address = f"{server.origin}/v1" if versioned else server.origin
    monkeypatch.setenv(f"LILA_PROVIDERS__{provider.upper()}__BASE_URL", address)
    server.mood = mood
    assert here(home, "keys", "set", provider, stdin=KEY.encode()).code == 0
    done = here(home, "keys", "test", provider)
    assert (done.code, says in done.out) == (code, True)
    assert KEY not in done.out + done.err
    (asked,) = server.seen
    paths = {"anthropic": "/v1/models?limit=1", "gemini": "/v1beta/models?pageSize=1"}
    assert (asked.method, asked.path) == ("GET", paths.get(provider, "/v1/models"))
    header = "x-goog-api-key" if provider == "gemini" else "authorization"
    assert asked.headers[header].removeprefix("Bearer ") == KEY
    tried = here(home, "keys", "test", provider, "--json").json["tested"]
    assert (tried[0]["ok"], tried[0]["key"]) == (code == 0, "…cdef")


def test_a_key_without_a_server_and_a_server_without_a_key(home: Path, server: Echoing) -> None:
    assert here(home, "keys", "test").code == 5
    assert here(home, "keys", "test", "anthropic").code == 3
    assert server.seen == []


@pytest.mark.slow
def test_a_keyring_that_hangs_holds_nothing_up_for_long(home: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "lila_app", "keys", "list"],
        capture_output=True,
        text=True,
        env={
            **environment(home),
            "PYTHON_KEYRING_BACKEND": "tests.keys.rings.Hanging",
            "GEMINI_API_KEY": KEY,
        },
        timeout=60,
        check=True,
    )
    assert "GEMINI_API_KEY" in done.stdout
    assert "did not answer within 5 s" in done.stderr


def test_at_a_terminal_the_key_is_asked_for_and_not_shown(home: Path) -> None:
    command = ["-m", "lila_app", "keys", "set", "anthropic"]
    with terminal(home, command) as screen:
        shown = screen.wait_for("key for anthropic: ")
        screen.type(f"{KEY}\n")
        assert screen.leave() == 0
    assert "…cdef is kept in the file" in screen.seen
    assert KEY not in shown + screen.seen
    assert KEY in Home.at(home).keys_file.read_text()
