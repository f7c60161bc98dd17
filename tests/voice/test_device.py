"""Whole conversations on a sound card, timed by a recorder that knows nothing of LILA.

The limits are generous: a busy machine must not fail them. `python -m tests.benchmarks.voice` says
what an idle one does.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from lila_app.voice.devices.card import SoundCard
from lila_app.voice.model import Phase
from lila_app.voice.policy import VoicePolicy
from lila_app.voice.stats import percentile
from tests.voice.clips import clips
from tests.voice.real import (
    LONG,
    Samples,
    Senses,
    barge_in,
    near,
    senses,
    stock,
    talking,
    voice_to_voice,
)
from tests.voice.sound import CANCELLER, Card, virtual_card

pytestmark = [pytest.mark.slow, pytest.mark.audio, pytest.mark.timeout(400)]

QUESTION = "sense_and_sensibility_01_austen_64kb-0930"
CARDS = ("001", "002", "003", "004", "goforward")
TALK = "I am going to talk about this for quite some time now. " * 3


@pytest.fixture
def card() -> Iterator[Card]:
    with virtual_card() as started:
        yield started


@pytest.fixture(scope="module")
def having(speech_models: Path, policy: VoicePolicy) -> Senses:
    return senses(speech_models, policy)


@pytest.fixture(scope="module")
def said() -> dict[str, Samples]:
    return {clip.name: near(clip.samples) for clip in clips()}


async def test_an_answer_comes_within_a_second_or_so_and_much_sooner_than_from_a_stock_loop(
    card: Card,
    having: Senses,
    speech_models: Path,
    policy: VoicePolicy,
    said: dict[str, Samples],
) -> None:
    spoken = [said[name] for name in CARDS]
    ours, traces = await voice_to_voice(card, having, policy, spoken)
    plain = stock(policy)
    theirs, _ = await voice_to_voice(card, senses(speech_models, plain), plain, spoken)
    assert percentile(ours, 50) < 1_500
    assert percentile(theirs, 50) > 1.5 * percentile(ours, 50)
    assert len(traces) == len(CARDS) and all(trace.speculated for trace in traces)


async def test_the_trace_says_what_the_recorder_heard(
    card: Card, having: Senses, policy: VoicePolicy, said: dict[str, Samples]
) -> None:
    heard, traces = await voice_to_voice(card, having, policy, [said["003"], said[QUESTION]])
    for recorded, trace in zip(heard, traces, strict=True):
        assert trace.audible is not None and trace.voiced is not None
        # The recorder takes a breath for silence where the model still hears speech, and the sound
        # is on its way for some 64 ms in and 40 ms out.
        assert abs(recorded - (trace.audible - trace.voiced)) < 400


async def test_who_speaks_over_lila_silences_it(
    card: Card, having: Senses, policy: VoicePolicy, said: dict[str, Samples]
) -> None:
    over = [said[QUESTION], said["002"], said["003"]]
    sound = SoundCard(headphones=True)
    times = await barge_in(card, sound, having, policy, said[QUESTION], over)
    assert percentile(times, 50) < 600


async def test_with_an_echo_canceller_lila_is_interrupted_by_others_and_not_by_itself(
    card: Card, having: Senses, policy: VoicePolicy, said: dict[str, Samples]
) -> None:
    card.echo()
    card.load(CANCELLER)
    sound = SoundCard(microphone="lila_ec_src", speaker="lila_ec_sink")
    assert sound.duplex()
    async with talking(card, sound, having, policy, TALK) as talk:
        await talk.say(said[QUESTION])
        await talk.answered(1)
        assert talk.view.interruptions == []
        await talk.say(said["003"])
        await talk.speaking()
        await talk.say(said[QUESTION])
        await talk.until(lambda: bool(talk.view.interruptions))
        await talk.until(lambda: talk.view.now is Phase.LISTENING)
    first, *_, last = talk.traces
    assert first.heard == first.said > 0
    assert last.heard == last.said > 0


async def test_without_one_lila_never_answers_itself(
    card: Card, having: Senses, policy: VoicePolicy, said: dict[str, Samples]
) -> None:
    card.echo()
    sound = SoundCard()
    assert not sound.duplex()
    async with talking(card, sound, having, policy, LONG) as talk:
        for turn in (1, 2):
            await talk.say(said[QUESTION])
            await talk.answered(turn, seconds=90)
        heard = [line for line in talk.view.lines if "heard:" in line]
        assert len(heard) == 2, talk.view.lines
        assert talk.view.interruptions == []
    spoken = sum(
        trace.ended - trace.audible for trace in talk.traces if trace.ended and trace.audible
    )
    assert spoken > 60_000


async def test_a_server_that_dies_in_mid_reply_is_told_of_and_the_conversation_goes_on(
    card: Card, having: Senses, policy: VoicePolicy, said: dict[str, Samples]
) -> None:
    async with talking(card, SoundCard(), having, policy, TALK) as talk:
        await talk.asks(said[QUESTION])
        card.kill()
        await talk.until(lambda: talk.tells("is gone"))
        card.start()
        await talk.until(lambda: talk.tells("microphone is back"))
        await talk.exchanges(said[QUESTION])


async def test_the_status_says_that_there_is_no_microphone_until_one_is_there(
    card: Card, having: Senses, policy: VoicePolicy
) -> None:
    async with talking(card, SoundCard(), having, policy, TALK) as talk:
        card.unload("lila_mic")
        await talk.until(lambda: talk.view.now is Phase.NO_MICROPHONE)
        card.load(Card.sink("lila_mic"))
        card.pactl("set-default-source", "lila_mic.monitor")
        await talk.until(lambda: talk.view.now is Phase.LISTENING)
        card.pactl("set-source-mute", "lila_mic.monitor", "1")
        await talk.until(lambda: talk.view.now is Phase.DEAF)
        card.pactl("set-source-mute", "lila_mic.monitor", "0")
        await talk.until(lambda: talk.view.now is Phase.LISTENING)
