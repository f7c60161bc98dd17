"""What a machine lacks for talking with LILA, found without opening anything."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from lila_app.settings import VoiceSettings

_PLUGINS = ("libasound_module_pcm_pulse.so", "libasound_module_pcm_pipewire.so")
_PLUGIN_FOLDERS = ("usr/lib/*/alsa-lib", "usr/lib64/alsa-lib", "usr/lib/alsa-lib")


@dataclass(frozen=True, slots=True)
class Lack:
    """A part that is missing: what it is, and the Debian package or the command that brings it."""

    what: str
    package: str = ""
    command: str = ""


def lacking(chosen: VoiceSettings, root: Path = Path("/")) -> tuple[Lack, ...]:
    """What is missing for these settings; `root` is where the system's files are."""
    return (*_portaudio(), *_server(root), *_engine(chosen))


def cure(lacks: tuple[Lack, ...]) -> str:
    """What to do about all of it, in one line."""
    packages = [lack.package for lack in lacks if lack.package]
    installed = f"on Debian and Ubuntu: sudo apt install {' '.join(packages)}"
    commands = [lack.command for lack in lacks if lack.command]
    return "; ".join(([installed] if packages else []) + commands)


def _portaudio() -> tuple[Lack, ...]:
    from ctypes.util import find_library

    # On macOS and Windows the audio package brings the library along.
    if sys.platform in ("darwin", "win32") or find_library("portaudio"):
        return ()
    return (Lack("PortAudio", "libportaudio2"),)


def _server(root: Path) -> tuple[Lack, ...]:
    """PortAudio reaches a sound server through ALSA, which needs a plugin of its own for it."""
    if sys.platform != "linux":
        return ()
    runtime = Path(os.environ.get("XDG_RUNTIME_DIR") or f"/run/user/{os.getuid()}")
    served = [path for path in ("pulse/native", "pipewire-0") if (runtime / path).exists()]
    if served or os.environ.get("PULSE_SERVER"):
        plugged = any(
            (folder / name).is_file()
            for pattern in _PLUGIN_FOLDERS
            for folder in root.glob(pattern)
            for name in _PLUGINS
        )
        return () if plugged else (Lack("ALSA's way to PulseAudio", "libasound2-plugins"),)
    cards = root / "proc/asound/cards"
    # Without a card the file says so: "--- no soundcards ---".
    if cards.is_file() and "no soundcards" not in cards.read_text(errors="replace"):
        return ()
    return (Lack("a sound card or a sound server", command="start PulseAudio or PipeWire"),)


def _engine(chosen: VoiceSettings) -> tuple[Lack, ...]:
    from ctypes.util import find_library

    if chosen.engine == "piper":
        if find_spec("piper"):
            return ()
        return (Lack("piper", command="pip install 'lila-assistant[piper]'"),)
    # On Linux pyttsx3 speaks through espeak-ng too.
    own_voices = sys.platform in ("darwin", "win32") and chosen.engine != "espeak"
    if own_voices or find_library("espeak-ng"):
        return ()
    return (Lack("espeak-ng", "espeak-ng"),)
