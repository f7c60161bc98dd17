"""A model that steps in while the first one's cache is warm, through settings and real SDKs."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from lila_app.assistant import open_lila
from lila_app.events import Done, Notice
from lila_app.paths import Home
from tests.assistant.conftest import collect
from tests.contracts.anthropic_server import anthropic_server
from tests.contracts.serving import OVERLOADED
from tests.gateway import chat_server
from tests.stories.crash_child import HashEmbedder

POLICY = """
[jobs]
reply = ["anthropic/claude-sonnet-5-5", "local/m"]
[calling]
backoff_ms = 1
"""


def _hello(exchange: chat_server.Exchange) -> None:
    exchange.begin()
    exchange.piece("Me.")
    exchange.piece(None, "stop")
    exchange.usage(prompt_tokens=30, completion_tokens=2, total_tokens=32)
    exchange.done()


def test_one_that_takes_less_answers_and_the_first_is_not_asked_again_with_its_prompt(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    places = Home.at(home)
    places.policies_dir.mkdir(parents=True, exist_ok=True)
    (places.policies_dir / "gateway.toml").write_text(POLICY, encoding="utf-8")
    with anthropic_server() as first, chat_server.serving(_hello) as second:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", first.origin)
        monkeypatch.setenv("ANTHROPIC_API_KEY", "key-of-nobody")
        settings = f'[providers.local]\nbase_url = "{second.base_url}"\n'
        places.settings_file.write_text(settings, encoding="utf-8")
        with open_lila(home, embedder=HashEmbedder()) as lila:
            asyncio.run(collect(lila, "One", session=None))
            first.fail(OVERLOADED, 2)
            happened = asyncio.run(collect(lila, "Two", session="s1"))
            assert happened[-1] == Done("s1", "c3", False, "local/m")
            (told,) = [event.text for event in happened if isinstance(event, Notice)]
            assert told.endswith("; local/m answers")
            assert len(first.seen) == 1 + 2
            assert lila.contexts.show("c3")["meta"]["parent_record_id"] == "c2"
