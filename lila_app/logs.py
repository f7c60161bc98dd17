"""The log: one rotating file in the state folder, 0600, that never holds content.

A message given to the logger must be made of LILA's own words, ids and numbers. An exception is
written as its type and its frames: its text may quote what a person said, so it is left out.
"""

from __future__ import annotations

import logging
import os
import traceback
from collections.abc import Generator
from contextlib import contextmanager
from io import TextIOWrapper
from logging.handlers import RotatingFileHandler
from pathlib import Path
from types import TracebackType
from typing import cast

from lila_app.errors import StorageError
from lila_app.paths import Home, make_private

_LOGGER = "lila_app"
_LINE = "%(asctime)s %(process)d %(levelname)s %(name)s %(message)s"
_BYTES_PER_FILE = 1_000_000
_OLD_FILES = 3

_QUOTING = ("anthropic", "openai", "google_genai", "google", "httpx2", "httpcore2", "keyring")
"""Libraries whose debug output quotes requests, with what a person said, and headers with keys.
ANTHROPIC_LOG and OPENAI_LOG switch it on from outside (anthropic 2.14, openai 3.57)."""

_ExcInfo = tuple[type[BaseException], BaseException, TracebackType | None] | tuple[None, None, None]


@contextmanager
def writing(home: Home) -> Generator[None]:
    """Send what LILA logs to the home's log file while the block runs.

    A home that cannot be written loses the log, never the turn. Other libraries' warnings go
    nowhere: they may quote content, and on the terminal they would land in the conversation. What
    model SDKs log does not even reach handlers that others put at the root.
    """
    logger, root = logging.getLogger(_LOGGER), logging.getLogger()
    silence = logging.NullHandler()
    handler = _PrivateFile(home.log_file)
    handler.setFormatter(_WithoutContent(_LINE))
    level, propagate = logger.level, logger.propagate
    quoting = [(talker, talker.propagate) for talker in map(logging.getLogger, _QUOTING)]
    for talker, _ in quoting:
        talker.addHandler(silence)  # without one, warnings would go to stderr
        talker.propagate = False
    root.addHandler(silence)
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    logger.propagate = False
    try:
        yield
    finally:
        logger.removeHandler(handler)
        root.removeHandler(silence)
        for talker, before in quoting:
            talker.removeHandler(silence)
            talker.propagate = before
        logger.level, logger.propagate = level, propagate
        handler.close()


def unexpected(home: Home, error: BaseException) -> None:
    """Write where an exception nobody planned for came from."""
    with writing(home):
        logging.getLogger(_LOGGER).error("unexpected %s", type(error).__name__, exc_info=error)


class _PrivateFile(RotatingFileHandler):
    """A rotating file made 0600, opened at the first line, silent when it cannot be written."""

    def __init__(self, path: Path) -> None:
        super().__init__(
            path, maxBytes=_BYTES_PER_FILE, backupCount=_OLD_FILES, encoding="utf-8", delay=True
        )

    def _open(self) -> TextIOWrapper:
        try:
            make_private(Path(self.baseFilename).parent)
        except StorageError as error:
            raise OSError(str(error)) from error
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT
        handle = os.open(self.baseFilename, flags, 0o600)
        return os.fdopen(handle, "a", encoding="utf-8", errors="backslashreplace")

    def handleError(self, record: logging.LogRecord) -> None:
        """Do nothing: a full disk must not print a traceback over the conversation."""
        del record


class _WithoutContent(logging.Formatter):
    """One record a line; exceptions as type and frames, without their text."""

    def formatMessage(self, record: logging.LogRecord) -> str:
        return super().formatMessage(record).replace("\n", "\\n")

    def formatException(self, ei: _ExcInfo) -> str:
        error = ei[1]
        return "\n".join(_frames(error)) if error is not None else ""


def _frames(error: BaseException) -> list[str]:
    lines: list[str] = []
    cause = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    if cause is not None:
        lines += [*_frames(cause), "  then"]
    for frame in traceback.extract_tb(error.__traceback__):
        lines.append(f"  {frame.filename}:{frame.lineno} in {frame.name}")
    lines.append(f"  {type(error).__module__}.{type(error).__qualname__}")
    if isinstance(error, BaseExceptionGroup):
        group = cast("BaseExceptionGroup[BaseException]", error)
        for inner in group.exceptions:
            lines += _frames(inner)
    return lines
