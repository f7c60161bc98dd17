"""Turns and replies: who has the word, when a turn is over, what is asked, said and dropped."""

from __future__ import annotations

import pytest

from lila_app.voice.model import (
    Ask,
    Audible,
    Cut,
    Drop,
    Frame,
    Open,
    Phase,
    Pressed,
    Recognise,
    Recognised,
    ReplyEnded,
    ReplyFailed,
    ReplyText,
    Resume,
    Say,
    Settle,
    Silent,
    Tell,
)
from tests.voice.talk import LOUD, QUIET, Talk, answered

QUESTION = "What is the capital of France?"


# -- a plain turn ---------------------------------------------------------------------------------


def test_a_plain_turn_goes_from_the_first_sound_to_the_last() -> None:
    talk = Talk()
    talk.quiet(640)
    talk.say(QUESTION)
    talk.quiet(400)
    talk.write("It is Paris.", end=True)
    talk.sound()
    talk.played()
    assert talk.log == [
        Open(1),
        Recognise(1, 1, 10, 58),  # 20 quiet frames, 32 of speech, 6 quiet ones after them
        Ask(1, 1, QUESTION),
        Settle(1, 1),
        Say(1, 1, "It is Paris."),
    ]
    assert [show.phase for show in talk.shown] == [
        Phase.HEARING,
        Phase.MAYBE_END,
        Phase.THINKING,
        Phase.SPEAKING,
        Phase.LISTENING,
    ]


def test_a_whole_sentence_ends_the_turn_at_320_ms_and_no_words_at_512() -> None:
    waits = {QUESTION: 320, "the capital of France": 512, "I would like to": 1_000}
    for text, wait in waits.items():
        talk = Talk()
        talk.say(text)
        fell_silent = talk.now - 7 * 32
        talk.quiet(2_000)
        ended = talk.at[Settle(1, 1)] - fell_silent
        assert wait <= ended < wait + 32


def test_the_fast_table_ends_a_turn_sooner() -> None:
    talk = Talk(fast=True)
    talk.speak()
    fell_silent = talk.now
    talk.quiet(128)
    talk.read(QUESTION)
    talk.quiet(400)
    assert 256 <= talk.at[Settle(1, 1)] - fell_silent < 288


def test_a_reading_that_comes_late_ends_the_turn_at_once() -> None:
    talk = Talk()
    talk.speak()
    talk.quiet(900)
    assert talk.read(QUESTION) == [Ask(1, 1, QUESTION), Settle(1, 1)]


def test_a_click_begins_no_turn() -> None:
    talk = Talk()
    for _ in range(20):
        talk.hear(2)
        talk.quiet(100)
    assert talk.log == []


def test_between_the_two_chances_it_goes_on_as_it_was() -> None:
    talk = Talk()
    talk.hear(50, 400)
    assert talk.log == []
    talk.hear(5)
    talk.hear(50, 400)
    assert talk.log == [Open(1)]


def test_a_sound_too_short_is_no_turn_but_for_a_word_that_is() -> None:
    for text, asked in (("Thank you.", False), ("Yes.", True), ("Nein", True)):
        talk = Talk()
        talk.hear(5)
        talk.quiet(200)
        talk.read(text)
        talk.quiet(600)
        assert (Settle(1, 1) in talk.log) is asked
        if not asked:
            assert talk.log[-1] == Drop(1, 1, words=False)
            assert talk.state.phase is Phase.LISTENING


def test_what_is_no_words_is_no_turn() -> None:
    for text in ("", " ... ", "♪"):
        talk = Talk()
        talk.say(text)
        talk.quiet(400)
        talk.read(text)
        assert talk.kinds() == ["Open", "Recognise", "Recognise", "Drop"]
        assert talk.state.phase is Phase.LISTENING


def test_speech_in_which_no_words_were_read_is_read_once_more_with_the_silence_after_it() -> None:
    talk = Talk()
    talk.say("")
    talk.quiet(400)
    first, second = (one for one in talk.log if isinstance(one, Recognise))
    assert second == Recognise(1, 2, first.first, first.end + 10)  # 512 ms of silence for 192
    assert talk.read("Go forward ten meters.")[-2:] == [
        Ask(1, 2, "Go forward ten meters."), Settle(1, 2)
    ]  # fmt: skip


