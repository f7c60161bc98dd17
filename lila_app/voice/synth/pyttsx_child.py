"""The process that makes one sentence with pyttsx3, or lists its voices: JSON in, JSON or WAV out.

Run by `pyttsx` and by nobody else; what goes wrong is the last line of its standard error.
"""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
import threading
from importlib import import_module
from typing import Any


def main() -> None:
    """Do the job on standard input."""
    job: dict[str, Any] = json.load(sys.stdin)
    try:
        # The driver prints where it saved its file: standard output is for the answer alone.
        with contextlib.redirect_stdout(sys.stderr):
            said = _listed() if "voices" in job else _saved(job)
    # Whatever a driver raises (COM errors, missing libraries, its own) is the parent's to tell.
    except Exception as error:
        sys.exit(f"{type(error).__name__}: {' '.join(str(error).split())}")
    sys.stdout.write(said)


def _engine() -> Any:
    # Imported by name, since the package declares no types.
    return import_module("pyttsx3").init()


def _listed() -> str:
    voices: Any = _engine().getProperty("voices")
    return json.dumps(
        [
            {
                "id": str(voice.id),
                "name": str(voice.name),
                "languages": [str(language) for language in voice.languages or ()],
            }
            for voice in voices
        ]
    )


def _saved(job: dict[str, Any]) -> str:
    engine = _engine()
    engine.setProperty("voice", job["voice"])
    engine.setProperty("rate", job["words_per_minute"])
    target = job["target"]
    # On macOS the system writes AIFF, whatever the name says.
    written = f"{target}.aiff" if sys.platform == "darwin" else target
    made = threading.Event()

    def finished(name: str | None, completed: bool) -> None:
        del name
        if completed:
            made.set()

    engine.connect("finished-utterance", finished)
    engine.save_to_file(job["text"], written)
    engine.runAndWait()
    if sys.platform == "linux":
        # There it returns while espeak's own thread is still at it (pyttsx3 2.99): who leaves now
        # leaves no file, or dies in the middle of a callback. The parent ends what takes too long.
        made.wait()
    if written != target:
        converted = ("afconvert", "-f", "WAVE", "-d", "LEI16@22050", written, target)
        subprocess.run(converted, check=True)
    return ""


if __name__ == "__main__":
    main()
