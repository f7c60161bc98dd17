"""A model that is left alone, and the person who mended what was wrong with it."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from lila_app.assistant import Lila, open_lila
from lila_app.errors import ConfigError
from lila_app.events import Notice
from lila_app.testing import FakeClock
from tests.assistant.conftest import collect
from tests.contracts.anthropic_server import anthropic_server
from tests.contracts.serving import Fault
from tests.contracts.wires import compatible
from tests.stories.crash_child import HashEmbedder

SONNET = "anthropic/claude-sonnet-5-5"
NO_MONEY = Fault("402", "status", status=402)


def notices(lila: Lila, session: str | None) -> list[str]:
    happened = asyncio.run(collect(lila, "Hello", session=session))
    return [event.text for event in happened if isinstance(event, Notice)]


async def _try(lila: Lila) -> list[tuple[str, bool]]:
    return [(stage.name, stage.ok) async for stage in lila.models.test(SONNET)]


def test_a_trial_that_succeeds_ends_the_wait_for_an_account_that_was_mended(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with anthropic_server() as server, compatible() as other:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.origin)
        monkeypatch.setenv("ANTHROPIC_API_KEY", "key-of-nobody")
        monkeypatch.setenv("LILA_MODEL", SONNET)
        monkeypatch.setenv("LILA_PROVIDERS__VLLM__BASE_URL", f"{other.server.origin}/v1")
        monkeypatch.setattr("lila_app.models.DEFAULT", "vllm/m")  # what is always there
        with open_lila(home, clock=FakeClock(), embedder=HashEmbedder()) as lila:
            server.fail(NO_MONEY, 2)
            assert len(notices(lila, None)) == 1
            (told,) = notices(lila, "s1")
            assert told.startswith(f"{SONNET} is left alone for 60 min more: ")
            assert "`lila models test` has it asked again at once" in told
            # One that fails changes nothing.
            assert ("stream", True) not in asyncio.run(_try(lila))
            assert len(notices(lila, "s1")) == 1
            assert ("stream", True) in asyncio.run(_try(lila))
            assert notices(lila, "s1") == []


def test_no_price_of_a_trial_is_told_for_a_name_that_leads_nowhere(home: Path) -> None:
    with open_lila(home, clock=FakeClock(), embedder=HashEmbedder()) as lila:
        for name in ("nobody/x", "anthropic"):
            with pytest.raises(ConfigError):
                lila.models.test_notice(name)
