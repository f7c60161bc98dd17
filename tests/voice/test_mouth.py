"""From a piece of a reply to a job for the synthesiser, and from a reading to what it means."""

from __future__ import annotations

import pytest

from lila_app.voice.model import Cut, Recognise, Recognition, Say, Sound, Spoken, Word
from lila_app.voice.mouth import Mouth, understood
from lila_app.voice.playback import Playback
from lila_app.voice.policy import VoicePolicy
from lila_app.voice.testing import as_written

RATE = 1_000


def _playback() -> Playback:
    return Playback(RATE, fade_ms=0, clock=lambda: 0, notice=lambda *_: None)


def _said(text: str) -> Playback:
    """A reply of one word, heard from 0 to 500 ms."""
    import numpy as np

    playback = _playback()
    piece = playback.begin(1, 1, text, as_written(text))
    playback.append(piece, Sound(np.ones(500, np.int16), (Word(0, 0, len(text)),)))
    playback.pull(500)
    return playback


def test_a_piece_that_cannot_be_made_speakable_is_spoken_as_it_is_written() -> None:
    told: list[str] = []

    def speakable(text: str) -> Spoken:
        raise ValueError(text)

    mouth = Mouth(_playback(), speakable, lambda message, hint: told.append(message))
    utterance = mouth.say(Say(1, 1, "It is 5."))
    assert utterance.text == "It is 5."
    assert utterance.piece.spoken.origin == tuple(range(8))
    assert len(told) == 1


def test_what_is_cut_is_wanted_no_more_and_neither_is_what_was_before_it() -> None:
    mouth = Mouth(_playback(), as_written, lambda *_: None)
    first, second = mouth.say(Say(1, 1, "One.")), mouth.say(Say(2, 1, "Two."))
    assert first.cancel.is_set() and not second.cancel.is_set()
    mouth.end(Cut(2, 1, ""))
    assert second.cancel.is_set() and second.piece.dropped


@pytest.mark.parametrize(
    ("said", "text", "echo"),
    [
        ("Paris", "Paris.", True),
        ("Paris", "London.", False),
        ("stop", "Stop.", False),
        ("stop", "Stop, stop!", False),
    ],
)
def test_a_word_that_stops_lila_is_never_its_own(
    policy: VoicePolicy, said: str, text: str, echo: bool
) -> None:
    heard = understood(Recognise(2, 1, 0, 9), Recognition(text), (0, 300), _said(said), policy)
    assert heard.echo is echo


def test_what_is_repeated_once_lila_is_silent_is_no_echo(policy: VoicePolicy) -> None:
    job = Recognise(2, 1, 0, 9)
    assert not understood(job, Recognition("Paris."), (900, 1_300), _said("Paris"), policy).echo
