"""PulseAudio, or PipeWire in its place: the devices behind the one that PortAudio sees.

Asked through `pactl`, which answers within some 6 ms; where it is missing, or older than its JSON
(PulseAudio 16), the system's choice of devices is all there is.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from typing import cast

from lila_app.voice.devices.naming import Device
from lila_app.voice.model import Part

PLUGIN = ("pulse", "pipewire", "default")
"""What PortAudio calls the server, the surest first."""

VARIABLE: dict[Part, str] = {"microphone": "PULSE_SOURCE", "speaker": "PULSE_SINK"}
"""Where the server's library reads which device a new stream is for."""

_DEVICES: dict[Part, str] = {"microphone": "sources", "speaker": "sinks"}
_STREAMS: dict[Part, str] = {"microphone": "source-outputs", "speaker": "sink-inputs"}
_SECONDS = 2
"""A server that does not answer within this has hung."""

_Row = Mapping[str, object]


def serves() -> bool:
    """Whether a server is there and can be asked."""
    return _info() is not None


def devices(number: int) -> tuple[Device, ...]:
    """All microphones and speakers; `number` is that of the server in PortAudio's list."""
    info = _info()
    if info is None:
        return ()
    defaults = {
        "microphone": str(info.get("default_source_name", "")),
        "speaker": str(info.get("default_sink_name", "")),
    }
    return tuple(
        _device(row, part, number, defaults[part]) for part in _DEVICES for row in _rows(part)
    )


def placed(part: Part) -> str:
    """The name of the device this process's stream sits on; "" where there is no such stream."""
    key = "source" if part == "microphone" else "sink"
    for stream in _listed(_STREAMS[part]):
        if _properties(stream).get("application.process.id") == str(os.getpid()):
            return next((_name(row) for row in _rows(part) if row["index"] == stream[key]), "")
    return ""


def _device(row: _Row, part: Part, number: int, default: str) -> Device:
    name = _name(row)
    _, channels, rate = str(row["sample_specification"]).split()
    return Device(
        name=name,
        label=str(row.get("description", name)),
        part=part,
        rate=int(rate.removesuffix("Hz")),
        channels=int(channels.removesuffix("ch")),
        number=number,
        default=name == default,
        monitors=str(row.get("monitor_source") or "") if part == "microphone" else "",
        canceller=_canceller(row),
        muted=bool(row.get("mute")),
    )


def _canceller(row: _Row) -> str:
    """PulseAudio's own takes out what is played on its own speaker; others tell by their names."""
    if row.get("driver") == "module-echo-cancel.c":
        return f"module {row.get('owner_module')}"
    return ""


def _rows(part: Part) -> list[_Row]:
    return _listed(_DEVICES[part])


def _listed(what: str) -> list[_Row]:
    found = _asked("list", what)
    return cast("list[_Row]", found) if isinstance(found, list) else []


def _info() -> _Row | None:
    found = _asked("info")
    return cast("_Row", found) if isinstance(found, dict) else None


def _name(row: _Row) -> str:
    return str(row["name"])


def _properties(row: _Row) -> Mapping[str, object]:
    return cast("Mapping[str, object]", row.get("properties", {}))


def _asked(*arguments: str) -> object:
    """What `pactl` answers; None without it, without a server, or without an answer."""
    program = shutil.which("pactl") if sys.platform == "linux" else None
    if program is None:
        return None
    # A locale's decimal comma makes broken JSON of it, a locale without UTF-8 drops names.
    environment = {key: value for key, value in os.environ.items() if key != "LC_ALL"}
    environment |= {"LC_NUMERIC": "C", "LC_CTYPE": "C.UTF-8"}
    try:
        done = subprocess.run(
            [program, "-f", "json", *arguments],
            env=environment,
            capture_output=True,
            timeout=_SECONDS,
            check=True,
        )
        return json.loads(done.stdout.decode(errors="replace"))
    except (OSError, subprocess.SubprocessError, ValueError):
        return None
