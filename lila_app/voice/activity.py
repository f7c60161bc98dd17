"""Voice activity: how likely each frame is speech, by the Silero model inside faster-whisper.

The model is a recurrent one and takes 512 new samples with the last 64 before them. Fed frame by
frame with its state carried on, it says what it says over the whole recording (difference 0.0), at
0.27 ms of one core for 32 ms of sound (0.84 %; measured 2026-11-30). The file is read by
onnxruntime directly: importing faster_whisper for it would load a recogniser's libraries as well.
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, cast

from lila_app.errors import SoundError
from lila_app.voice.model import FRAME

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from lila_app.voice.ports import Samples

    Floats = NDArray[np.float32]

_CONTEXT = 64
"""Samples before a frame that the model takes with it (v5 and v6 of Silero, at 16 kHz)."""

_STATE = (1, 1, 128)
_FILE = "assets/silero_vad_v6.onnx"


class Silero:
    """The model with its state: `ports.Activity`. Loading takes 0.1 s and is done when made.

    Raises `SoundError` where the model cannot be loaded.
    """

    def __init__(self) -> None:
        self._session = _load(_published())
        self.reset()

    def reset(self) -> None:
        """Forget what came before: the stream was interrupted."""
        import numpy as np

        self._h: Floats = np.zeros(_STATE, np.float32)
        self._c: Floats = np.zeros(_STATE, np.float32)
        self._window: Floats = np.zeros((1, _CONTEXT + FRAME), np.float32)

    def speech(self, frame: Samples) -> int:
        """Per mille, for one frame of 512 samples; `ValueError` for another length."""
        window = self._window
        window[0, :_CONTEXT] = window[0, FRAME:]
        window[0, _CONTEXT:] = frame
        window[0, _CONTEXT:] /= 32_768
        chance, self._h, self._c = self._session.run(
            None, {"input": window, "h": self._h, "c": self._c}
        )
        return round(1_000 * float(chance.item()))


class _Session(Protocol):
    def run(self, output_names: None, input_feed: dict[str, Floats]) -> list[Floats]: ...


class _Options(Protocol):
    intra_op_num_threads: int
    inter_op_num_threads: int
    log_severity_level: int
    enable_cpu_mem_arena: bool


class _Runtime(Protocol):
    def disable_telemetry_events(self) -> None: ...
    def SessionOptions(self) -> _Options: ...
    def InferenceSession(
        self, path: str, options: _Options, *, providers: list[str]
    ) -> _Session: ...


def _published() -> Path:
    """The model's file in the installed faster-whisper, without importing it."""
    found = find_spec("faster_whisper")
    for folder in (found.submodule_search_locations or ()) if found is not None else ():
        path = Path(folder) / _FILE
        if path.is_file():
            return path
    raise SoundError(
        "the voice activity model is not here: faster-whisper is missing, or another version of it",
        hint="install LILA again, as you installed it first",
    )


def _load(path: Path) -> _Session:
    try:
        runtime = cast("_Runtime", import_module("onnxruntime"))
        runtime.disable_telemetry_events()
        options = runtime.SessionOptions()
        options.intra_op_num_threads = 1  # a frame is too little work to share
        options.inter_op_num_threads = 1
        options.enable_cpu_mem_arena = False
        options.log_severity_level = 4  # what it complains of is said by `SoundError`
        return runtime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    except Exception as error:  # onnxruntime raises classes of its own for a damaged file
        said = next(iter(str(error).splitlines()), type(error).__name__)
        raise SoundError(
            f"the voice activity model cannot be loaded: {said}",
            hint="install LILA again, as you installed it first",
        ) from error
