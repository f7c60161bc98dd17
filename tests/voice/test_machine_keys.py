"""Keys: stop, mute, talk, quit."""

from __future__ import annotations

from lila_app.voice.model import (
    Ask,
    Cut,
    Drop,
    Hold,
    Open,
    Phase,
    Pressed,
    Recognise,
    Resume,
    Settle,
    Tell,
)
from tests.voice.talk import HEARD, QUIET, Talk, answered


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


def answered_by_key(talk: Talk) -> Talk:
    """LILA is speaking its reply to a turn by key."""
    talk.send(Pressed("talk"))
    talk.speak()
    talk.send(Pressed("talk_end"))
    talk.read("What is the capital of France?")
    talk.write("The capital of France is Paris.", end=True)
    talk.sound()
    return talk
