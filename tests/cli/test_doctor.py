from __future__ import annotations

import ctypes.util
import json
import shutil
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from lila_app import doctor, settings
from lila_app.gateway.chat import discover
from lila_app.gateway.embedded.weights import SMOLLM2
from lila_app.paths import Home
from lila_app.views import Check
from tests.cli.lila import here, lila
from tests.cli.terminal import terminal
from tests.waiting import PATIENCE


def _check(home: Home, name: str) -> Check:
    return next(check for check in doctor.examine(home, "default") if check.name == name)


class _Ollama(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()
        self.wfile.write(json.dumps({"models": [{"name": "llama3.2"}]}).encode())

    def log_message(self, format: str, *args: Any) -> None:
        pass


@pytest.fixture
def ollama() -> Iterator[int]:
    server = HTTPServer(("127.0.0.1", 0), _Ollama)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield server.server_port
    server.shutdown()
    thread.join()
    server.server_close()


def test_a_new_home_lacks_only_the_weights(place: Home) -> None:
    wrong = [c for c in doctor.examine(place, "default") if c.needed and not c.ok]
    assert [check.name for check in wrong] == ["weights"]
    assert "lila models pull" in wrong[0].hint


def test_whatever_is_missing_says_what_to_do(place: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ctypes.util, "find_library", lambda name: None)  # pyright: ignore[reportUnknownLambdaType]
    monkeypatch.setattr(shutil, "disk_usage", lambda path: SimpleNamespace(free=1_000_000))  # pyright: ignore[reportUnknownLambdaType]
    place.data_dir.chmod(0o755)
    place.settings_file.write_text("timezon = 1")
    place.profile_db("default").write_bytes(b"not a database" * 100)
    found = doctor.examine(place, "default")
    wrong = {check.name for check in found if not check.ok}
    assert {"privacy", "settings", "store", "weights", "disk", "sound"} <= wrong
    assert all(check.hint for check in found if not check.ok)
    sound = next(check for check in found if check.name == "sound")
    assert not sound.needed
    assert "libportaudio2" in sound.hint


@pytest.mark.parametrize(
    ("model", "says", "hint", "needed"),
    [
        ("anthropic/claude-sonnet-5-5", "there is no key for anthropic", "lila keys set", False),
        ("nova/x", "no provider is called 'nova'", "known are", True),
    ],
)
def test_a_model_that_was_chosen_and_cannot_be_asked_is_named(
    place: Home,
    monkeypatch: pytest.MonkeyPatch,
    model: str,
    says: str,
    hint: str,
    needed: bool,
) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    place.settings_file.write_text(f'model = "{model}"\n')
    found = _check(place, "model")
    assert (found.ok, found.needed) == (False, needed)
    assert says in found.detail and hint in found.hint
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-marked")
    assert _check(place, "model").ok is not needed


def test_a_home_that_does_not_exist_is_judged_by_where_it_would_be(tmp_path: Path) -> None:
    home = Home.at(tmp_path / "a" / "b")
    assert _check(home, "home").ok
    assert not (tmp_path / "a").exists()
    assert not _check(Home.at(Path("/proc/lila")), "home").ok


def test_weights_are_not_missed_by_who_uses_another_model(place: Home) -> None:
    settings.set_value(place, "model", "ollama/llama3.2")
    assert not _check(place, "weights").needed


def test_weights_that_were_changed_are_named(place: Home) -> None:
    (place.models_dir / SMOLLM2.file).write_bytes(b"GGUF")
    found = _check(place, "weights")
    assert not found.ok
    assert SMOLLM2.file in found.detail


def test_a_server_on_loopback_is_named_with_its_models(
    place: Home, ollama: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(discover, "_CONNECT_SECONDS", PATIENCE)
    monkeypatch.setattr(discover, "_ANSWER_SECONDS", PATIENCE)
    monkeypatch.setenv("OLLAMA_HOST", f"127.0.0.1:{ollama}")
    found = _check(place, "servers")
    assert f"ollama at http://127.0.0.1:{ollama}/v1 with llama3.2" in found.detail
    assert "lila models default" in found.hint


def test_a_keyring_that_breaks_while_it_loads_is_only_noted(
    place: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    import keyring

    def broken() -> None:
        raise RuntimeError("no D-Bus")

    monkeypatch.setattr(keyring, "get_keyring", broken)
    found = _check(place, "keyring")
    assert (found.ok, found.needed) == (False, False)


def test_the_command_exits_1_while_something_needed_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = lila(tmp_path, "doctor")
    assert seen.code == 1
    assert "FAIL weights: " in seen.out
    assert seen.err == ""
    monkeypatch.setenv("LILA_MODEL", "ollama/llama3.2")
    seen = here(tmp_path, "doctor", "--json")
    assert seen.code == 0
    assert {check["name"] for check in seen.json["checks"]} >= {"python", "store", "sound"}


def test_a_terminal_that_cannot_draw_is_pointed_to_the_plain_chat(tmp_path: Path) -> None:
    with terminal(tmp_path, ["-m", "lila_app", "doctor"]) as screen:
        screen.wait_for("ok   terminal: xterm")
        screen.leave()
