"""A turn from its first sound to its answer, and what is none."""

from __future__ import annotations

import pytest

from lila_app.voice.model import Ask, Drop, Open, Phase, Recognise, Say, Settle
from tests.voice.talk import QUESTION, Talk, answered


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


def test_a_reading_that_never_comes_is_given_up() -> None:
    talk = Talk()
    talk.speak()
    talk.quiet(10_300)
    assert talk.kinds() == ["Open", "Recognise", "Tell", "Drop"]
    assert talk.state.phase is Phase.LISTENING


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


def test_an_echo_is_no_turn() -> None:
    talk = Talk()
    talk.speak()
    talk.quiet(200)
    talk.read("The capital of France is Paris.", echo=True)
    talk.quiet(600)
    assert talk.kinds() == ["Open", "Recognise", "Drop"]
