"""A sound card of its own for a test: a private PulseAudio with two devices that lead nowhere.

What is played into the microphone's sink is what LILA hears; what LILA says is recorded from the
speaker's monitor by a program that knows nothing of LILA.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from ctypes.util import find_library
from pathlib import Path
from typing import NoReturn

import numpy as np
import pytest
from numpy.typing import NDArray

Samples = NDArray[np.int16]

PROGRAMS = ("pulseaudio", "pactl", "pacat", "parec")
CANCELLER = (
    "module-echo-cancel source_master=lila_mic.monitor sink_master=lila_spk "
    "source_name=lila_ec_src sink_name=lila_ec_sink aec_method=webrtc "
    "aec_args='analog_gain_control=0 digital_gain_control=0' rate=32000 channels=1"
)
"""Takes what is played on lila_ec_sink out of what is heard from lila_ec_src."""

PACKAGES = "libportaudio2 espeak-ng pulseaudio pulseaudio-utils libasound2-plugins"


def required(what: str, package: str) -> NoReturn:
    """A part is missing: a failure where sound is required (LILA_REQUIRE_AUDIO=1), else a skip."""
    reason = f"{what} is missing: apt-get install --no-install-recommends {package}"
    if os.environ.get("LILA_REQUIRE_AUDIO") == "1":
        pytest.fail(reason)
    pytest.skip(reason)


def until(true: Callable[[], bool], seconds: float = 15.0) -> bool:
    """Wait for something to become true, at most so long; whether it did."""
    end = time.monotonic() + seconds
    while not true():
        if time.monotonic() > end:
            return False
        time.sleep(0.01)
    return True


class Card:
    """The private sound server; `microphone` and `speaker` are the sinks at either end.

    Without `norewinds=1` an idle null sink delivers nothing for up to a second, then all at once.
    """

    microphone = "lila_mic"
    speaker = "lila_spk"

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._socket = folder / "native"
        self._server: subprocess.Popen[bytes] | None = None
        self.environment = {
            "PULSE_SERVER": f"unix:{self._socket}",
            "PULSE_RUNTIME_PATH": str(folder),
            "PULSE_STATE_PATH": str(folder),
            "XDG_RUNTIME_DIR": str(folder),
        }

    def start(self) -> None:
        protocol = f"module-native-protocol-unix socket={self._socket} auth-anonymous=1"
        options = ("-n", "--daemonize=no", "--exit-idle-time=-1", "--log-level=error")
        modules = [protocol, *(self.sink(name) for name in (self.speaker, self.microphone))]
        loaded = [part for module in modules for part in ("-L", module)]
        self._server = subprocess.Popen(
            ["pulseaudio", *options, *loaded],
            env={**os.environ, **self.environment},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        assert until(lambda: self._answers()), "PulseAudio does not start"
        self.pactl("set-default-sink", self.speaker)
        self.pactl("set-default-source", f"{self.microphone}.monitor")

    @staticmethod
    def sink(name: str) -> str:
        label = f"sink_properties=device.description={name.replace('_', '-')}"
        return f"module-null-sink sink_name={name} rate=48000 norewinds=1 {label}"

    def kill(self) -> None:
        server, self._server = self._server, None
        if server is not None:
            server.send_signal(signal.SIGKILL)
            server.wait(timeout=10)
            for left in self._folder.iterdir():
                with contextlib.suppress(OSError):
                    left.unlink()

    def pactl(self, *arguments: str) -> str:
        done = subprocess.run(
            ["pactl", *arguments], env={**os.environ, **self.environment}, capture_output=True,
            text=True, timeout=10, check=True,
        )  # fmt: skip
        return done.stdout.strip()

    def load(self, module: str) -> str:
        """Load a module; its number."""
        return self.pactl("load-module", *module.split(" ", 1))

    def echo(self, quieter: int = 0) -> None:
        """From here on the microphone hears what the speaker plays, 30 ms later.

        `quieter` is by how many dB: in a room some 10; as loud as it is played is the worst.
        """
        self.load("module-loopback source=lila_spk.monitor sink=lila_mic latency_msec=30")
        if quieter:
            number = self.pactl("list", "short", "sink-inputs").split()[0]
            self.pactl("set-sink-input-volume", number, f"-{quieter}dB")

    def unload(self, sink: str) -> None:
        """Take away a sink, and with it the source that gives back its sound."""
        listed = (line.split("\t") for line in self.pactl("list", "short", "modules").splitlines())
        number = next(row[0] for row in listed if f"sink_name={sink} " in f"{row[2]} ")
        self.pactl("unload-module", number)

    def say(self, samples: Samples, rate: int = 16_000) -> None:
        """Speak into the microphone; returns when all of it was."""
        subprocess.run(
            ["pacat", "--playback", f"--device={self.microphone}", *_form(rate)],
            input=samples.tobytes(),
            env={**os.environ, **self.environment},
            timeout=120,
            check=True,
        )

    @contextlib.contextmanager
    def recording(self, source: str, rate: int = 16_000) -> Iterator[Recording]:
        """Record what a source gives while the block runs."""
        program = subprocess.Popen(
            ["parec", f"--device={source}", *_form(rate), "--latency-msec=10"],
            env={**os.environ, **self.environment},
            stdout=subprocess.PIPE,
        )
        assert program.stdout is not None
        recording = Recording(program.stdout.fileno(), rate)
        try:
            assert until(lambda: recording.began > 0), f"nothing comes from {source}"
            yield recording
        finally:
            program.terminate()
            recording.end()
            program.stdout.close()
            program.wait(timeout=10)

    def _answers(self) -> bool:
        try:
            self.pactl("info")
        except subprocess.CalledProcessError:
            return False
        return True


class Recording:
    """What was recorded. `began` is the time (`time.monotonic`) of its first sample.

    A block arrives some time after its last sample was played, now more, now less; the one that
    took least tells best when it all began.
    """

    def __init__(self, descriptor: int, rate: int) -> None:
        self.rate = rate
        self.began = 0.0
        self._blocks: list[bytes] = []
        self._reader = threading.Thread(target=self._read, args=(descriptor,), daemon=True)
        self._reader.start()

    def end(self) -> None:
        self._reader.join(timeout=10)

    @property
    def samples(self) -> Samples:
        whole = b"".join(self._blocks)
        return np.frombuffer(whole[: len(whole) // 2 * 2], dtype=np.int16)

    def _read(self, descriptor: int) -> None:
        size = 0
        while block := os.read(descriptor, 65_536):
            now = time.monotonic()
            self._blocks.append(block)
            size += len(block)
            began = now - size / 2 / self.rate
            self.began = min(self.began, began) if self.began else began


def _form(rate: int) -> tuple[str, ...]:
    return ("--raw", "--format=s16le", f"--rate={rate}", "--channels=1")


@contextlib.contextmanager
def virtual_card() -> Iterator[Card]:
    """A running card, in this process's environment too: PortAudio looks there."""
    for program in PROGRAMS:
        if shutil.which(program) is None:
            required(program, PACKAGES)
    if find_library("portaudio") is None:
        required("PortAudio", PACKAGES)
    with (
        tempfile.TemporaryDirectory(prefix="lila-sound-") as folder,
        pytest.MonkeyPatch.context() as env,
    ):
        card = Card(Path(folder))
        for name, value in card.environment.items():
            env.setenv(name, value)
        card.start()
        try:
            yield card
        finally:
            card.kill()


def likeness(heard: Samples, said: Samples, rate: int = 16_000) -> float:
    """How like `said` what was heard is: the median over its quarter seconds.

    1.0 is the same; half a sample beside it, as two clocks lie, is 0.98; other noise is below 0.3.

    Each quarter is looked for where it is most alike, so that a gap a busy machine makes costs the
    quarters it is in and not all that follow.
    """
    from scipy.signal import correlate

    if len(heard) < len(said):
        return 0.0
    sound = heard.astype(np.float64)
    found: list[float] = []
    for start in range(0, len(said) - rate // 4 + 1, rate // 4):
        quarter = said[start : start + rate // 4].astype(np.float64)
        at = int(np.argmax(correlate(sound, quarter, mode="valid", method="fft")))
        piece = sound[at : at + len(quarter)]
        loud = float(np.linalg.norm(piece) * np.linalg.norm(quarter))
        found.append(float(np.dot(piece, quarter)) / loud if loud else 0.0)
    return float(np.median(found))
