"""Writing a message in the person's own editor."""

from __future__ import annotations

import os
import shlex
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path

from lila_app.errors import UsageError
from lila_app.paths import explained, make_private


def edit(text: str, folder: Path, environ: Mapping[str, str]) -> str:
    """`text` as the person left it in $VISUAL or $EDITOR; blocks until the editor ends.

    The file lies in `folder`, 0600, and is gone afterwards. Raises `UsageError` when there is no
    editor or it failed, and `StorageError` when the file cannot be written.
    """
    command = environ.get("VISUAL") or environ.get("EDITOR")
    if not command:
        raise UsageError(
            "no editor is set", hint="set VISUAL or EDITOR, for example `export EDITOR=nano`"
        )
    make_private(folder)
    try:
        handle, name = tempfile.mkstemp(dir=folder, prefix="message-", suffix=".md")
    except OSError as error:
        raise explained(error, folder) from error
    path = Path(name)
    try:
        with os.fdopen(handle, "w", encoding="utf-8", errors="replace", newline="\n") as file:
            file.write(text)
        _run([*shlex.split(command, posix=os.name == "posix"), name], command)
        return path.read_text(encoding="utf-8", errors="replace").rstrip("\n")
    finally:
        path.unlink(missing_ok=True)


def _run(arguments: list[str], command: str) -> None:
    hint = "the message is as it was; correct VISUAL or EDITOR"
    try:
        done = subprocess.run(arguments, check=False)
    except OSError as error:
        raise UsageError(f"the editor {command!r} cannot be started", hint=hint) from error
    if done.returncode != 0:
        raise UsageError(f"the editor {command!r} ended with {done.returncode}", hint=hint)
