"""What may not change within an epoch."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lila_app.context.items import ModelLimits
from lila_app.errors import FrozenError
from lila_app.gateway.port import Request, Tool
from tests.gateway.bench import ASKED, Bench, model, text


async def test_a_tool_that_appears_within_an_epoch_is_refused_and_a_new_epoch_allows_it() -> None:
    bench = Bench(model("a/one", "1", "2", limits=ModelLimits(100_000, 50_000, tools=True)))
    await bench.ask()
    tooled = replace(ASKED, tools=(Tool("notes", "Keeps notes.", {"type": "object"}),))
    error = await bench.fails(FrozenError, tooled)
    assert "new epoch" in error.hint
    assert len(bench.models[0].requests) == 1
    begun = replace(tooled, cache=replace(tooled.cache, epoch=4))
    assert text(await bench.ask(begun)) == "2"


@pytest.mark.parametrize(
    "changed",
    [
        replace(ASKED, effort="high"),
        replace(ASKED, schema={"type": "object"}),
    ],
)
async def test_effort_and_output_format_are_frozen_too(changed: Request) -> None:
    bench = Bench(model("a/one", "1"))
    await bench.ask()
    await bench.fails(FrozenError, changed)


async def test_limits_learnt_meanwhile_and_another_job_are_no_toggle() -> None:
    bench = Bench(model("a/one", "1"))
    await bench.ask()
    learnt = model("a/one", "2", "3", limits=ModelLimits(90_000, 40_000, 12_000))
    bench.models = (learnt,)
    assert text(await bench.ask()) == "2"
    summary = replace(ASKED, job="summary", schema={"type": "object"})
    assert text(await bench.ask(summary)) == "3"
