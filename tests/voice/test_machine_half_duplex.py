"""Without an echo canceller: when it hears and when it does not."""

from __future__ import annotations

from lila_app.voice.model import Ask, Hold, Phase, Recognise
from tests.voice.talk import QUESTION, Talk, answered


def test_half_duplex_hears_nothing_while_it_speaks_and_a_moment_after() -> None:
    talk = answered(Talk(duplex=False))
    talk.speak(2_000)
    assert talk.state.phase is Phase.SPEAKING
    talk.played()
    assert talk.state.phase is Phase.LISTENING
    talk.speak(256)
    assert talk.state.phase is Phase.LISTENING
    open_since = talk.frames
    talk.say("And of Italy?", ms=400)
    assert talk.last(Recognise).first >= open_since - 1
    assert talk.last(Recognise).turn == 2


def test_half_duplex_hears_while_the_model_is_silent() -> None:
    talk = Talk(duplex=False)
    talk.say(QUESTION)
    talk.quiet(400)
    talk.write("One.  Two")
    talk.sound()
    talk.played()
    talk.quiet(256)
    talk.hear(4)
    assert talk.state.phase is Phase.HELD


def test_without_duplex_a_sound_that_slips_out_after_the_hold_shuts_no_microphone() -> None:
    talk = Talk(duplex=False)
    talk.say("Tell me a story.")
    talk.quiet(1_300)
    talk.write("Once. ", "There")
    talk.hear(4)
    assert talk.log[-1] == Hold(1, 1)
    talk.sound()
    talk.paused("")
    talk.speak(600)
    talk.quiet(192)
    talk.read("Never mind.")
    assert talk.log[-1] == Ask(2, 1, "Never mind.")
