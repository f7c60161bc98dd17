"""`lila models`: who answers."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

import click

from lila_app.cli import first_start, options
from lila_app.cli.groups import NounGroup
from lila_app.cli.opening import opened
from lila_app.cli.output import answer, document, note, table
from lila_app.errors import GatewayError, NotFoundError
from lila_app.views import ModelInfo, Stage

if TYPE_CHECKING:
    from lila_app.assistant import Lila


@click.group(cls=NounGroup, default="list", default_if_no_args=True)
def models() -> None:
    """List, fetch, adopt, choose and test models."""


@models.command("list")
@options.as_json
def list_models(as_json: bool) -> None:
    """List the models LILA can talk to and hear with, and say plainly what each is good for."""
    with opened() as lila:
        found, speech = lila.models.list(), lila.models.list_speech()
    if as_json:
        document(models=found, speech=speech)
        return
    rows = [
        (
            "*" if known.default else "",
            known.name,
            known.kind,
            "yes" if known.installed else "no",
            known.note,
        )
        for known in (*found, *speech)
    ]
    table(("", "name", "kind", "here", "good for"), rows)


@models.command()
@click.argument("name", required=False)
@options.as_json
def pull(name: str | None, as_json: bool) -> None:
    """Fetch a model's weights (the default model's without NAME); what came whole is kept."""
    with opened() as lila:
        known = _named(lila, name)
        first_start.fetch(lila, known)
    if as_json:
        document(pulled=known)


@models.command()
@click.argument("file", type=click.Path(path_type=Path), metavar="FILE.gguf")
@options.as_json
def adopt(file: Path, as_json: bool) -> None:
    """Use a GGUF file of yours as an embedded model, without any network."""
    with opened() as lila:
        made = lila.models.adopt(file)
    if as_json:
        document(model=made)
    else:
        answer(made.name)


@models.command()
@click.argument("name", required=False)
@options.as_json
def default(name: str | None, as_json: bool) -> None:
    """Show the model that answers, or let NAME answer from now on."""
    with opened() as lila:
        if name is not None:
            lila.models.set_default(name)
            if doubt := lila.models.doubt(name):
                note(doubt)
        chosen = _default(lila)
    if as_json:
        document(model=chosen)
    else:
        answer(chosen.name)


@models.command()
@click.argument("name", required=False)
@options.as_json
def test(name: str | None, as_json: bool) -> None:
    """Talk to a model stage by stage and say where it fails; three short calls."""
    with opened() as lila:
        tried = _named(lila, name)
        if notice := lila.models.test_notice(tried):
            note(f"{tried}: {notice}")
        stages = asyncio.run(_stages(lila, tried, show=not as_json))
    if as_json:
        document(stages=stages)
    failed = [stage for stage in stages if not stage.ok]
    if failed:
        raise GatewayError(f"{failed[0].name}: {failed[0].detail}", hint="see `lila doctor`")


async def _stages(lila: Lila, name: str, *, show: bool) -> list[Stage]:
    seen: list[Stage] = []
    async for stage in lila.models.test(name):
        seen.append(stage)
        if show:
            answer(f"{'ok  ' if stage.ok else 'FAIL'} {stage.name}: {stage.detail}")
    return seen


def _named(lila: Lila, name: str | None) -> str:
    return name if name is not None else _default(lila).name


def _default(lila: Lila) -> ModelInfo:
    for known in lila.models.list():
        if known.default:
            return known
    raise NotFoundError("no model is set to answer", hint="`lila models default NAME` sets one")
