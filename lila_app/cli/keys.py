"""`lila keys`: keys of model providers. No command takes a key as an argument."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Generator
from contextlib import contextmanager
from threading import Timer
from typing import TYPE_CHECKING

import click

from lila_app.cli import options
from lila_app.cli.groups import NounGroup
from lila_app.cli.opening import given_keys, home
from lila_app.cli.output import answer, document, note, table
from lila_app.errors import ConfigError, GatewayError, LilaError, NotFoundError, UsageError

if TYPE_CHECKING:
    from lila_app.models import Roster

_LONGEST_INPUT = 8_192
_WONDERING_SECONDS = 2.0


@click.group(cls=NounGroup, default="list", default_if_no_args=True)
def keys() -> None:
    """Set, list, test and delete the keys of model providers.

    A key is looked for in the file named by --key-file, in the environment, in the system's
    keyring, and in keys.toml of LILA's config folder, in that order.
    """


@keys.command("set", context_settings={"allow_extra_args": True, "ignore_unknown_options": True})
@click.argument("provider")
@options.as_json
@click.pass_context
def set_key(ctx: click.Context, provider: str, as_json: bool) -> None:
    """Keep a provider's key: asked for without showing it, or read from stdin.

    It goes into the system's keyring, or where there is none into keys.toml, for you alone.
    """
    with _roster() as roster:
        roster.keys.known(provider)
    if ctx.args:
        raise UsageError(
            "a key is never given on the command line, where everybody on this machine sees it",
            hint=f"`lila keys set {provider}` asks for it; if that was a key, have it replaced",
        )
    with _roster() as roster:
        try:
            key = _asked(provider)
            with _patience():
                kept = roster.keys.set(provider, key)
        except ConfigError as error:
            raise UsageError(error.message, hint=error.hint) from None
        first = roster.keys.info(provider)
    if as_json:
        document(provider=provider, kept=kept.source, where=kept.where, key=kept.shown)
    else:
        answer(f"{provider}: {kept.shown} is kept in the {kept.origin}")
    if (first.source, first.where) != (kept.source, kept.where):
        note(f"another key comes first: {first.source} ({first.where})")
    if first.trouble:
        note(first.trouble)


@keys.command("list")
@options.as_json
def list_keys(as_json: bool) -> None:
    """List the providers: where the key of each comes from, and its last four characters."""
    with _roster() as roster:
        found = roster.keys.list()
    if as_json:
        document(keys=found)
        return
    rows = [
        (
            info.provider,
            info.key or "no key",
            f"{info.source} ({info.where})" if info.source else "",
            ", ".join(info.behind),
        )
        for info in found
    ]
    table(("provider", "key", "from", "behind it"), rows)
    for info in found:
        if info.trouble:
            note(f"{info.provider}: {info.trouble}")


@keys.command("test")
@click.argument("provider", required=False)
@options.as_json
def test_keys(provider: str | None, as_json: bool) -> None:
    """Ask a provider (or all that have a key) for its list of models, which costs nothing."""
    from lila_app.keys.trying import try_key

    with _roster() as roster:
        names = [roster.keys.known(provider)] if provider is not None else _with_key(roster)
        tried = [asyncio.run(try_key(roster, name)) for name in names]
    if as_json:
        document(tested=tried)
    for trial in tried if not as_json else ():
        mark = "ok  " if trial.ok else "FAIL"
        origin = f"{trial.source} ({trial.where})"
        answer(f"{mark} {trial.provider}: {trial.detail}; {trial.key} from {origin}")
    failed = [trial for trial in tried if not trial.ok]
    if failed:
        raise GatewayError(failed[0].detail, hint=failed[0].hint)


@keys.command("delete")
@click.argument("provider")
@options.as_json
def delete_key(provider: str, as_json: bool) -> None:
    """Forget the key that is kept for a provider, in the keyring and in keys.toml."""
    with _roster() as roster:
        with _patience():
            places = roster.keys.delete(provider)
        left = roster.keys.info(provider)
    if as_json:
        document(provider=provider, deleted=places)
    else:
        answer(f"{provider}: deleted from {' and '.join(places)}")
    if left.source:
        note(f"a key is still there: {left.source} ({left.where})")


@keys.command("path")
@options.as_json
def path(as_json: bool) -> None:
    """Show the file that keeps keys where there is no keyring, and what keyring there is."""
    with _roster() as roster:
        try:
            ring = roster.keys.keyring()
        except LilaError as error:
            ring = ""
            why = error.message
        else:
            why = f"keys go into the keyring ({ring}) first"
    if as_json:
        document(file=home().keys_file, keyring=ring)
    else:
        answer(str(home().keys_file))
        note(why)


@contextmanager
def _roster() -> Generator[Roster]:
    """The models this home is set up for; the store is not opened."""
    from lila_app import logs, settings
    from lila_app.models import Roster

    with logs.writing(home()):
        yield Roster(home(), settings.load(home()), keys=given_keys())


@contextmanager
def _patience() -> Generator[None]:
    """Say what is waited for, if it takes long enough to wonder."""
    said = Timer(_WONDERING_SECONDS, note, ["waiting for the system's keyring to be unlocked …"])
    said.daemon = True
    said.start()
    try:
        yield
    finally:
        said.cancel()


def _asked(provider: str) -> str:
    """The key as it was typed or piped in."""
    if sys.stdin.isatty():
        return str(click.prompt(f"key for {provider}", hide_input=True, err=True))
    return sys.stdin.read(_LONGEST_INPUT)


def _with_key(roster: Roster) -> list[str]:
    names = [info.provider for info in roster.keys.list() if info.source]
    if not names:
        raise NotFoundError("no provider has a key", hint="`lila keys set anthropic` sets one")
    return names
