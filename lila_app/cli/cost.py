"""`lila cost`: what models cost."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

import click

from lila_app.cli import options
from lila_app.cli.groups import NounGroup
from lila_app.cli.opening import opened, zone
from lila_app.cli.output import answer, document, local, note, table
from lila_app.costs.views import BlockCost, LayerReport, UsageLine, UsageReport


@click.group(cls=NounGroup, default="usage", default_if_no_args=True)
def cost() -> None:
    """Show what models cost, and what each layer of a prompt would."""


@cost.command()
@click.option("--month", metavar="YYYY-MM", help="Which month; the present one by default.")
@options.as_json
def usage(month: str | None, as_json: bool) -> None:
    """Show a month's calls by model and job, failed ones too, and what they cost."""
    with opened() as lila:
        found = lila.costs.usage(month)
    if as_json:
        document(usage=found)
        return
    if not found.lines:
        note(f"no model was called in {found.month}")
    else:
        _print_lines(found.lines)
    _print_sum(found)


@cost.command()
@click.option("--use-case", default="chat", show_default=True, help="A row of the policy.")
@options.with_model
@click.option(
    "--daily",
    type=click.IntRange(min=1),
    default=50,
    show_default=True,
    metavar="N",
    help="Calls a day.",
)
@options.as_json
def layers(use_case: str, model: str | None, daily: int, as_json: bool) -> None:
    """Price every layer of a policy: what it costs a day uncached, and as it would be cached.

    Sizes are those of stored prompts where there are some, else the policy's own.
    """
    with opened() as lila:
        found = lila.costs.layers(use_case, model, daily)
    if as_json:
        document(layers=found)
    else:
        _print_layers(found)


def _print_lines(lines: Sequence[UsageLine]) -> None:
    table(
        (
            *("model", "job", "calls", "failed", "uncached", "read", "written", "written long"),
            *("output", "first token ms", "p95", "cost $"),
        ),
        [
            (
                *(f"{line.provider}/{line.model}", line.job, line.attempts, line.failed),
                *(line.uncached, _known(line.read), _known(line.written_short)),
                *(_known(line.written_long), line.output, _known(line.first_token_p50)),
                *(_known(line.first_token_p95), _cost(line)),
            )
            for line in lines
        ],
    )


def _print_sum(found: UsageReport) -> None:
    budget = f" of ${found.budget:.2f}" if found.budget is not None else ""
    answer(f"\n{found.month}: {_dollars(found.cost)}{budget}")
    for line in found.lines:
        for reason in line.notes:
            answer(f"{line.provider}/{line.model}: without a cost: {reason}")
    for prices in found.prices:
        answer(f"prices: {prices}")
    here = zone()
    for ratio in found.ratios:
        answer(
            f"{ratio.model}: {ratio.ratio / 10_000:.2f} of its tokens to a declared one at most, "
            f"seen {local(ratio.at, here)} on a prompt of {ratio.tokens:,}"
        )


def _print_layers(found: LayerReport) -> None:
    sizes = f"measured on {found.records} prompts" if found.records else "the policy's own"
    answer(
        f"{found.use_case} under {found.model}, {found.daily} calls a day; sizes: {sizes}; "
        f"{found.ratio / 10_000:.2f} of its tokens to a declared one ({found.ratio_basis})"
    )
    table(
        ("", "block", "tokens", "from", "cached", "uncached $", "cached $"),
        [
            (
                *(one.lifetime, one.block, one.tokens, one.basis, one.ttl or "no"),
                *(_dollars(one.uncached), _dollars(one.cached)),
            )
            for one in found.blocks
        ],
    )
    answer("")
    table(("layer", "tokens", "uncached $", "cached $"), list(_by_layer(found.blocks)))
    answer(
        f"reply: {found.output} tokens ({found.output_basis}), {_dollars(found.output_cost)} a day"
    )
    whole = sum((one.cached for one in found.blocks), found.output_cost)
    answer(f"together: {_dollars(whole)} a day")
    if found.assumed:
        answer(f"assumed: {found.assumed}")
    if found.prices:
        answer(f"prices: {found.prices}")


def _by_layer(blocks: Sequence[BlockCost]) -> list[tuple[object, ...]]:
    rows: dict[str, list[BlockCost]] = {}
    for block in blocks:
        rows.setdefault(block.lifetime, []).append(block)
    return [
        (
            *(lifetime, sum(one.tokens for one in held)),
            *(_dollars(sum((one.uncached for one in held), Decimal(0))),),
            *(_dollars(sum((one.cached for one in held), Decimal(0))),),
        )
        for lifetime, held in rows.items()
    ]


def _dollars(amount: Decimal) -> str:
    """Cents where there are any, else as many digits as show something."""
    return f"${amount:.2f}" if not amount or abs(amount) >= 1 else f"${amount:.4f}"


def _cost(line: UsageLine) -> str:
    cost = _dollars(line.cost)
    return f"{cost} (+{line.unpriced} unknown)" if line.unpriced else cost


def _known(number: int | None) -> object:
    return "?" if number is None else number
