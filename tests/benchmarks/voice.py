"""How long LILA takes to answer aloud, and to fall silent, on a sound card that leads nowhere.

    python -m tests.benchmarks.voice                # the table; about nine minutes
    python -m tests.benchmarks.voice --only model   # a part: answers, interruptions or model
    python -m tests.benchmarks.voice --json         # the same as one JSON document

Voice activity, recogniser, synthesiser and sound card are real; the model's share is a script: its
first token after 50 ms, and all others at once, or where a row says so 30 a second. Times are an
independent recorder's, from the last sound of the person to the first of LILA. The stock loop waits
as long, reads 30 s of context and asks then; it is measured in the same run, so that a busy machine
is busy for both. The rows of the embedded
model are a whole LILA's, with and without reading ahead while the person speaks; how many tokens of
its prompts it read once the words were there stands beside them.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from lila_app.assistant import Lila
from lila_app.context import Source
from lila_app.fetching.hub import Hub
from lila_app.gateway.embedded.fetch import fetch as fetch_model
from lila_app.paths import shipped
from lila_app.speech.fetch import Means, fetch
from lila_app.speech.published import PUBLISHED
from lila_app.voice.conversation import SpokenConversation
from lila_app.voice.devices.card import SoundCard
from lila_app.voice.policy import VoicePolicy, load
from lila_app.voice.stats import percentile
from tests.benchmarks.spoken import Unprepared, embedded, read
from tests.voice.clips import Clip, clips
from tests.voice.real import (
    SHORT,
    ScriptedModel,
    Senses,
    SwiftModel,
    barge_in,
    near,
    senses,
    stock,
    voice_to_voice,
    words,
)
from tests.voice.sound import CANCELLER, Card, virtual_card

PARTS = ("answers", "interruptions", "model")

BASE, TINY = "whisper-base", "whisper-tiny.en"

GOALS = {
    "default": 800,
    "fast": 600,
    "barge-in": 300,
    "barge-in, echo cancelled": 400,
}
"""Milliseconds: the p50 of an answer, the p95 of falling silent, on two idle cores."""

GOAL_RATIO = 2.5
"""How much sooner than the stock loop."""


_BEGUN = time.monotonic()


@dataclass(frozen=True)
class Row:
    """What was measured, in ms."""

    what: str
    count: int
    p50: int
    p95: int
    goal: int | None = None
    tokens: str = ""
    """Of its prompts, where a model read any."""


def policy(*, fast: bool = False) -> VoicePolicy:
    path = shipped("policies") / "voice.toml"
    return load([Source(path.name, path.read_text(encoding="utf-8"))], fast=fast)


def row(what: str, times: Sequence[int]) -> Row:
    return Row(what, len(times), percentile(times, 50), percentile(times, 95), GOALS.get(what))


async def answers(card: Card, folder: Path, repeat: int) -> list[Row]:
    """Voice to voice, of each profile and of the stock loop, the recordings taken in turn."""
    said = [clip.samples for clip in clips() if fluent(clip)] * repeat
    profiles = {
        "default": (policy(), BASE, SwiftModel),
        "fast": (policy(fast=True), BASE, SwiftModel),
        "fast, tiny.en": (policy(fast=True), TINY, SwiftModel),
        "stock": (stock(policy()), BASE, SwiftModel),
        "default, 30 tokens a second": (policy(), BASE, ScriptedModel),
        "fast, 30 tokens a second": (policy(fast=True), BASE, ScriptedModel),
    }
    rows: list[Row] = []
    for what, (chosen, recogniser, model) in profiles.items():
        print(f"  {what} …", file=sys.stderr)
        having = senses(folder, chosen, recogniser)
        times, _ = await voice_to_voice(card, having, chosen, said, model(words(SHORT)))
        print(f"    {times}", file=sys.stderr)
        rows.append(row(what, times))
    return rows


async def interruptions(card: Card, having: Senses, repeat: int) -> list[Row]:
    """Falling silent, on headphones and behind an echo canceller with the echo of a room there.

    As loud as it is played, an echo drowns who speaks over it; no canceller leaves much of them.
    """
    over = [near(clip.samples) for clip in clips() if fluent(clip)] * repeat
    print("  barge-in …", file=sys.stderr)
    plain = await barge_in(card, SoundCard(headphones=True), having, policy(), over[0], over)
    card.echo(quieter=10)
    card.load(CANCELLER)
    print("  barge-in, echo cancelled …", file=sys.stderr)
    ends = SoundCard(microphone="lila_ec_src", speaker="lila_ec_sink")
    cancelled = await barge_in(card, ends, having, policy(), over[0], over)
    return [row("barge-in", plain), row("barge-in, echo cancelled", cancelled)]


async def model(card: Card, having: Senses, lila: Lila, ready: type[SpokenConversation]) -> Row:
    """Voice to voice with the model that LILA brings."""
    what = f"embedded model, {'unwarmed' if ready is Unprepared else 'read ahead'}"
    print(f"  {what} …", file=sys.stderr)
    said = [clip.samples for clip in clips() if fluent(clip)]
    conversation = ready(lila)
    await conversation.start()
    try:
        times, _ = await voice_to_voice(card, having, policy(), said, conversation)
    finally:
        await conversation.close()
    print(f"    {times} {read(lila)}", file=sys.stderr)
    total, evaluated = (percentile(counts, 50) for counts in zip(*read(lila), strict=True))
    return replace(row(what, times), tokens=f"read {evaluated} of {total} tokens")


def hurried() -> datetime:
    """A clock sixty times too fast: that line of a prompt is never the same for two turns."""
    return datetime(2026, 11, 30, tzinfo=UTC) + timedelta(minutes=time.monotonic() - _BEGUN)


def fluent(clip: Clip) -> bool:
    """Whether it is one turn for every loop: short, with no pause that would be the end of one."""
    return len(clip.samples) < 4 * 16_000 and clip.name != "005"


def models() -> Path:
    """A folder with the recogniser in it, fetched if it is not (LILA_TEST_MODELS names another)."""
    chosen = os.environ.get("LILA_TEST_MODELS", "")
    folder = Path(chosen) if chosen else Path.home() / ".cache" / "lila-tests"
    for name in (BASE, TINY):
        fetch(PUBLISHED[name], folder, lambda *_: None, os.environ, Means(Hub(os.environ)))
    return folder


def measured(card: Card, part: str, repeat: int) -> list[Row]:
    """The rows of a part."""
    folder = models()
    if part == "answers":
        return asyncio.run(answers(card, folder, repeat))
    having = senses(folder, policy())
    if part == "interruptions":
        return asyncio.run(interruptions(card, having, repeat))
    fetch_model(folder, lambda *_: None)
    rows: list[Row] = []
    for ready in (SpokenConversation, Unprepared):
        with embedded(folder, hurried) as lila:
            rows.append(asyncio.run(model(card, having, lila, ready)))
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.voice")
    parser.add_argument("--json", action="store_true", help="one JSON document")
    parser.add_argument("--repeat", type=int, default=1, help="take the recordings so often")
    parser.add_argument("--only", choices=PARTS, help="measure this part alone")
    asked = parser.parse_args()
    rows: list[Row] = []
    for part in [asked.only] if asked.only else PARTS:
        with virtual_card() as card:
            rows += measured(card, part, asked.repeat)
    times = {found.what: found.p50 for found in rows}
    ratio = times["stock"] / times["default"] if "stock" in times else None
    load_average = os.getloadavg()[0]
    if asked.json:
        print(json.dumps({"rows": [asdict(r) for r in rows], "ratio": ratio, "load": load_average}))
        return
    for found in rows:
        beside = f"goal {found.goal}" if found.goal else found.tokens
        print(f"{found.what:28} n={found.count:<3} p50 {found.p50:5}  p95 {found.p95:5}  {beside}")
    against = f"stock / default: {ratio:.1f} (goal {GOAL_RATIO}); " if ratio else ""
    print(f"{against}load {load_average:.1f}")


if __name__ == "__main__":
    main()
