"""Replies: late ones, in pieces, stalling, failing, without words."""

from __future__ import annotations

from lila_app.voice.model import (
    Ask,
    Audible,
    Drop,
    Phase,
    ReplyEnded,
    ReplyFailed,
    ReplyText,
    Say,
    Settle,
    Silent,
    Tell,
)
from tests.voice.talk import QUESTION, Talk


def test_late_words_of_a_dropped_reply_are_nothing() -> None:
    talk = Talk()
    talk.say("What is the capital.")
    talk.speak(600)
    before = talk.state
    late = (
        ReplyText(1, 1, "Of which? "),
        ReplyEnded(1, 1),
        ReplyFailed(1, 1, "no", ""),
        Audible(1, 1),
        Silent(1, 1, 1),
    )
    assert talk.send(*late) == []
    assert talk.state == before


def test_the_next_revision_takes_nothing_of_the_one_before() -> None:
    talk = Talk()
    talk.say("What is the capital.")
    talk.say(QUESTION, ms=600)
    talk.quiet(400)
    before = talk.state
    late = (ReplyText(1, 1, "Of which? "), ReplyEnded(1, 1), Audible(1, 1), Silent(1, 1, 1))
    assert talk.send(*late) == []
    assert talk.state == before


def test_a_silence_between_two_sentences_does_not_end_the_turn() -> None:
    talk = Talk()
    talk.say(QUESTION)
    talk.quiet(400)
    talk.write("One. Two.")
    talk.sound()
    talk.played()
    assert talk.state.phase is Phase.SPEAKING
    talk.write(" Three.", end=True)
    assert talk.state.phase is Phase.SPEAKING
    talk.send(Silent(1, 1, 1))  # late: two more pieces were handed over since
    assert talk.state.phase is Phase.SPEAKING
    talk.played()
    assert talk.state.phase is Phase.LISTENING


def test_a_reply_that_stalls_is_said_up_to_its_last_word() -> None:
    talk = Talk()
    talk.say(QUESTION)
    talk.quiet(400)
    talk.write("The capital of Fra")
    talk.quiet(256)
    assert "Say" not in talk.kinds()
    talk.quiet(64)
    assert talk.log[-1] == Say(1, 1, "The capital of ")


def test_a_reply_that_stalls_while_it_is_spoken_is_left_to_its_sentences() -> None:
    talk = Talk()
    talk.say(QUESTION)
    talk.quiet(400)
    talk.write("It is Paris. The city of")
    talk.sound()
    talk.quiet(600)
    assert talk.log[-1] == Say(1, 1, "It is Paris. ")
    talk.played()
    talk.quiet(32)
    assert talk.log[-1] == Say(1, 1, "The city ")


def test_a_reply_that_fails_is_told_and_said() -> None:
    talk = Talk()
    talk.say(QUESTION)
    talk.quiet(400)
    talk.send(ReplyFailed(1, 1, "the model did not answer", "start it"))
    assert talk.log[-2:] == [
        Tell("the model did not answer", "start it"),
        Say(1, 1, "the model did not answer"),
    ]
    talk.played()
    assert talk.state.phase is Phase.LISTENING


def test_a_reply_that_fails_in_the_middle_is_said_so_far() -> None:
    talk = Talk()
    talk.say(QUESTION)
    talk.quiet(400)
    talk.write("It is Paris. And")
    talk.send(ReplyFailed(1, 1, "the connection broke", ""))
    assert [one.text.strip() for one in talk.log if isinstance(one, Say)] == [
        "It is Paris.",
        "And",
        "the connection broke",
    ]


def test_a_reply_that_fails_early_is_asked_for_again_once_the_words_are_final() -> None:
    talk = Talk()
    talk.say(QUESTION)
    assert talk.send(ReplyFailed(1, 1, "the model did not answer", "")) == []
    talk.quiet(400)
    assert talk.log[-3:] == [Drop(1, 1), Ask(1, 2, QUESTION), Settle(1, 2)]
    talk.write("It is Paris.", end=True)
    assert talk.log[-1] == Say(1, 2, "It is Paris.")


def test_a_reply_that_fails_again_is_told() -> None:
    talk = Talk()
    talk.say(QUESTION)
    talk.send(ReplyFailed(1, 1, "the model did not answer", ""))
    talk.quiet(400)
    talk.send(ReplyFailed(1, 2, "the model did not answer", ""))
    assert Tell("the model did not answer", "") in talk.log


def test_a_reply_without_words_is_told() -> None:
    talk = Talk()
    talk.say(QUESTION)
    talk.quiet(400)
    talk.write(end=True)
    assert Tell("the model gave no words") in talk.log
    talk.played()
    assert talk.state.phase is Phase.LISTENING
