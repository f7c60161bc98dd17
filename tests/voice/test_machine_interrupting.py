"""Speaking over LILA, keys, and a sound system that comes and goes."""

from __future__ import annotations

import pytest

from lila_app.voice.model import (
    Ask,
    Audible,
    Back,
    Cut,
    Drop,
    Hold,
    Lost,
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
    Tell,
)
from tests.voice.talk import LOUD, QUIET, Talk, answered

HEARD = "The capital of"


def interrupted(talk: Talk, text: str, *, ms: int = 700) -> Talk:
    """Somebody speaks over LILA, falls silent, and is read."""
    talk.speak(ms)
    if isinstance(talk.log[-1], Hold):
        talk.paused(HEARD)
    talk.quiet(192)
    talk.read(text)
    return talk


# -- speaking over it -----------------------------------------------------------------------------


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


# -- keys -----------------------------------------------------------------------------------------


def test_stop_by_key_ends_what_is_spoken() -> None:
    talk = answered(Talk(duplex=False))
    assert talk.send(Pressed("stop"))[0] == Hold(1, 1)
    assert talk.state.phase is Phase.HELD, "it is not over before it is known what was heard"
    talk.paused(HEARD)
    assert talk.log[-1] == Cut(1, 1, HEARD)
    assert talk.state.phase is Phase.LISTENING


def test_stop_by_key_takes_a_turn_back_that_is_not_over() -> None:
    talk = Talk()
    talk.say("Tell me a story.")
    talk.send(Pressed("stop"))
    assert talk.log[-1] == Drop(1, 1, words=False)
    assert talk.state.phase is Phase.LISTENING


def test_stop_by_key_ends_a_reply_nobody_has_heard_at_once() -> None:
    talk = Talk()
    talk.say("Tell me a story.")
    talk.quiet(400)
    assert talk.send(Pressed("stop"))[0] == Cut(1, 1, "")


def test_stop_by_key_while_somebody_speaks_over_it_ends_both() -> None:
    talk = answered(Talk())
    talk.hear(6)
    talk.paused(HEARD)
    talk.send(Pressed("stop"))
    assert talk.log[-2:] == [Drop(2, 0, words=False), Cut(1, 1, HEARD)]


def test_frames_heard_while_muted_are_never_read() -> None:
    talk = Talk()
    talk.send(Pressed("mute"))
    talk.speak()
    assert talk.log == []
    assert talk.shown[-1].muted
    talk.send(Pressed("mute"))
    opened = talk.frames
    talk.say("Hello.", ms=300)
    assert talk.last(Recognise).first == opened


def test_muting_in_the_middle_of_a_sentence_takes_it_back() -> None:
    talk = Talk()
    talk.speak()
    talk.send(Pressed("mute"))
    assert talk.log == [Open(1), Drop(1, 0, words=False)]


def test_muting_after_a_sentence_ends_the_turn() -> None:
    talk = Talk()
    talk.say("Hello.")
    assert talk.send(Pressed("mute"))[0] == Settle(1, 1)


def test_muting_before_the_sentence_was_read_still_answers_it() -> None:
    talk = Talk()
    talk.speak()
    talk.quiet(200)
    talk.send(Pressed("mute"))
    talk.wait(320)
    talk.read("Hello.")
    assert talk.log[-2:] == [Ask(1, 1, "Hello."), Settle(1, 1)]


def test_muted_it_speaks_on() -> None:
    talk = answered(Talk())
    talk.hear(5)
    talk.paused(HEARD)
    talk.send(Pressed("mute"))
    assert talk.log[-1] == Resume(1, 1)
    assert talk.state.phase is Phase.SPEAKING


def test_push_to_talk_hears_what_is_said_while_the_key_is_down() -> None:
    talk = Talk(push_to_talk=True)
    talk.speak()
    assert talk.log == []
    talk.send(Pressed("talk"))
    first = talk.frames
    talk.hear(10, QUIET)
    talk.hear(10)
    talk.hear(60, QUIET)
    talk.hear(10)
    talk.send(Pressed("talk_end"))
    assert talk.log == [Open(1), Recognise(1, 1, first, first + 90)]
    talk.speak()
    talk.read("Hi")
    assert talk.log[-2:] == [Ask(1, 1, "Hi"), Settle(1, 1)]


def test_a_key_pressed_over_silence_is_no_turn() -> None:
    talk = Talk(push_to_talk=True)
    talk.send(Pressed("talk"))
    talk.quiet(500)
    talk.send(Pressed("talk_end"))
    assert talk.log == [Open(1), Drop(1, 0, words=False)]


def test_the_talk_key_cuts_what_is_spoken() -> None:
    talk = answered_by_key(Talk(push_to_talk=True, duplex=False))
    talk.send(Pressed("talk"))
    talk.paused(HEARD)
    assert talk.log[-3:] == [Hold(1, 1), Open(2), Cut(1, 1, HEARD)]
    first = talk.frames
    talk.hear(10)
    talk.send(Pressed("talk_end"))
    assert talk.log[-1] == Recognise(2, 1, first, first + 10)


def test_a_key_held_for_too_long_ends_the_turn() -> None:
    talk = Talk(push_to_talk=True)
    talk.send(Pressed("talk"))
    talk.speak(31_000)
    assert talk.last(Recognise).end == 938
    talk.read("Well.")
    assert talk.log[-1] == Settle(1, 1)


