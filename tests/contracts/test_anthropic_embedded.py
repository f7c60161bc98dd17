"""The embedded model through its own Messages endpoint, by the official SDK: a real cache."""

from __future__ import annotations

import pytest

from lila_app.context.items import ModelLimits
from lila_app.gateway.access import Access
from lila_app.gateway.anthropic.provider import AnthropicProvider
from lila_app.gateway.contract import CacheContract
from lila_app.gateway.embedded import EmbeddedProvider
from lila_app.gateway.port import Finished, Message, Receipt, Request, TextDelta, Usage
from tests.contracts.asking_anthropic import events
from tests.gateway.conftest import embedded, models_dir, table

__all__ = ["embedded", "models_dir", "table"]

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

PERSONA = "You answer in few words about the ferry, the wall and the larch planks. " * 12


def asked(question: str) -> Request:
    system = Message("system", PERSONA, breakpoint=True)
    return Request((system, Message("user", question)), max_tokens=4)


async def test_the_second_call_reads_what_the_first_evaluated(
    embedded: EmbeddedProvider,
) -> None:
    served = embedded._server.ensure()  # pyright: ignore[reportPrivateUsage]
    provider = AnthropicProvider(
        "anthropic/smollm2",
        Access(served.address, served.key),
        ModelLimits(window=8_192, context_budget=4_000),
        CacheContract("anthropic"),
    )
    first = await events(provider, asked("When does the ferry leave?"))
    second = await events(provider, asked("Where do the planks lie?"))
    for said in (first, second):
        assert isinstance(said[0], TextDelta)
        assert [type(event) for event in said[-3:]] == [Receipt, Usage, Finished]
    (usage,) = [event for event in second if isinstance(event, Usage)]
    assert usage.total is not None
    assert usage.read is not None
    assert usage.read > 150, "the persona has about 190 tokens"
    assert usage.read > 0.8 * usage.total
