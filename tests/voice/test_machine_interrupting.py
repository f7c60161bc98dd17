"""Speaking over LILA: what holds it, what cuts it, what lets it speak on."""

from __future__ import annotations

import pytest

from lila_app.voice.model import (
    Ask,
    Audible,
    Cut,
    Drop,
    Hold,
    Open,
    Paused,
    Phase,
    Pressed,
    Recognise,
    ReplyFailed,
    ReplyText,
    Resume,
    Say,
    Settle,
)
from tests.voice.talk import HEARD, Talk, answered


def interrupted(talk: Talk, text: str, *, ms: int = 700) -> Talk:
    """Somebody speaks over LILA, falls silent, and is read."""
    talk.speak(ms)
    if isinstance(talk.log[-1], Hold):
        talk.paused(HEARD)
    talk.quiet(192)
    talk.read(text)
    return talk


def test_two_frames_over_it_hold_the_sound() -> None:
    talk = answered(Talk())
    talk.hear(1)
    assert not isinstance(talk.log[-1], Hold)
    talk.hear(1)
    assert talk.log[-1] == Hold(1, 1)
    assert talk.state.phase is Phase.HELD


def test_a_room_that_is_louder_does_not_hold_it() -> None:
    talk = answered(Talk())
    talk.hear(100, 500)
    assert talk.state.phase is Phase.SPEAKING


def test_words_cut_the_reply_to_what_was_heard_and_are_the_next_turn() -> None:
    talk = interrupted(answered(Talk()), "No, of Italy.")
    assert talk.log[-4:] == [
        Recognise(2, 1, talk.last(Recognise).first, talk.frames),
        Cut(1, 1, HEARD),
        Open(2),
        Ask(2, 1, "No, of Italy."),
    ]
    talk.quiet(200)
    assert talk.log[-1] == Settle(2, 1)


def test_nothing_of_a_reply_comes_after_it_was_cut() -> None:
    talk = Talk()
    talk.say("Tell me a story.")
    talk.quiet(400)
    talk.write("Once there was a king. ")
    talk.write("He ")
    talk.sound()
    interrupted(talk, "Another one.")
    count = len(talk.log)
    talk.send(ReplyText(1, 1, "lived. Long. "), Audible(1, 1), Paused(1, 1, "Once"))
    assert talk.log[count:] == []


def test_while_it_is_held_nothing_more_is_said() -> None:
    talk = Talk()
    talk.say("Tell me a story.")
    talk.quiet(400)
    talk.write("Once there was a king. ", "He")
    talk.sound()
    talk.hear(5)
    talk.write(" lived. And", " died.", end=True)
    assert [one.text for one in talk.log if isinstance(one, Say)] == ["Once there was a king. "]
    talk.paused("Once")
    talk.quiet(200)
    talk.read("")
    assert talk.log[-4:] == [
        Drop(2, 1, words=False),
        Resume(1, 1),
        Say(1, 1, "He lived. "),
        Say(1, 1, "And died."),
    ]


@pytest.mark.parametrize("text", ["", "Mhm.", "Okay", "Uh-huh", "I see."])
def test_nothing_and_agreeing_let_it_speak_on(text: str) -> None:
    talk = interrupted(answered(Talk()), text)
    assert talk.log[-2:] == [Drop(2, 1, words=False), Resume(1, 1)]
    assert talk.state.phase is Phase.SPEAKING
    assert "Ask" not in talk.kinds()[talk.kinds().index("Hold") :]


@pytest.mark.parametrize(
    ("heard", "answers"),
    [("It is Paris. Shall I", True), ("It is Paris. Shall I go on?", True), ("It is", False)],
)
def test_agreeing_answers_a_question_that_was_heard(heard: str, answers: bool) -> None:
    talk = Talk()
    talk.say("What is the capital of France?")
    talk.quiet(400)
    talk.write("It is Paris. Shall I go on?", end=True)
    talk.sound()
    talk.speak(600)
    talk.paused(heard)
    talk.quiet(192)
    talk.read("Yeah.")
    assert (Cut(1, 1, heard) in talk.log) is answers
    assert (talk.log[-1] == Ask(2, 1, "Yeah.")) is answers


def test_its_own_echo_lets_it_speak_on() -> None:
    talk = answered(Talk())
    talk.speak(700)
    talk.paused(HEARD)
    talk.quiet(192)
    talk.read("the capital of France", echo=True)
    assert talk.log[-1] == Resume(1, 1)


def test_agreeing_and_then_saying_something_cuts_it() -> None:
    talk = interrupted(answered(Talk()), "Okay")
    talk.quiet(400)
    interrupted(talk, "Okay, but what about Italy?")
    assert Cut(1, 1, HEARD) in talk.log
    assert talk.last(Ask).turn == 3


@pytest.mark.parametrize("text", ["Stop.", "Stop, stop!", "Hör auf!", "Lila, stop."])
def test_a_stop_ends_it_and_asks_nothing(text: str) -> None:
    talk = interrupted(answered(Talk()), text, ms=200)
    assert talk.log[-2:] == [Drop(2, 1, words=False), Cut(1, 1, HEARD)]
    assert talk.state.phase is Phase.LISTENING