def test_the_key_pressed_again_before_the_words_are_read_begins_anew() -> None:
    talk = Talk(push_to_talk=True)
    talk.send(Pressed("talk"))
    talk.speak()
    talk.send(Pressed("talk_end"))
    assert talk.state.phase is Phase.MAYBE_END
    talk.send(Pressed("talk"))
    assert talk.log[-2:] == [Drop(1, 1, words=False), Open(2)]


def test_the_talk_key_says_when_the_microphone_is_shut() -> None:
    talk = Talk(push_to_talk=True)
    talk.send(Pressed("mute"), Pressed("talk"))
    assert talk.log == [Tell("the microphone is muted")]


def test_quitting_waits_for_what_was_heard() -> None:
    talk = answered(Talk())
    talk.send(Pressed("quit"))
    assert talk.state.phase is not Phase.ENDED
    talk.paused(HEARD)
    assert talk.log[-1] == Cut(1, 1, HEARD)
    assert talk.shown[-1].phase is Phase.ENDED


def test_quitting_takes_back_what_was_not_over() -> None:
    talk = Talk()
    talk.say("Hello.")
    talk.send(Pressed("quit"))
    assert talk.log[-1] == Drop(1, 1, words=False)
    assert talk.state.phase is Phase.ENDED


# -- a sound system that comes and goes -----------------------------------------------------------


def test_a_microphone_that_is_lost_is_told_once_and_hears_again() -> None:
    talk = Talk()
    talk.speak()
    talk.send(Lost("microphone", "it was unplugged"), Lost("microphone", "it was unplugged"))
    assert [type(one).__name__ for one in talk.log] == ["Open", "Tell", "Drop"]
    talk.wait(640)
    talk.send(Back("microphone", duplex=True))
    assert talk.log[-1] == Tell("the microphone is back")
    opened = talk.frames
    talk.say("Hello.", ms=300)
    assert talk.last(Recognise).first == opened


def test_a_microphone_lost_after_a_sentence_still_answers_it() -> None:
    talk = Talk()
    talk.say("Hello.")
    talk.send(Lost("microphone", "it was unplugged"))
    assert talk.log[-1] == Settle(1, 1)


def test_a_speaker_that_comes_back_goes_on_from_the_word() -> None:
    talk = answered(Talk())
    talk.send(Lost("speaker", "the sound server ended"))
    assert talk.log[-1] == Hold(1, 1)
    talk.paused(HEARD)
    talk.wait(2_000)
    talk.send(Back("speaker", duplex=False))
    assert talk.log[-2:] == [Tell("the speaker is back"), Resume(1, 1)]
    assert not talk.state.duplex
    talk.played()
    assert talk.state.phase is Phase.LISTENING


def test_a_speaker_that_stays_away_has_the_reply_shown() -> None:
    talk = answered(Talk())
    talk.send(Lost("speaker", "the sound server ended"))
    talk.paused(HEARD)
    talk.wait(10_000)
    assert talk.log[-2:] == [
        Tell("The capital of France is Paris. It has two million people."),
        Cut(1, 1, HEARD),
    ]
    assert talk.state.phase is Phase.LISTENING


def test_a_reply_that_cannot_be_spoken_is_shown_once_it_is_whole() -> None:
    talk = Talk()
    talk.say("Hello.")
    talk.quiet(400)
    talk.write("Good day. How")
    talk.sound()
    talk.send(Lost("speaker", "the sound server ended"))
    talk.paused("Good")
    talk.wait(11_000)
    assert "Cut" not in talk.kinds()
    talk.write(" are you?", end=True)
    assert talk.log[-2:] == [Tell("Good day. How are you?"), Cut(1, 1, "Good")]


def test_without_a_speaker_replies_are_shown() -> None:
    talk = Talk()
    talk.send(Lost("speaker", "there is none"))
    talk.say("Hello.")
    talk.quiet(400)
    talk.write("Good ", "day.", end=True)
    assert talk.log[-1] == Tell("Good day.")
    assert "Say" not in talk.kinds()
    assert talk.state.phase is Phase.LISTENING


def test_a_speaker_that_comes_while_the_model_writes_says_all_of_it() -> None:
    talk = Talk()
    talk.send(Lost("speaker", "there is none"))
    talk.say("Hello.")
    talk.quiet(400)
    talk.write("Good day. How")
    talk.send(Back("speaker", duplex=True))
    assert talk.log[-1] == Say(1, 1, "Good day. ")


def test_a_false_alarm_without_a_speaker_waits_for_it() -> None:
    talk = answered(Talk())
    talk.hear(5)
    talk.paused(HEARD)
    talk.send(Lost("speaker", "the sound server ended"))
    talk.quiet(192)
    talk.read("")
    assert "Resume" not in talk.kinds()
    talk.send(Back("speaker", duplex=True))
    assert talk.log[-1] == Resume(1, 1)


def test_a_source_that_changes_changes_whether_it_listens_while_speaking() -> None:
    talk = answered(Talk(duplex=False))
    talk.send(Back("microphone", duplex=True))
    talk.hear(4, LOUD)
    assert talk.log[-1] == Hold(1, 1)


def answered_by_key(talk: Talk) -> Talk:
    """LILA is speaking its reply to a turn by key."""
    talk.send(Pressed("talk"))
    talk.speak()
    talk.send(Pressed("talk_end"))
    talk.read("What is the capital of France?")
    talk.write("The capital of France is Paris.", end=True)
    talk.sound()
    return talk
