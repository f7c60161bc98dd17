"""A spoken turn on the real embedded model: what it has to read, and who has to wait for it."""

from __future__ import annotations

import asyncio
import json
import os
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import aclosing
from pathlib import Path

import pytest

from lila_app.afterwards import Afterwards
from lila_app.assistant import Lila, open_lila
from lila_app.context import Source
from lila_app.errors import Cancelled
from lila_app.events import TextDelta
from lila_app.gateway.embedded.fetch import fetch
from lila_app.gateway.embedded.provider import EmbeddedProvider
from lila_app.gateway.embedded.weights import DEFAULT
from lila_app.gateway.port import Message, Request
from lila_app.gateway.routing import Routes, resolve
from lila_app.gateway.table import parse_gateway
from lila_app.paths import shipped
from lila_app.testing import FakeClock
from lila_app.voice.conversation import SpokenConversation
from tests.waiting import PATIENCE

pytestmark = pytest.mark.slow

TEMPLATE = "<|im_end|>\n<|im_start|>assistant\n"
"""What SmolLM2's chat template puts between the person's words and the reply."""
QUESTIONS = (
    "What is the capital of France?",
    "And how many people live in it?",
    "Tell me a short joke about cats please.",
)


@pytest.fixture(scope="module")
def weights() -> Path:
    chosen = os.environ.get("LILA_TEST_MODELS", "")
    folder = Path(chosen) if chosen else Path.home() / ".cache" / "lila-tests"
    fetch(folder, lambda done, total, label: None)
    return folder


@pytest.fixture
def provider(weights: Path) -> Iterator[EmbeddedProvider]:
    """Of its own for each test: what another one left in its cache would be read."""
    path = shipped("policies") / "gateway.toml"
    table = parse_gateway([Source(path.name, path.read_text(encoding="utf-8"))])
    made = resolve(DEFAULT, Routes(table), weights)
    assert isinstance(made, EmbeddedProvider)
    yield made
    asyncio.run(made.close())


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def lila(
    home: Path, provider: EmbeddedProvider, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Lila]:
    monkeypatch.setattr(Afterwards, "_embed", lambda *_: None)
    with open_lila(home, provider=provider, clock=clock) as opened:
        opened._resources.learns = False
        yield opened


@pytest.fixture
def tokens(provider: EmbeddedProvider) -> Callable[[str], int]:
    """Counts as the model's own tokenizer does, asked of its server."""

    def count(text: str) -> int:
        served = provider._server.ensure()
        request = urllib.request.Request(
            f"{served.address}/tokenize",
            json.dumps({"content": text, "parse_special": True}).encode(),
            {"Authorization": f"Bearer {served.key}", "Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
            return len(json.load(answer)["tokens"])

    return count


async def said(conversation: SpokenConversation, turn: int, text: str) -> None:
    async with aclosing(conversation.ask(turn, text)) as reply:
        async for _ in reply:
            pass


def evaluated(lila: Lila) -> list[int]:
    """Prompt tokens the model had to read for each call, in order."""
    with lila._resources.store.read() as connection:
        return [row[0] for row in connection.execute("select total - read from usage order by id")]


@pytest.mark.parametrize("continuity", [False, True])
async def test_a_turn_reads_the_persons_words_and_nothing_else_from_the_first_one_on(
    lila: Lila, clock: FakeClock, tokens: Callable[[str], int], continuity: bool
) -> None:
    conversation = SpokenConversation(lila, continuity=continuity)
    await conversation.start()
    for turn, words in enumerate(QUESTIONS, 1):
        clock.advance(61)  # another minute: the line with the clock is another one
        conversation.open(turn)
        assert conversation._warming is not None
        await asyncio.wait_for(conversation._warming, PATIENCE)
        await said(conversation, turn, words)
    await conversation.close()
    assert evaluated(lila) == [tokens(words) + tokens(TEMPLATE) for words in QUESTIONS]


async def test_without_reading_ahead_it_reads_everything_before_them_too(
    lila: Lila, clock: FakeClock, tokens: Callable[[str], int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The measure can fail: this is what the reading ahead saves."""
    monkeypatch.setattr(SpokenConversation, "_warm", lambda *_: None)
    conversation = SpokenConversation(lila)
    await conversation.start()
    for turn, words in enumerate(QUESTIONS, 1):
        clock.advance(61)
        conversation.open(turn)
        await said(conversation, turn, words)
    await conversation.close()
    more = [
        found - tokens(words) - tokens(TEMPLATE)
        for found, words in zip(evaluated(lila), QUESTIONS, strict=True)
    ]
    assert more[0] > 60, "the whole prompt"
    assert min(more[1:]) > 5, "the clock, and what stands after it"


async def test_a_chat_that_voice_takes_the_model_from_keeps_its_part_and_is_told(
    lila: Lila,
) -> None:
    async def chat(begun: asyncio.Event) -> None:
        async with aclosing(lila.turn("Tell a very long story about a sailor.")) as events:
            async for event in events:
                if isinstance(event, TextDelta):
                    begun.set()

    begun = asyncio.Event()
    chatting = asyncio.create_task(chat(begun))
    await asyncio.wait_for(begun.wait(), PATIENCE)
    conversation = SpokenConversation(lila)
    conversation.open(1)
    await said(conversation, 1, QUESTIONS[0])
    await conversation.close()
    with pytest.raises(Cancelled, match="more urgent") as told:
        await asyncio.wait_for(chatting, PATIENCE)
    assert "kept and marked as partial" in told.value.hint
    (turn,) = lila.sessions.show("s1").turns
    assert turn.reply and turn.stopped


async def test_a_conversation_that_ends_while_it_is_read_ahead_leaves_the_model_free(
    lila: Lila,
) -> None:
    conversation = SpokenConversation(lila)
    conversation.open(1)
    await conversation.close()
    following = SpokenConversation(lila)
    following.open(1)
    await asyncio.wait_for(said(following, 1, QUESTIONS[0]), PATIENCE)
    await following.close()


async def test_somebody_who_begins_to_speak_takes_the_model_from_background_work(
    lila: Lila, provider: EmbeddedProvider
) -> None:
    begun = asyncio.Event()

    async def background() -> None:
        story = Message("user", "Tell a very long story about a sailor.")
        async with aclosing(provider.stream(Request((story,), 1_500, slot="background"))) as events:
            async for event in events:
                if isinstance(event, TextDelta):
                    begun.set()

    working = asyncio.create_task(background())
    await asyncio.wait_for(begun.wait(), PATIENCE)
    conversation = SpokenConversation(lila)
    conversation.open(1)
    with pytest.raises(Cancelled):
        await asyncio.wait_for(working, PATIENCE)
    await conversation.close()


async def test_a_chat_goes_on_until_the_words_of_who_speaks_are_there(lila: Lila) -> None:
    pieces: asyncio.Queue[str] = asyncio.Queue()

    async def chat() -> None:
        async with aclosing(lila.turn("Tell a very long story about a sailor.")) as events:
            async for event in events:
                if isinstance(event, TextDelta):
                    pieces.put_nowait(event.text)

    chatting = asyncio.create_task(chat())
    await asyncio.wait_for(pieces.get(), PATIENCE)
    conversation = SpokenConversation(lila)
    conversation.open(1)
    for _ in range(20):
        await asyncio.wait_for(pieces.get(), PATIENCE)
    assert not chatting.done(), "it may be nothing, and it is read ahead for when the chat is done"
    await said(conversation, 1, QUESTIONS[0])
    await conversation.close()
    with pytest.raises(Cancelled):
        await asyncio.wait_for(chatting, PATIENCE)
