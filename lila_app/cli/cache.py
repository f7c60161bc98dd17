"""`lila cache`: how well providers' caches are used."""

from __future__ import annotations

import click

from lila_app.cli import options
from lila_app.cli.groups import NounGroup
from lila_app.cli.opening import opened, zone
from lila_app.cli.output import answer, document, local, note, table
from lila_app.costs.views import BreakpointLine, CacheLine, CacheReport


@click.group(cls=NounGroup, default="report", default_if_no_args=True)
def cache() -> None:
    """Show how well the caches of model providers are used."""


@cache.command()
@options.as_json
def report(as_json: bool) -> None:
    """Show the last 30 days: reuse, the lifetimes chosen and why, reads, savings, warnings."""
    with opened() as lila:
        found = lila.cache.report()
    if as_json:
        document(cache=found)
        return
    if not found.lines:
        note("no model was called in the last 30 days")
    else:
        _print_rule(found)
    for line in found.lines:
        _print_line(line)
    _print_warnings(found)


def _print_rule(found: CacheReport) -> None:
    answer(found.formula)
    answer(
        f"below {found.least} calls measured: {found.default or 'not marked'} "
        "(policies/caching.toml)"
    )


def _print_line(line: CacheLine) -> None:
    answer(f"\n{line.use_case or 'without a use case'} under {line.model}: {line.calls} calls")
    read = "not reported" if line.read is None else f"{line.read:,}"
    share = f" ({line.read / line.total:.0%})" if line.read is not None and line.total else ""
    written = "not reported" if line.written is None else f"{line.written:,}"
    saved = "not known" if line.saved is None else f"${line.saved:.4f}"
    answer(f"prompt tokens {line.total:,}, read {read}{share}, written {written}, saved {saved}")
    held = line.contract
    answer(
        f"contract {held.kind}: from {held.minimum:,} tokens, {held.short_seconds} s at "
        f"{held.write_short:g}, {held.long_seconds} s at {held.write_long:g}, read at "
        f"{held.read:g} ({held.as_of}: {held.source})"
    )
    if line.breakpoints:
        table(
            (
                *("after", "calls", "p short", "pays from", "q long", "pays from", "median gap"),
                *("not cached", "short", "long", "chosen"),
            ),
            [_row(one) for one in line.breakpoints],
        )


def _row(one: BreakpointLine) -> tuple[object, ...]:
    gap = "" if one.gap is None else f"{one.gap:.0f} s"
    chosen = one.choice or "not marked"
    return (
        *(one.after, one.calls, _share(one.short, one.calls), _percent(one.short_from)),
        *(_share(one.long, one.calls), _percent(one.long_from), gap),
        *("1.00", _times(one.cost_short), _times(one.cost_long)),
        chosen if one.measured else f"{chosen} (default)",
    )


def _print_warnings(found: CacheReport) -> None:
    here = zone()
    for one in found.warnings:
        where = f" {one.record_id}" if one.record_id else ""
        answer(f"warning: {local(one.at, here)} {one.session_id}{where} {one.model}: {one.text}")
    if found.lines and not found.warnings:
        answer("\nno promised read was missed")


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.0%}" if whole else ""


def _percent(share: float | None) -> str:
    return "" if share is None else f"{share:.0%}"


def _times(cost: float | None) -> str:
    return "" if cost is None else f"{cost:.2f}"
