"""A microphone and a speaker that are lost and come back."""

from __future__ import annotations

from lila_app.voice.model import (
    Back,
    Cut,
    Hold,
    Lost,
    Phase,
    Pressed,
    Recognise,
    Resume,
    Say,
    Settle,
    Show,
    Tell,
    Unspoken,
)
from tests.voice.talk import HEARD, LOUD, Talk, answered


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
        Unspoken(1, "The capital of France is Paris. It has two million people."),
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
    assert talk.log[-2:] == [Unspoken(1, "Good day. How are you?"), Cut(1, 1, "Good")]


def test_without_a_speaker_replies_are_shown() -> None:
    talk = Talk()
    talk.send(Lost("speaker", "there is none"))
    talk.say("Hello.")
    talk.quiet(400)
    talk.write("Good ", "day.", end=True)
    assert talk.log[-1] == Unspoken(1, "Good day.")
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


def test_the_status_says_that_there_is_no_microphone_until_it_is_back() -> None:
    talk = Talk()
    talk.send(Lost("microphone", "it was unplugged"))
    assert talk.shown[-1] == Show(Phase.NO_MICROPHONE, False)
    talk.send(Back("microphone", duplex=True))
    assert talk.shown[-1] == Show(Phase.LISTENING, False)


def test_a_microphone_that_is_there_and_gives_nothing_is_said_to_hear_nobody() -> None:
    talk = Talk()
    talk.send(Lost("microphone", "it is muted", gone=False))
    assert talk.shown[-1] == Show(Phase.DEAF, False)
    talk.send(Lost("microphone", "it was unplugged"))
    assert talk.shown[-1] == Show(Phase.NO_MICROPHONE, False)
    talk.send(Lost("microphone", "it is muted", gone=False), Back("microphone", duplex=True))
    assert talk.shown[-1] == Show(Phase.LISTENING, False)
    assert talk.log == [
        Tell("it is muted", "keys still work, and so does the text chat: lila chat"),
        Tell("LILA hears you again"),
    ]


def test_a_reply_is_still_said_to_be_spoken_while_the_microphone_is_away() -> None:
    talk = answered(Talk())
    talk.send(Lost("microphone", "it was unplugged"))
    assert talk.state.phase is Phase.SPEAKING
    talk.played()
    assert talk.state.phase is Phase.NO_MICROPHONE


def test_a_reply_that_waits_for_the_speaker_is_not_said_to_be_spoken() -> None:
    talk = answered(Talk())
    talk.send(Lost("speaker", "the sound server ended"))
    assert talk.state.phase is Phase.UNHEARD
    talk.paused(HEARD)
    talk.send(Back("speaker", duplex=True))
    assert talk.state.phase is Phase.SPEAKING


def test_with_push_to_talk_nobody_is_listened_to_until_the_key_is_pressed() -> None:
    talk = Talk(push_to_talk=True)
    assert talk.state.phase is Phase.READY
    talk.send(Pressed("talk"))
    assert talk.state.phase is Phase.HEARING
    talk.send(Pressed("talk_end"), Lost("microphone", "it was unplugged"))
    assert talk.state.phase is Phase.NO_MICROPHONE
