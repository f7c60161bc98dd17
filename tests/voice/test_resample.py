"""Another sample rate: the same sound, however the stream is cut."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lila_app.voice.resample import Resampler

RATES = [(48_000, 16_000), (44_100, 16_000), (22_050, 16_000), (8_000, 16_000), (22_050, 48_000)]


def tone(hertz: float, rate: int, count: int) -> np.ndarray:
    return np.rint(10_000 * np.sin(2 * np.pi * hertz * np.arange(count) / rate)).astype(np.int16)


def resampled(samples: np.ndarray, source: int, target: int, block: int) -> np.ndarray:
    resampler = Resampler(source, target)
    parts = [resampler.feed(samples[at : at + block]) for at in range(0, len(samples), block)]
    return np.concatenate([*parts, resampler.rest()])


@pytest.mark.parametrize(("source", "target"), RATES)
@pytest.mark.parametrize("hertz", [200, 1_000, 3_000])
def test_a_tone_stays_the_tone_it_was_at_its_place(source: int, target: int, hertz: int) -> None:
    made = resampled(tone(hertz, source, source), source, target, 512)
    wanted = tone(hertz, target, target)
    assert len(made) == target
    assert np.abs(made[300:-300].astype(int) - wanted[300:-300]).max() < 25  # -52 dB


@pytest.mark.parametrize("source", [48_000, 44_100, 22_050])
def test_what_the_lower_rate_cannot_hold_is_gone(source: int) -> None:
    made = resampled(tone(10_000, source, source), source, 16_000, 512)
    assert np.abs(made[300:-300].astype(int)).max() < 20


def test_the_loudest_sound_is_clipped_and_not_turned_over() -> None:
    square = np.where(np.arange(4_800) % 96 < 48, 32_767, -32_768).astype(np.int16)
    made = resampled(square, 48_000, 16_000, 512).astype(int)
    assert np.abs(np.diff(made)).max() < 65_536
    assert made.max() == 32_767 and made.min() == -32_768


def test_the_same_rate_changes_nothing() -> None:
    samples = tone(300, 16_000, 1_000)
    assert np.array_equal(resampled(samples, 16_000, 16_000, 100), samples)


@given(
    st.sampled_from(RATES),
    st.lists(st.integers(0, 700), max_size=8),
    st.integers(0, 2**32 - 1),
)
def test_the_cuts_make_no_difference(rates: tuple[int, int], cuts: list[int], seed: int) -> None:
    samples = np.random.default_rng(seed).integers(-9_000, 9_000, sum(cuts)).astype(np.int16)
    whole = resampled(samples, *rates, max(1, len(samples)))
    resampler = Resampler(*rates)
    ends = np.cumsum([0, *cuts])
    parts = [resampler.feed(samples[first:last]) for first, last in pairwise(ends)]
    assert np.array_equal(np.concatenate([*parts, resampler.rest()]), whole)
    assert len(whole) == -(-len(samples) * rates[1] // rates[0])
