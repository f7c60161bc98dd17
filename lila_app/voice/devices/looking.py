"""The devices PortAudio finds now: `python -m lila_app.voice.devices.looking`.

PortAudio lists what was there when it was started, and starting it anew ends every stream. Another
process has a list of its own.
"""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import asdict

from lila_app.errors import LilaError
from lila_app.voice.devices.naming import Device

_SECONDS = 10
"""Listing takes a fraction of a second; a driver that hangs is not waited for."""


def devices() -> tuple[Device, ...]:
    """All devices as another process finds them; none where it finds none or fails."""
    try:
        # -P: what lies in the folder LILA was started in is not to be imported.
        command = [sys.executable, "-P", "-m", __name__]
        done = subprocess.run(command, capture_output=True, timeout=_SECONDS, check=True)
    except (OSError, subprocess.SubprocessError):
        return ()
    return tuple(Device(**row) for row in json.loads(done.stdout))


def main() -> None:
    """Print the devices of this process as JSON."""
    from lila_app.voice.devices.backend import Machine

    try:
        found = Machine().devices()
    except LilaError:
        found = ()
    print(json.dumps([asdict(device) for device in found]))


if __name__ == "__main__":
    main()
