"""Words that change while somebody speaks on: what is read again, asked anew, dropped."""

from __future__ import annotations

from lila_app.voice.model import Ask, Drop, Recognise, Recognised, Say, Settle
from tests.voice.talk import QUESTION, Talk


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
