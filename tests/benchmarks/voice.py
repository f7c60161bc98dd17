"""How long LILA takes to answer aloud, and to fall silent, on a sound card that leads nowhere.

    python -m tests.benchmarks.voice            # the table; about four minutes
    python -m tests.benchmarks.voice --json     # the same as one JSON document

Voice activity, recogniser (whisper-base), synthesiser and sound card are real; the model's share is
a script: its first token after 50 ms. Times are an independent recorder's, from the last sound of
the person to the first of LILA. The stock loop waits as long, reads 30 s of context and asks then;
it is measured in the same run, so that a busy machine is busy for both.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from lila_app.context import Source
from lila_app.fetching.hub import Hub
from lila_app.paths import shipped
from lila_app.speech.fetch import Means, fetch
from lila_app.speech.published import PUBLISHED
from lila_app.voice.devices.card import SoundCard
from lila_app.voice.policy import VoicePolicy, load
from lila_app.voice.stats import percentile
from tests.voice.clips import Clip, clips
from tests.voice.real import Senses, barge_in, near, senses, stock, voice_to_voice
from tests.voice.sound import CANCELLER, Card, virtual_card

GOALS = {
    "default": 800,
    "fast": 600,
    "barge-in": 300,
    "barge-in, echo cancelled": 400,
}
"""Milliseconds: the p50 of an answer, the p95 of falling silent, on two idle cores."""

GOAL_RATIO = 2.5
"""How much sooner than the stock loop."""


@dataclass(frozen=True)
class Row:
    """What was measured, in ms."""

    what: str
    count: int
    p50: int
    p95: int
    goal: int | None


def policy(*, fast: bool = False) -> VoicePolicy:
    path = shipped("policies") / "voice.toml"
    return load([Source(path.name, path.read_text(encoding="utf-8"))], fast=fast)


def row(what: str, times: Sequence[int]) -> Row:
    return Row(what, len(times), percentile(times, 50), percentile(times, 95), GOALS.get(what))


async def answers(card: Card, folder: Path, repeat: int) -> list[Row]:
    """Voice to voice, of each profile and of the stock loop, the recordings taken in turn."""
    said = [clip.samples for clip in clips() if fluent(clip)] * repeat
    profiles = {"default": policy(), "fast": policy(fast=True), "stock": stock(policy())}
    rows: list[Row] = []
    for what, chosen in profiles.items():
        print(f"  {what} …", file=sys.stderr)
        times, _ = await voice_to_voice(card, senses(folder, chosen), chosen, said)
        print(f"    {times}", file=sys.stderr)
        rows.append(row(what, times))
    return rows


async def interruptions(card: Card, having: Senses, repeat: int) -> list[Row]:
    """Falling silent, on headphones and behind an echo canceller with the echo there."""
    over = [near(clip.samples) for clip in clips() if fluent(clip)] * repeat
    print("  barge-in …", file=sys.stderr)
    plain = await barge_in(card, SoundCard(headphones=True), having, policy(), over[0], over)
    card.echo()
    card.load(CANCELLER)
    print("  barge-in, echo cancelled …", file=sys.stderr)
    ends = SoundCard(microphone="lila_ec_src", speaker="lila_ec_sink")
    cancelled = await barge_in(card, ends, having, policy(), over[0], over)
    return [row("barge-in", plain), row("barge-in, echo cancelled", cancelled)]


def fluent(clip: Clip) -> bool:
    """Whether it is one turn for every loop: short, with no pause that would be the end of one."""
    return len(clip.samples) < 4 * 16_000 and clip.name != "005"


def models() -> Path:
    """A folder with the recogniser in it, fetched if it is not (LILA_TEST_MODELS names another)."""
    chosen = os.environ.get("LILA_TEST_MODELS", "")
    folder = Path(chosen) if chosen else Path.home() / ".cache" / "lila-tests"
    fetch(PUBLISHED["whisper-base"], folder, lambda *_: None, os.environ, Means(Hub(os.environ)))
    return folder


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.voice")
    parser.add_argument("--json", action="store_true", help="one JSON document")
    parser.add_argument("--repeat", type=int, default=1, help="take the recordings so often")
    asked = parser.parse_args()
    folder = models()
    with virtual_card() as card:
        rows = asyncio.run(answers(card, folder, asked.repeat))
        rows += asyncio.run(interruptions(card, senses(folder, policy()), asked.repeat))
    times = {found.what: found.p50 for found in rows}
    ratio = times["stock"] / times["default"]
    load_average = os.getloadavg()[0]
    if asked.json:
        print(json.dumps({"rows": [asdict(r) for r in rows], "ratio": ratio, "load": load_average}))
        return
    for found in rows:
        goal = f"goal {found.goal}" if found.goal else ""
        print(f"{found.what:28} n={found.count:<3} p50 {found.p50:5}  p95 {found.p95:5}  {goal}")
    print(f"stock / default: {ratio:.1f} (goal {GOAL_RATIO}); load {load_average:.1f}")


if __name__ == "__main__":
    main()