def test_whoever_goes_on_speaking_is_read_before_they_pause() -> None:
    talk = answered(Talk())
    talk.speak(900)
    talk.paused(HEARD)
    assert isinstance(talk.log[-1], Recognise)
    talk.read("No I would like to")
    assert talk.log[-2:] == [Cut(1, 1, HEARD), Open(2)]
    assert talk.state.phase is Phase.HEARING
    talk.speak(2_000)
    talk.quiet(192)
    talk.read("No, I would like to hear about Italy.")
    assert talk.log[-1] == Ask(2, 2, "No, I would like to hear about Italy.")


def test_a_reading_from_the_middle_does_not_count_as_all_that_was_said() -> None:
    talk = answered(Talk())
    talk.speak(900)
    talk.paused(HEARD)
    job = talk.last(Recognise)
    talk.speak(300)
    talk.quiet(192)
    assert talk.last(Recognise) == job
    talk.read("No I would")
    assert "Ask" not in talk.kinds()[talk.kinds().index("Hold") :]
    talk.quiet(32)
    talk.read("No, I would like tea.")
    assert talk.log[-1] == Ask(2, 2, "No, I would like tea.")


def test_a_word_of_agreement_from_the_middle_is_read_again_with_what_follows() -> None:
    talk = answered(Talk())
    talk.speak(900)
    talk.paused(HEARD)
    talk.read("Okay")
    assert talk.state.phase is Phase.HELD
    talk.speak(200)
    talk.quiet(192)
    talk.read("Okay, but why?")
    assert talk.log[-1] == Ask(2, 2, "Okay, but why?")


def test_a_noise_without_words_holds_it_for_a_second_and_a_half() -> None:
    talk = answered(Talk())
    talk.hear(2)
    held = talk.now
    talk.paused(HEARD)
    for _ in range(120):
        talk.hear(1)
        last = talk.log[-1]
        if isinstance(last, Recognise):
            talk.read("")
    assert 1_500 <= talk.at[Resume(1, 1)] - held < 1_500 + 32
    assert talk.kinds().count("Hold") == 1  # the same noise does not hold it again
    talk.quiet(64)
    talk.hear(4)
    assert talk.kinds().count("Hold") == 2


def test_what_held_it_in_vain_must_last_twice_as_long_to_hold_it_again_but_no_assent_does() -> None:
    for text, frames in (("", (2, 4, 8, 16, 16)), ("Mhm.", (2, 2, 2))):
        talk = answered(Talk())
        for held, count in enumerate(frames):
            talk.hear(count - 1)
            assert talk.kinds().count("Hold") == held
            talk.hear(1)
            assert talk.kinds().count("Hold") == held + 1
            talk.paused(HEARD)
            talk.hear(8)
            talk.quiet(192)
            talk.read(text)
            assert isinstance(talk.log[-1], Resume)


def test_what_was_heard_may_come_after_the_words() -> None:
    talk = answered(Talk())
    talk.speak(900)
    talk.read("No, I would like to")
    assert talk.log[-1] == Open(2)
    talk.paused(HEARD)
    assert talk.log[-1] == Cut(1, 1, HEARD)


def test_a_hold_that_is_never_answered_ends_with_nothing_heard() -> None:
    talk = answered(Talk())
    talk.send(Pressed("stop"))
    assert talk.log[-1] == Hold(1, 1)
    talk.wait(1_500)
    assert talk.log[-1] == Cut(1, 1, "")
    assert talk.send(Paused(1, 1, HEARD)) == []


def test_a_reply_is_cut_before_the_next_one_is_asked_for() -> None:
    talk = answered(Talk())
    talk.speak(600)
    talk.quiet(192)
    talk.read("No, of Italy.")
    kinds = talk.kinds()
    assert kinds[-4:] == ["Recognise", "Open", "Cut", "Ask"]


def test_speaking_while_the_model_thinks_is_judged_the_same_and_needs_no_hold() -> None:
    talk = Talk()
    talk.say("Tell me a story.")
    talk.quiet(1_500)
    talk.hear(4)
    assert talk.state.phase is Phase.HELD
    talk.write("Once. ", "There ")
    assert "Say" not in talk.kinds() and "Hold" not in talk.kinds()
    talk.speak(600)
    talk.quiet(192)
    talk.read("")
    assert talk.log[-2:] == [Drop(2, 1, words=False), Say(1, 1, "Once. ")]
    talk.quiet(100)
    interrupted(talk, "Never mind, what time is it?")
    assert talk.last(Cut).turn == 1


def test_the_heard_text_never_has_more_than_was_written() -> None:
    talk = Talk()
    talk.say("Tell me a story.")
    talk.quiet(400)
    talk.write("Once. And")
    ask = talk.last(Ask)
    talk.send(ReplyFailed(ask.turn, ask.revision, "the connection broke", ""))
    talk.sound()
    talk.send(Pressed("stop"))
    talk.paused("Once. And\n\nthe connection")
    assert talk.log[-1] == Cut(1, 1, "Once. And")
