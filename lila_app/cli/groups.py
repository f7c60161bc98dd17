"""The two kinds of group: the root, which knows its commands without importing them, and nouns."""

from __future__ import annotations

import importlib
import keyword
import sys
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, NoReturn, cast

import click
from click_default_group import DefaultGroup

from lila_app.cli.guard import ReaderGone, guarded


class Entry(NamedTuple):
    """Where a command is and what it is for, so that help needs no import."""

    module: str
    help: str


class RootGroup(click.Group):
    """A group whose commands live in modules that load on use.

    The module `lila_app.cli.<module>` defines the command under the command's own name, or under
    the module's where that name is a word of Python (`import`).
    """

    def __init__(self, *args: Any, entries: dict[str, Entry], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.entries = entries

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Names in the order they were declared: what a newcomer needs comes first."""
        del ctx
        return list(self.entries)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the module of one command."""
        del ctx
        entry = self.entries.get(cmd_name)
        if entry is None:
            return None
        module = importlib.import_module(f"lila_app.cli.{entry.module}")
        name = entry.module if keyword.iskeyword(cmd_name) else cmd_name
        return cast("click.Command", getattr(module, name))

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands from the declaration."""
        del ctx
        with formatter.section("Commands"):
            formatter.write_dl([(name, entry.help) for name, entry in self.entries.items()])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Say what was meant, without importing every command to look."""
        if args[0] not in self.entries and not args[0].startswith("-"):
            raise unknown(ctx, args[0], self.entries)
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        """Run what was asked for."""
        try:
            return super().invoke(ctx)
        except BrokenPipeError as error:
            raise ReaderGone from error

    def main(  # type: ignore[override]  # always standalone: every outcome is an exit code
        self, args: Sequence[str] | None = None, prog_name: str | None = None, **extra: Any
    ) -> NoReturn:
        """Run the command line and leave with the exit code of what happened."""
        extra["standalone_mode"] = False
        run = super().main
        sys.exit(guarded(lambda: run(args, prog_name or "lila", **extra)))


class NounGroup(DefaultGroup):
    """A noun with verbs, one of which is meant when none is given; a misspelt verb is an error."""

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The verb, or for an option the default verb."""
        if cmd_name in self.commands or cmd_name.startswith("-"):
            return super().get_command(ctx, cmd_name)
        raise unknown(ctx, cmd_name, self.commands)


def unknown(ctx: click.Context, name: str, known: Iterable[str]) -> click.UsageError:
    """The error for a command nobody declared, with the nearest one that exists."""
    from difflib import get_close_matches

    near = get_close_matches(name, list(known), n=1)
    meant = f"; did you mean {near[0]}?" if near else ""
    return click.UsageError(f"{ctx.command_path} has no command {name!r}{meant}", ctx)