def test_a_first_reading_that_comes_after_the_wait_and_found_nothing_is_made_again_at_once() -> (
    None
):
    talk = Talk()
    talk.speak()
    talk.quiet(900)
    assert talk.read("") == [Recognise(1, 2, 0, talk.frames)]
    assert talk.read("") == [Drop(1, 2, words=False)]


def test_who_goes_on_while_it_is_read_again_is_read_whole() -> None:
    talk = Talk()
    talk.say("")
    talk.quiet(400)
    talk.speak(500)
    talk.quiet(200)
    job = talk.last(Recognise)
    assert (job.revision, job.first) == (3, 0)
    talk.read("")
    talk.quiet(400)
    assert talk.last(Recognise).revision == 4
    assert talk.read("") == [Drop(1, 4, words=False)]


def test_a_last_reading_without_words_is_made_again_before_the_earlier_words_are_taken() -> None:
    talk = Talk()
    talk.say("I would like to")
    talk.quiet(500)
    talk.say("", ms=500)
    talk.quiet(900)
    assert Settle(1, 2) not in talk.log
    talk.read("I would like to go home.")
    assert talk.log[-1] == Settle(1, 3)


def test_what_lila_said_itself_is_not_read_again() -> None:
    talk = Talk()
    talk.speak()
    talk.quiet(200)
    talk.read("It is Paris.", echo=True)
    talk.quiet(400)
    assert talk.log[-1] == Drop(1, 1, words=False)


def test_a_noise_that_never_ends_is_ended_after_thirty_seconds() -> None:
    talk = Talk()
    talk.speak(30_000)
    job = talk.last(Recognise)
    assert (job.end - job.first) * 32 == pytest.approx(30_000, abs=40)
    talk.read("")
    assert talk.log[-1] == Drop(1, 1, words=False)


def test_a_monologue_is_answered_at_its_longest() -> None:
    talk = Talk()
    talk.speak(30_000)
    talk.read("and so on")
    assert talk.log[-2:] == [Ask(1, 1, "and so on"), Settle(1, 1)]


def test_going_on_after_the_longest_turn_is_speaking_over_its_reply() -> None:
    talk = Talk()
    talk.speak(30_000)
    talk.read("and so on")
    talk.hear(4)
    assert talk.state.phase is Phase.HELD
    assert talk.state.turns == 2


def test_the_second_turn_has_its_own_number_and_frames() -> None:
    talk = answered(Talk())
    talk.played()
    talk.quiet(640)
    talk.say("And of Italy?")
    talk.quiet(400)
    first, second = (one for one in talk.log if isinstance(one, Recognise))
    assert (second.turn, second.revision) == (2, 1)
    assert second.first >= first.end
    assert talk.log[-1] == Settle(2, 1)


# -- words that change ----------------------------------------------------------------------------


def test_going_on_voids_what_was_asked_and_reads_it_all_again() -> None:
    talk = Talk()
    talk.say("What is the capital.")
    talk.speak(600)
    talk.quiet(200)
    talk.read(QUESTION)
    talk.quiet(400)
    first, second = (one for one in talk.log if isinstance(one, Recognise))
    assert (second.revision, second.first) == (2, first.first)
    assert [one for one in talk.log if isinstance(one, Ask | Drop | Settle)] == [
        Ask(1, 1, "What is the capital."),
        Drop(1, 1),
        Ask(1, 2, QUESTION),
        Settle(1, 2),
    ]


def test_a_cough_leaves_the_reply_that_was_begun() -> None:
    talk = Talk()
    talk.say(QUESTION)
    talk.write("It is")
    talk.hear(4)
    talk.quiet(200)
    talk.read("what is the capital of France")
    talk.quiet(600)
    assert [one for one in talk.log if isinstance(one, Ask | Drop | Settle)] == [
        Ask(1, 1, QUESTION),
        Settle(1, 1),
    ]


def test_a_click_in_the_silence_changes_nothing() -> None:
    talk = Talk()
    talk.say(QUESTION)
    talk.hear(1)
    talk.quiet(100)
    assert talk.kinds() == ["Open", "Recognise", "Ask", "Settle"]


