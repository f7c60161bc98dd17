"""The real assembler and the real SDKs: no value is in any request body, and caches read as before.

The contract servers count what their caches read; the keys come from the environment, so that the
providers are made where they always are.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from contextlib import aclosing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import pytest

from lila_app.assistant import Lila, open_lila
from lila_app.events import TextDelta, TurnEvent
from lila_app.paths import Home
from lila_app.testing import FakeClock
from tests.contracts import anthropic_server as anthropic
from tests.contracts import gemini_server as gemini
from tests.contracts import openai_server as openai
from tests.contracts.counted import Counted, Sum
from tests.contracts.serving import Exchange
from tests.stories.crash_child import HashEmbedder

VALUES = (
    "ada.lovelace@example.org",
    "+44 20 7946 0018",
    "4111 1111 1111 1111",
    "GB29 NWBK 6016 1331 9268 19",
    "123-45-6789",
)
SAID = (
    f"My mail is {VALUES[0]} and my telephone {VALUES[1]}.",
    f"Pay with {VALUES[2]} from {VALUES[3]}, please.",
    f"My social security number is {VALUES[4]}; what was my mail?",
    "And once more, what was my telephone?",
)


FILLER = " It is a long story of ferries that left late and of boats that were mended." * 25
"""Enough for a prefix that is worth caching."""
REPLIES = (
    "Noted: [MAIL1] and [PHONE2].",
    "Paid with [CARD3].",
    "It is [MAIL1].",
    "It is [PHONE2], as you said.",
)


class Talking(Protocol):
    """A contract server as these tests need it."""

    seen: list[Exchange]
    counted: list[Counted]

    def say(self, text: str) -> None: ...

    @property
    def ideal(self) -> Sum: ...


@contextmanager
def talking(
    name: str, clock: FakeClock, patch: pytest.MonkeyPatch
) -> Iterator[tuple[Talking, str]]:
    """A server of a provider, which the environment points at, and a model of it."""
    match name:
        case "anthropic":
            with anthropic.anthropic_server(clock) as one:
                patch.setenv("ANTHROPIC_API_KEY", "sk-ant-MARKED-KEY")
                patch.setenv("ANTHROPIC_BASE_URL", one.origin)
                yield one, "anthropic/claude-sonnet-5-5"
        case "openai":
            with openai.openai_server(clock) as two:
                patch.setenv("OPENAI_API_KEY", openai.KEY)
                patch.setenv("OPENAI_BASE_URL", two.base_url)
                yield two, "openai/gpt-5.6"
        case _:
            with gemini.gemini(clock) as three:
                patch.setenv("GEMINI_API_KEY", "the-right-key")
                patch.setenv("GOOGLE_GEMINI_BASE_URL", three.origin)
                yield three, "gemini/gemini-3.8-flash"


async def converse(lila: Lila, server: Talking, clock: FakeClock, model: str) -> list[str]:
    """What the person saw of each reply."""
    session = lila.sessions.create("Privacy").id
    seen: list[str] = []
    for said, reply in zip(SAID, REPLIES, strict=True):
        clock.advance(61)
        server.say(reply)
        found: list[TurnEvent] = []
        async with aclosing(lila.turn(said + FILLER, session=session, model=model)) as events:
            async for event in events:
                found.append(event)
        seen.append("".join(one.text for one in found if isinstance(one, TextDelta)))
    return seen


def chat(home: Path, name: str, patch: pytest.MonkeyPatch, rules: str = "") -> Told:
    clock = FakeClock("2026-11-30T08:00:00+00:00")
    place = Home.at(home)
    place.create()
    (place.config_dir / "persona.md").write_text("You are Lila, and answer in few words. " * 45)
    if rules:
        (place.policies_dir / "privacy.toml").write_text(rules)
    with talking(name, clock, patch) as (server, model):
        with open_lila(home, clock=clock, embedder=HashEmbedder()) as lila:
            seen = asyncio.run(converse(lila, server, clock, model))
            stored = [one.user for one in lila.sessions.show(lila.sessions.list()[0].id).turns]
        raw = [json.dumps(one.body, ensure_ascii=False) + one.raw.decode() for one in server.seen]
        reads = [one.read for one in server.counted]
        return Told(seen, stored, raw, server.ideal.read_share, reads)


@dataclass(frozen=True)
class Told:
    seen: list[str]
    stored: list[str]
    bodies: list[str]
    read_share: float
    reads: list[int]


@pytest.mark.parametrize(
    "name",
    [
        "gemini",  # the fast one: its stream has counts between the pieces
        pytest.param("anthropic", marks=pytest.mark.slow),
        pytest.param("openai", marks=pytest.mark.slow),
    ],
)
def test_no_value_is_in_a_request_and_the_person_sees_them_all(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = chat(tmp_path / "guarded", name, monkeypatch)
    assert len(told.bodies) >= len(SAID)
    for body in told.bodies:
        for value in VALUES:
            assert value not in body
            assert value.replace(" ", "") not in body.replace(" ", "")
    assert "[MAIL1]" in told.bodies[0]
    assert told.seen == [
        f"Noted: {VALUES[0]} and {VALUES[1]}.",
        f"Paid with {VALUES[2]}.",
        f"It is {VALUES[0]}.",
        f"It is {VALUES[1]}, as you said.",
    ]
    assert told.stored == [said + FILLER for said in SAID]  # the store holds what was said
    home = Home.at(tmp_path / "guarded")
    logged = home.log_file.read_text() if home.log_file.exists() else ""
    assert not any(value in logged for value in VALUES)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["anthropic", "openai"])
def test_what_is_cached_is_read_as_without_the_guard(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = chat(tmp_path / "guarded", name, monkeypatch)
    plain = chat(tmp_path / "open", name, monkeypatch, "[wire]\nredact = false\n")
    assert VALUES[0] in plain.bodies[0]
    assert [read > 0 for read in told.reads] == [read > 0 for read in plain.reads]
    assert told.reads[-1] > 0
    assert told.read_share == pytest.approx(plain.read_share, abs=0.02)


def test_with_the_store_redacted_too_both_hold_the_same_placeholders(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "both"
    told = chat(home, "anthropic", monkeypatch, "[storage]\nredact = true\n")
    for value in VALUES:
        assert not any(value in body for body in told.bodies)
        assert not any(value.encode() in path.read_bytes() for path in home.rglob("*.db*"))
    assert "[TEXT" not in "".join(told.bodies)  # a placeholder of the store is none that is escaped
    assert told.seen[2:] == [f"It is {VALUES[0]}.", f"It is {VALUES[1]}, as you said."]
    assert told.stored == [said + FILLER for said in SAID]
