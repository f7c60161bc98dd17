"""Recorded speech with what is said in it, and noises nobody said anything in.

The recordings are Debian's `pocketsphinx-testdata`: five sentences of LibriVox, five spoken hands
of cards, a command and a number, with their transcripts.
"""

from __future__ import annotations

import re
import wave
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tests.voice.sound import required

RATE = 16_000
DATA = Path("/usr/share/pocketsphinx/test/data")

Samples = NDArray[np.int16]


@dataclass(frozen=True)
class Clip:
    """A recording, 16 kHz mono, and its words."""

    name: str
    samples: Samples
    said: str


def clips() -> tuple[Clip, ...]:
    """Every recording of the package that has a transcript; fails or skips without it."""
    if not DATA.is_dir():
        required("recorded speech", "pocketsphinx-testdata")
    found = [
        *_transcribed(DATA / "librivox", "transcription"),
        *_transcribed(DATA / "cards", "cards.transcription"),
        Clip("goforward", np.fromfile(DATA / "goforward.raw", np.int16), "go forward ten meters"),
        Clip(
            "dhd.2934z",
            np.fromfile(DATA / "tidigits/dhd.2934z.raw", np.int16),
            "two nine three four zero",
        ),
    ]
    assert len(found) == 12
    return tuple(found)


def _transcribed(folder: Path, table: str) -> list[Clip]:
    lines = (folder / table).read_text(encoding="ascii").splitlines()
    rows = [re.fullmatch(r"<s> (.*?)\s*</s> \((.*)\)", line.strip()) for line in lines]
    return [Clip(row[2], read_wav(folder / f"{row[2]}.wav"), row[1]) for row in rows if row]


def read_wav(path: Path) -> Samples:
    """The samples of a mono file at 16 kHz."""
    with wave.open(str(path)) as file:
        assert (file.getframerate(), file.getnchannels(), file.getsampwidth()) == (RATE, 1, 2)
        return np.frombuffer(file.readframes(file.getnframes()), np.int16)


DIGITS = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]


def normal(text: str) -> list[str]:
    """The words of a text, as a person would count them: numbers as words, no punctuation.

    A number above ten is its digits, since that is how the recordings say theirs.
    """
    text = text.casefold().replace("mr.", "mister").replace("-", " ")
    found: list[str] = []
    for word in re.findall(r"[a-z']+|\d+", text):
        if word == "10":
            found.append("ten")
        elif word.isdigit():
            found += [DIGITS[int(digit)] for digit in word]
        else:
            found.append(word)
    return found


def wrong(said: str, read: str) -> int:
    """Words that were changed, left out or put in: the least number that explains a reading."""
    target, found = normal(said), normal(read)
    row = list(range(len(found) + 1))
    for at, word in enumerate(target, 1):
        last, row[0] = row[0], at
        for place, other in enumerate(found, 1):
            last, row[place] = (
                row[place],
                min(row[place] + 1, row[place - 1] + 1, last + (word != other)),
            )
    return row[-1]


def share_wrong(read: dict[str, str], all_clips: tuple[Clip, ...]) -> float:
    """The word error rate, in per cent, of a reading of each clip by name."""
    words = sum(len(normal(clip.said)) for clip in all_clips)
    return 100 * sum(wrong(clip.said, read[clip.name]) for clip in all_clips) / words


def noises(seconds: float = 3.0, seed: int = 5) -> dict[str, Samples]:
    """Twenty sounds that are no speech, by what they are like."""
    random = np.random.default_rng(seed)
    time = np.arange(round(seconds * RATE)) / RATE
    white = random.normal(size=time.size)
    made = {"silence": 0 * time, "offset": 0.2 + 0 * time}
    made |= {f"hiss at {level} dB": white * 10 ** (level / 20) for level in (-60, -40, -30, -20)}
    made |= {
        f"hum of {hertz} Hz": 0.1 * _sine(hertz, time) + 0.03 * _sine(3 * hertz, time)
        for hertz in (50, 60, 120)
    }
    made |= {f"tone of {hertz} Hz": 0.1 * _sine(hertz, time) for hertz in (440, 1_000)}
    made["square tone"] = 0.05 * np.sign(_sine(220, time))
    made["rising tone"] = 0.1 * np.sin(2 * np.pi * (200 * time + 400 * time**2))
    made["rumble"] = _louder(np.cumsum(white) - np.linspace(0, white.sum(), time.size), 0.1)
    spectrum = np.fft.rfft(white) / np.sqrt(np.arange(time.size // 2 + 1) + 1)
    made["rain"] = _louder(np.fft.irfft(spectrum, time.size), 0.1)
    made["fan"] = 0.05 * white * (1 + 0.5 * _sine(8, time)) + 0.05 * _sine(100, time)
    made["puffs"] = 0.1 * white * (_sine(3, time) > 0)
    made["clicks"] = 0.9 * (np.arange(time.size) % 8_000 == 0)
    made["knocks"] = _strokes(random, time.size, 12, lambda t: 0.5 * _sine(180, t) * _fall(t, 4e-3))
    made["typing"] = _strokes(
        random, time.size, 30, lambda t: 0.3 * random.normal(size=t.size) * _fall(t, 2.5e-3)
    )
    assert len(made) == 20
    return {
        name: np.clip(sound * 32_767, -32_768, 32_767).astype(np.int16)
        for name, sound in made.items()
    }


def _sine(hertz: float, time: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.sin(2 * np.pi * hertz * time)


def _fall(time: NDArray[np.float64], seconds: float) -> NDArray[np.float64]:
    return np.exp(-time / seconds)


def _louder(sound: NDArray[np.float64], peak: float) -> NDArray[np.float64]:
    return peak * sound / np.abs(sound).max()


def _strokes(
    random: np.random.Generator,
    size: int,
    count: int,
    stroke: Callable[[NDArray[np.float64]], NDArray[np.float64]],
) -> NDArray[np.float64]:
    made = np.zeros(size)
    for at in random.integers(0, size - 800, count):
        made[at : at + 600] += stroke(np.arange(600) / RATE)
    return made