def test_a_reading_without_words_leaves_the_earlier_ones_standing() -> None:
    talk = Talk()
    talk.say("Bread, milk and")
    talk.speak(400)
    talk.quiet(200)
    talk.read("")
    talk.quiet(1_200)
    assert talk.log[-2] == Ask(1, 2, "Bread, milk and")
    assert talk.read("") == [Settle(1, 2)]


def test_a_late_reading_of_earlier_words_is_nothing() -> None:
    talk = Talk()
    talk.speak()
    talk.quiet(200)
    talk.speak()
    assert talk.send(Recognised(1, 1, "What is the capital.")) == []
    talk.quiet(200)
    assert talk.last(Recognise).revision == 2
    assert talk.send(Recognised(1, 1, "What is the capital.")) == []
    assert talk.send(Recognised(9, 2, QUESTION)) == []


def test_after_three_attempts_it_waits_for_the_final_words() -> None:
    talk = Talk()
    for count in range(5):
        talk.say(f"One and {count}.", ms=600)
    asked = [one.text for one in talk.log if isinstance(one, Ask)]
    assert asked == ["One and 0.", "One and 1.", "One and 2."]
    assert talk.log[-1] != Drop(1, 3)  # it was voided when they went on, not left to run
    talk.quiet(400)
    assert talk.log[-2:] == [Ask(1, 5, "One and 4."), Settle(1, 5)]


def test_a_reply_to_other_words_is_voided_though_no_attempt_is_left() -> None:
    talk = Talk()
    for count in range(3):
        talk.say(f"One and {count}.", ms=600)
    talk.hear(4)  # too short to void it by itself
    talk.quiet(200)
    talk.read("One and two, or.")
    assert talk.log[-1] == Drop(1, 3)


def test_a_long_turn_is_asked_for_only_once_it_is_over() -> None:
    talk = Talk()
    talk.say("A long story.", ms=12_000)
    assert talk.log[-1] == Recognise(1, 1, 0, 381)
    talk.quiet(400)
    assert talk.log[-2:] == [Ask(1, 1, "A long story."), Settle(1, 1)]


def test_nothing_is_said_before_the_words_are_final() -> None:
    talk = Talk()
    talk.say("I would like to know.", ms=500)
    talk.write("Very well. What is", " it?", end=True)
    assert "Say" not in talk.kinds()
    talk.quiet(400)
    assert [one.text for one in talk.log if isinstance(one, Say)] == ["Very well. ", "What is it?"]


# -- going on after the end -----------------------------------------------------------------------


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


# -- the reply ------------------------------------------------------------------------------------


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


def test_a_reading_that_never_comes_is_given_up() -> None:
    talk = Talk()
    talk.speak()
    talk.quiet(10_300)
    assert talk.kinds() == ["Open", "Recognise", "Tell", "Drop"]
    assert talk.state.phase is Phase.LISTENING


# -- what LILA asks -------------------------------------------------------------------------------


def test_after_a_question_an_answer_that_breaks_off_is_waited_for() -> None:
    talk = Talk()
    talk.say("Book a table.")
    talk.quiet(400)
    talk.write("For when?", end=True)
    talk.sound()
    talk.played()
    talk.quiet(320)
    talk.say("For the.")
    talk.quiet(3_500)
    assert Settle(2, 1) not in talk.log
    talk.quiet(400)
    assert talk.log[-1] == Settle(2, 1)


def test_frames_that_were_lost_count_as_time() -> None:
    talk = Talk()
    talk.speak()
    talk.quiet(200)
    talk.read(QUESTION)
    talk.frames += 10
    talk.quiet(32)
    assert talk.log[-1] == Settle(1, 1)


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


def test_an_echo_is_no_turn() -> None:
    talk = Talk()
    talk.speak()
    talk.quiet(200)
    talk.read("The capital of France is Paris.", echo=True)
    talk.quiet(600)
    assert talk.kinds() == ["Open", "Recognise", "Drop"]


def test_the_machine_is_deterministic() -> None:
    first, second = answered(Talk()), answered(Talk())
    assert first.log == second.log
    assert first.state == second.state


def test_after_quitting_nothing_is_done() -> None:
    talk = Talk()
    talk.send(Pressed("quit"))
    assert talk.state.phase is Phase.ENDED
    assert talk.send(Frame(0, LOUD), Frame(1, QUIET), Pressed("mute"), Pressed("talk")) == []
