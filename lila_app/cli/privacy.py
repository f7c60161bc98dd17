"""`lila privacy`: what is found in a text, who is told what, what is held and where."""

from __future__ import annotations

import sys

import click

from lila_app.cli import options
from lila_app.cli.erasing import confirm
from lila_app.cli.groups import NounGroup
from lila_app.cli.opening import opened
from lila_app.cli.output import answer, document, note, table
from lila_app.views.privacy import PrivacyReport, Trial


@click.group(cls=NounGroup, default="report", default_if_no_args=True)
def privacy() -> None:
    """See what is found in a text, who is told what, and what is held where.

    The rules are policies/privacy.toml. Recall is never 1: what nothing recognises goes out as it
    is, so what must not leave this machine belongs to a model on this machine.
    """


@privacy.command()
@click.option("--all", "whole", is_flag=True, help="Look through every text; may take minutes.")
@options.as_json
def report(whole: bool, as_json: bool) -> None:
    """Show what is held where, what goes to models on the network, and where the key lies."""
    with opened() as lila:
        found = lila.privacy.report(whole=whole)
    if as_json:
        document(report=found)
    else:
        _print_report(found)


@privacy.command()
@click.argument("text", nargs=-1, required=True)
@click.option("--fast", is_flag=True, help="Patterns alone: no names of people and places.")
@options.as_json
def test(text: tuple[str, ...], fast: bool, as_json: bool) -> None:
    """Show what is found in a text and what a model on the network would be sent.

    '-' reads the text from standard input. Nothing is kept of it.
    """
    said = sys.stdin.read() if text == ("-",) else " ".join(text)
    with opened() as lila:
        trial = lila.privacy.test(said, names=not fast)
    if as_json:
        document(trial=trial)
    else:
        _print_trial(trial)


@privacy.command()
@click.argument("record", default="last", metavar="[RECORD]")
@options.as_json
def wire(record: str, as_json: bool) -> None:
    """Print a record's messages as a model on the network is sent them, under the rules of now."""
    with opened() as lila:
        pieces = lila.privacy.wire(record)
    if as_json:
        document(messages=pieces)
    else:
        for piece in pieces:
            answer(f"{piece.role}:\n{piece.text}\n")


@privacy.command()
@options.without_asking
@options.as_json
def reset(yes: bool, as_json: bool) -> None:
    """Empty the vault, for when its key is lost; what holds placeholders keeps them for good."""
    confirm("Empty the vault? Placeholders in the store will stand for nothing.", yes=yes)
    with opened() as lila:
        gone = lila.privacy.reset()
    if as_json:
        document(gone=gone)
    else:
        answer(f"{gone:,} entries are gone")


def _print_report(found: PrivacyReport) -> None:
    for sink in found.sinks:
        what = ", ".join(sink.kinds) if sink.redact and sink.kinds else "nothing is replaced"
        answer(f"{sink.name}: {what}  ({sink.note})")
    answer(f"told placeholders: {', '.join(found.remote) or 'no model'}")
    answer(f"told everything, on this machine: {', '.join(found.local) or 'no model'}")
    entries = sum(one.placeholders for one in found.vault)
    kinds = ", ".join(f"{one.placeholders} {one.kind}" for one in found.vault)
    answer(f"vault: {entries:,} values{f' ({kinds})' if kinds else ''}, encrypted")
    if found.unreadable:
        answer(f"vault: {found.unreadable:,} values cannot be read with the key there is")
    answer(f"vault's key: {found.key or 'none yet'}")
    answer(f"store: {found.store}")
    answer(f"backups: {', '.join(found.backups) or 'none'}")
    answer(f"rules: {', '.join(found.files)}")
    answer("")
    if found.held:
        table(
            ("place", "kind", "as it is", "placeholders"),
            [(one.place, one.kind, one.plain, one.placeholders) for one in found.held],
        )
    else:
        answer("nothing that patterns find surely is in what is held")
    note(f"{found.texts:,} texts were looked through, the newest first; --all takes every one")
    note(found.note)


def _print_trial(trial: Trial) -> None:
    if trial.found:
        table(
            ("kind", "found", "on the wire", "in the store"),
            [
                (one.kind, one.text, _becomes(one.wire), _becomes(one.storage))
                for one in trial.found
            ],
        )
    else:
        answer("nothing was found")
    answer(f"\non the wire: {trial.wire}")
    answer(f"in the store: {trial.stored}")
    answer(f"restored: {'exactly' if trial.exact else trial.restored}")
    note(
        "recall is never 1: what was not found goes out as it is; a model on this machine is told "
        "everything, because nothing leaves"
    )


def _becomes(replaced: bool) -> str:
    return "replaced" if replaced else "as it is"
