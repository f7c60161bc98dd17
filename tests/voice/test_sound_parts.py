"""What the doctor finds missing for talking, and how to get it in one line."""

from __future__ import annotations

import ctypes.util
from collections.abc import Callable
from pathlib import Path

import pytest

from lila_app.settings import VoiceSettings
from lila_app.sound import cure, lacking

PLUGIN = "usr/lib/x86_64-linux-gnu/alsa-lib/libasound_module_pcm_pulse.so"


@pytest.fixture
def linux(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., Path]:
    """A Linux with these libraries and files; gives its root."""

    def made(*files: str, libraries: tuple[str, ...] = (), served: bool = False) -> Path:
        monkeypatch.setattr("sys.platform", "linux")
        monkeypatch.setattr(
            ctypes.util, "find_library", lambda name: name if name in libraries else None
        )
        monkeypatch.delenv("PULSE_SERVER", raising=False)
        monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / "run"))
        for file in (*files, *(("run/pulse/native",) if served else ())):
            path = tmp_path / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch()
        return tmp_path

    return made


def test_all_that_is_missing_comes_with_one_command(linux: Callable[..., Path]) -> None:
    lacks = lacking(VoiceSettings(), linux(served=True))
    assert cure(lacks) == (
        "on Debian and Ubuntu: sudo apt install libportaudio2 libasound2-plugins espeak-ng"
    )


@pytest.mark.parametrize("served", [True, False])
def test_a_machine_that_has_it_all_lacks_nothing(linux: Callable[..., Path], served: bool) -> None:
    root = linux(PLUGIN, "proc/asound/cards", libraries=("portaudio", "espeak-ng"), served=served)
    assert lacking(VoiceSettings(), root) == ()


def test_neither_card_nor_server_is_said(linux: Callable[..., Path]) -> None:
    root = linux(libraries=("portaudio", "espeak-ng"))
    (lack,) = lacking(VoiceSettings(), root)
    assert "sound card" in lack.what
    assert "PulseAudio" in cure((lack,))


def test_a_list_of_cards_without_one_is_no_card(linux: Callable[..., Path]) -> None:
    root = linux("proc/asound/cards", libraries=("portaudio", "espeak-ng"))
    (root / "proc/asound/cards").write_text("--- no soundcards ---\n")
    (lack,) = lacking(VoiceSettings(), root)
    assert "sound card" in lack.what


def test_the_engine_that_is_chosen_is_the_one_looked_for(
    linux: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    root = linux("proc/asound/cards", libraries=("portaudio",))
    monkeypatch.setattr("lila_app.sound.find_spec", lambda name: None)
    assert [lack.what for lack in lacking(VoiceSettings(engine="piper"), root)] == ["piper"]
    assert [lack.what for lack in lacking(VoiceSettings(engine="pyttsx3"), root)] == ["espeak-ng"]


@pytest.mark.parametrize("platform", ["darwin", "win32"])
def test_macos_and_windows_bring_theirs(
    linux: Callable[..., Path], monkeypatch: pytest.MonkeyPatch, platform: str
) -> None:
    root = linux()
    monkeypatch.setattr("sys.platform", platform)
    assert lacking(VoiceSettings(), root) == ()
