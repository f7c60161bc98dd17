"""Going on when the turn seemed over: the same turn or the next."""

from __future__ import annotations

import pytest

from lila_app.voice.model import Ask, Cut, Drop, Open, Phase, Pressed, Recognise, Resume, Settle
from tests.voice.talk import QUESTION, Talk, answered


def test_going_on_within_800_ms_is_the_same_turn() -> None:
    talk = Talk()
    talk.say("What is the capital.")
    talk.quiet(400)
    talk.write("Of which country? ")
    talk.quiet(300)
    talk.say("What is the capital of France?", ms=500)
    talk.quiet(400)
    assert [one for one in talk.log if isinstance(one, Ask | Drop | Settle | Open)] == [
        Open(1),
        Ask(1, 1, "What is the capital."),
        Settle(1, 1),
        Drop(1, 1),
        Ask(1, 2, "What is the capital of France?"),
        Settle(1, 2),
    ]


def test_a_stop_said_into_the_silence_takes_the_turn_back() -> None:
    talk = Talk()
    talk.say(QUESTION)
    talk.quiet(400)
    talk.hear(10)
    talk.quiet(200)
    talk.read(f"{QUESTION} Stop.")
    assert talk.log[-1] == Drop(1, 2, words=False)
    assert talk.state.phase is Phase.LISTENING


def test_once_it_is_audible_going_on_is_speaking_over_it() -> None:
    talk = answered(Talk())
    talk.hear(4)
    assert talk.state.phase is Phase.HELD


def spoken_into(talk: Talk, heard: str, rest: str, *, after: int = 0, ms: int = 700) -> Talk:
    """Somebody speaks on when LILA has just become audible, `heard` of it already."""
    answered(talk, "What is the capital.")
    talk.wait(after)
    talk.speak(ms)
    talk.paused(heard)
    talk.quiet(192)
    talk.read(rest)
    return talk


def test_going_on_over_a_reply_of_which_no_word_was_heard_is_the_same_turn() -> None:
    talk = spoken_into(Talk(), "", "of France?")
    assert talk.log[-2:] == [Drop(2, 1, words=False), Drop(1, 1)]
    assert talk.state.phase is Phase.HEARING
    talk.quiet(64)
    again = talk.last(Recognise)
    assert (again.turn, again.revision, again.first) == (1, 2, 0)
    talk.read("What is the capital of France?")
    talk.quiet(400)
    assert talk.log[-2:] == [Ask(1, 2, "What is the capital of France?"), Settle(1, 2)]
    talk.quiet(2_000)
    talk.write("It is Paris.", end=True)
    talk.sound()
    talk.played()
    talk.say(QUESTION)
    assert talk.log[-1] == Ask(3, 1, QUESTION)


def test_words_that_cannot_be_read_again_leave_those_before_them() -> None:
    talk = spoken_into(Talk(), "", "of France?")
    talk.quiet(64)
    talk.read("")
    talk.quiet(600)
    assert talk.log[-2] == Ask(1, 2, "What is the capital.")
    assert talk.read("") == [Settle(1, 2)]


def test_still_going_on_when_it_is_read_is_the_same_turn() -> None:
    talk = answered(Talk(), "What is the capital.")
    talk.speak(1_000)
    talk.paused("")
    talk.read("of a country")
    assert talk.log[-1] == Drop(1, 1)
    talk.speak(300)
    talk.quiet(200)
    assert (talk.last(Recognise).turn, talk.last(Recognise).first) == (1, 0)


@pytest.mark.parametrize(("heard", "after"), [("The", 0), ("", 900)])
def test_once_a_word_was_heard_or_the_time_is_over_who_speaks_begins_a_turn(
    heard: str, after: int
) -> None:
    talk = spoken_into(Talk(), heard, "of France?", after=after)
    assert talk.log[-3:] == [Cut(1, 1, heard), Open(2), Ask(2, 1, "of France?")]


def test_a_noise_when_it_has_just_become_audible_lets_it_speak_on() -> None:
    talk = spoken_into(Talk(), "", "")
    assert talk.log[-2:] == [Drop(2, 1, words=False), Resume(1, 1)]


def test_a_stop_when_it_has_just_become_audible_ends_it() -> None:
    talk = spoken_into(Talk(), "", "Stop.")
    assert talk.log[-2:] == [Drop(2, 1, words=False), Cut(1, 1, "")]
    assert talk.state.phase is Phase.LISTENING


def test_frames_of_a_shut_microphone_keep_a_turn_from_going_on() -> None:
    """Going on, it would be read from its beginning, and what was muted with it."""
    talk = Talk()
    talk.say("What is the capital.")
    talk.quiet(400)
    talk.send(Pressed("mute"))
    talk.speak(200)
    talk.send(Pressed("mute"))
    talk.speak(400)
    talk.quiet(192)
    talk.read("of France?")
    assert talk.last(Recognise).turn == 2
    assert Open(2) in talk.log
