"""`lila documents`: what LILA was given to read."""

from __future__ import annotations

import click

from lila_app.cli import options
from lila_app.cli.erasing import confirm, report_erased
from lila_app.cli.groups import NounGroup
from lila_app.cli.opening import opened, zone
from lila_app.cli.output import answer, document, local, note, table
from lila_app.views import DocumentInfo

_STATE = {"current": "", "changed": "changed since", "gone": "not there"}


@click.group(cls=NounGroup, default="list", default_if_no_args=True)
def documents() -> None:
    """List, show, search and forget documents.

    `lila ingest` reads files and keeps in step with them; what is forgotten here is erased from
    LILA, never from the disk.
    """


@documents.command("list")
@options.at_most(None)
@options.as_json
def list_documents(limit: int | None, as_json: bool) -> None:
    """List documents; a file that is no longer what was read says so."""
    with opened() as lila:
        found = lila.documents.list()
    found = found[-limit:] if limit else found
    if as_json:
        document(documents=found)
    elif found:
        table(("id", "passages", "read", "file", "title", "path"), [_row(one) for one in found])
    else:
        note("there is no document yet; `lila ingest PATH` takes some in")


def _row(one: DocumentInfo) -> tuple[object, ...]:
    read = local(one.ingested_at, zone())
    return (one.id, one.chunks, read, _STATE[one.state], one.title, one.path)


@documents.command()
@click.argument("id", metavar="ID")
@options.as_json
def show(id: str, as_json: bool) -> None:
    """Show a document as LILA keeps it: passage by passage."""
    with opened() as lila:
        found = lila.documents.show(id)
    info = found.info
    if as_json:
        document(document=info, passages=found.passages)
        return
    here = zone()
    answer(f"{info.id}  {info.title}\n{info.path}")
    dates = f"read {local(info.ingested_at, here)}"
    if info.modified:
        dates += f", file of {local(info.modified, here)}"
    answer(f"{info.kind}, {dates}{', ' if info.state != 'current' else ''}{_STATE[info.state]}")
    if info.problem:
        answer(info.problem)
    for passage in found.passages:
        answer(f"\n[{passage.id}, {passage.place}]\n{passage.text}")


@documents.command()
@click.argument("query", nargs=-1, required=True)
@options.at_most(10)
@options.as_json
def search(query: tuple[str, ...], limit: int, as_json: bool) -> None:
    """Search passages, best match first."""
    with opened() as lila:
        hits = lila.documents.search(" ".join(query), limit)
    if as_json:
        document(hits=hits)
    elif hits:
        table(("id", "score", "place", "passage"), [(h.id, h.score, h.place, h.text) for h in hits])
    else:
        note("nothing was found")


@documents.command()
@click.argument("id", metavar="ID")
@options.without_asking
@options.as_json
def forget(id: str, yes: bool, as_json: bool) -> None:
    """Erase a document from LILA: passages, index, records and replies that repeat it.

    The file stays. Ingesting its folder again would read it again.
    """
    with opened() as lila:
        info = lila.documents.show(id).info
        confirm(f"Forget {id} for good: {info.title} ({info.path})?", yes=yes)
        report = lila.documents.remove(id)
    report_erased(report, as_json=as_json)
