"""How every command ends: an exit code, and for a failure one sentence and one hint."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Callable
from io import TextIOWrapper

import click

from lila_app.cli.output import note
from lila_app.errors import Cancelled, DiskFullError, LilaError

INTERRUPTED = 130
"""What shells report for Ctrl-C."""
PIPE_CLOSED = 141
"""What shells report for a tool whose reader went away (128 + SIGPIPE)."""
UNEXPECTED = 70
"""EX_SOFTWARE of sysexits.h: a fault in LILA itself."""


class ReaderGone(Exception):
    """A broken pipe past click, which would end with 1 for one."""


def guarded(run: Callable[[], object]) -> int:
    """Run a command and say how it ended; nothing but `SystemExit` gets past here."""
    _prepare_streams()
    try:
        result = run()
    except (BrokenPipeError, ReaderGone):
        _discard_stdout()
        return PIPE_CLOSED
    except OSError as error:
        if error.errno == errno.ENOSPC and error.filename is None:
            _discard_stdout()
            return explain(DiskFullError("the output cannot be written: no space is left"))
        return explain(error)
    except Exception as error:
        return explain(error)
    except KeyboardInterrupt:
        note("stopped")
        return INTERRUPTED
    # click answers an explicit `ctx.exit(code)` with the code.
    return result if isinstance(result, int) else 0


def explain(error: Exception) -> int:
    """Say on stderr what went wrong and what to do; the exit code that belongs to it."""
    match error:
        case Cancelled():
            _say("", error.message, error.hint)
            return error.exit_code
        case LilaError():
            _say("error: ", error.message, error.hint)
            return error.exit_code
        case click.exceptions.NoArgsIsHelpError():
            error.show()
            return error.exit_code
        case click.UsageError():
            path = error.ctx.command_path if error.ctx else "lila"
            _say("error: ", error.format_message(), f"`{path} --help` says what it takes")
            return error.exit_code
        case click.ClickException():
            _say("error: ", error.format_message(), "")
            return error.exit_code
        case click.Abort():
            note("stopped")
            return INTERRUPTED
        case _:
            return _unexpected(error)


def _unexpected(error: Exception) -> int:
    from lila_app import logs
    from lila_app.paths import Home

    home = Home.find(os.environ)
    logs.unexpected(home, error)
    _say(
        "error: ",
        f"something went wrong inside LILA ({type(error).__name__})",
        f"{home.log_file} says where, without anything you said; it belongs in a bug report",
    )
    return UNEXPECTED


def _say(label: str, message: str, hint: str) -> None:
    note(f"{label}{' '.join(message.split())}")
    if hint:
        note(f"hint: {' '.join(hint.split())}")


def _prepare_streams() -> None:
    """Text leaves as UTF-8 whatever the locale; a terminal that cannot show a letter shows ?."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:  # closed by whoever started LILA
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115, PTH123
    for stream in (sys.stdout, sys.stderr):
        if not isinstance(stream, TextIOWrapper):
            continue
        if stream.isatty():
            stream.reconfigure(errors="replace")
        else:
            stream.reconfigure(encoding="utf-8", errors="replace")


def _discard_stdout() -> None:
    """Point stdout at nothing, or the interpreter complains when it flushes at exit."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (OSError, ValueError):
        sys.stdout = None  # pyright: ignore[reportAttributeAccessIssue] # documented for this case
