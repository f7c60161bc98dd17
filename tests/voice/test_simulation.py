"""Whole conversations on a clock of their own, in tones: every sample of them is known."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from lila_app.errors import UnavailableError
from lila_app.voice.model import Back, Lost, Pressed
from lila_app.voice.policy import VoicePolicy
from lila_app.voice.testing import EchoingRoom, ScriptedRecogniser
from lila_app.voice.trace import stages
from tests.voice.scenes import Scene, in_order, never, noise, silence, words

RIVERS = words("The Seine flows. The Loire is longer than all of them together. They all end.")


def test_a_question_is_answered_aloud_once_it_is_over(policy: VoicePolicy) -> None:
    scene = Scene(policy).says("what is it?", after=500).silent(4_000).play()
    assert scene.spoken == "You said what is it. That is all."
    assert scene.phases == [
        "hearing you", "waiting", "thinking", "speaking", "listening", "ended"
    ]  # fmt: skip
    assert scene.conversation.turns[1].reply.strip() == "You said what is it. That is all."
    assert scene.conversation.turns[1].settled
    assert scene.lines("1 ") == [
        "1 heard (so far): what is it?",
        "1 heard: what is it?",
        "1 said: You said what is it. ",
        "1 said: That is all. ",
        "1 answered",
    ]


def test_the_wait_is_made_of_its_stages(policy: VoicePolicy) -> None:
    """The person ends at 1,340 ms (500 + 2 words of 300 + 240), within the frame that ends at
    1,344. The silence of 192 ms is read for 150 ms; the words end like a sentence, which asks for
    320 ms, so the reading is waited for 22 ms more. Then 50 ms to the first token; the first piece
    is whole with the word after it; 2 ms of synthesis; the speaker pulls every 20 ms, 40 ms before
    it is heard.
    """
    scene = Scene(policy).says("what is it?", after=500).silent(4_000).play()
    (trace,) = scene.traces
    assert trace.voiced == 1_344
    found = stages(trace)
    assert found["endpoint_wait"] == 320
    assert found["stt_exposed"] == 22
    assert found["first_token"] == 50
    assert found["chunk_wait"] == 5 * 33
    assert found["synthesis"] == 2
    assert 40 <= found["device"] <= 60
    assert sum(list(found.values())[:-1]) == found["voice_to_voice"] < 700
    assert trace.speculated


def test_two_runs_say_the_same_at_the_same_time(policy: VoicePolicy) -> None:
    def once() -> Scene:
        scene = Scene(policy, answer=lambda _: RIVERS)
        scene.says("what rivers are there?", after=400).silent(2_500)
        scene.says("and in spain?").silent(700).says("or italy").silent(5_000)
        return scene.play(room=EchoingRoom(delay_ms=90, share=0.03))

    first, second = once(), once()
    assert first.log == second.log
    assert first.sound == second.sound
    assert first.traces == second.traces


def test_a_pause_within_a_sentence_is_waited_out(policy: VoicePolicy) -> None:
    scene = Scene(policy).says("what is the", after=300).silent(700).says("weather like?")
    scene.silent(4_000).play()
    assert list(scene.conversation.turns) == [1]
    assert scene.conversation.turns[1].text == "what is the weather like?"
    assert scene.spoken.startswith("You said what is the weather like.")


def test_words_that_go_on_before_anything_was_said_are_the_same_turn(policy: VoicePolicy) -> None:
    scene = Scene(policy).says("I like tea.", after=300).silent(350).says("And coffee.")
    scene.silent(4_000).play(pace=lambda turn, count: 400 if count == 0 else 33)
    assert list(scene.conversation.turns) == [1]
    assert scene.conversation.turns[1].text == "I like tea. And coffee."
    assert scene.spoken == "You said I like tea. And coffee. That is all."
    assert in_order(scene.log, "Settle(turn=1, revision=1)", "Drop(turn=1", "Settle(turn=1")
    assert scene.traces[-1].asked == 2


def test_words_that_go_on_over_the_first_syllable_of_a_reply_are_the_same_turn(
    policy: VoicePolicy,
) -> None:
    scene = Scene(policy).says("I like tea.", after=300)
    scene.silent(560).says("And coffee.").silent(6_000).play()
    assert in_order(scene.log, "Audible(turn=1, revision=1)", "Hold(turn=1", "heard=''", "Drop(")
    assert list(scene.conversation.turns) == [1]
    kept = scene.conversation.turns[1]
    assert (kept.text, kept.interrupted) == ("I like tea. And coffee.", False)
    assert scene.spoken.endswith("You said I like tea. And coffee. That is all.")
    assert in_order(
        scene.view.lines,
        "1 heard: I like tea.",
        "1 said",
        "1 heard (so far): I like tea.",
        "1 heard: I like tea. And coffee.",
        "1 answered",
    )
    assert [(trace.turn, trace.interrupted) for trace in scene.traces] == [(1, None)]


def test_a_key_that_stops_a_reply_counts_as_an_interruption(policy: VoicePolicy) -> None:
    scene = Scene(policy, answer=lambda _: RIVERS).says("rivers please.", after=300).silent(9_000)
    stop = scene.at() - 6_000
    scene.play(script=[(stop, Pressed("stop"))])
    (trace,) = scene.traces
    kept = scene.conversation.turns[1]
    assert kept.interrupted and kept.reply
    assert (trace.interrupted, trace.heard) == (stop, len(kept.reply))
    assert scene.lines("1 interrupted", "1 answered") == [
        f"1 interrupted: {kept.reply}",
        "1 answered",
    ]


def test_speaking_over_a_reply_keeps_what_was_heard_of_it_to_the_word(policy: VoicePolicy) -> None:
    scene = Scene(policy, answer=lambda _: RIVERS).says("rivers please.", after=300).silent(3_000)
    scene.says("what about spain?").silent(9_000).play()
    (interrupted, whole) = scene.conversation.turns.values()
    assert interrupted.interrupted and not whole.interrupted
    held, begun = scene.when("Hold(turn=1"), scene.when("Audible(turn=1")
    # A word begins every 300 ms and sounds for 240; what was pulled when it was held (the block of
    # 20 ms before) is heard, so a word counts that ends by then.
    pulled = held // 20 * 20 + 20 - (begun - 40)
    count = sum(300 * n + 240 <= pulled for n in range(len(RIVERS)))
    assert 3 < count < len(RIVERS)
    assert interrupted.reply.split() == "".join(RIVERS).split()[:count]
    assert scene.lines("interrupted:") == [f"1 interrupted: {interrupted.reply}"]


def test_the_speaker_is_silent_within_300_ms_of_the_first_sound_over_it(
    policy: VoicePolicy,
) -> None:
    scene = Scene(policy, answer=lambda _: RIVERS).says("rivers please.", after=300).silent(3_000)
    onset = scene.at()
    scene.says("what about spain?").silent(9_000).play()
    after = scene.output[(onset + 300) * 16 : (onset + 900) * 16]
    assert np.abs(scene.output[onset * 16 : (onset + 100) * 16]).max() > 1_000
    assert not after.any()


@pytest.mark.parametrize("delay", [0, 35, 60, 400, 700, 1_100, 1_900])
def test_speaking_again_at_any_moment_ends_in_an_answer_to_it(
    policy: VoicePolicy, delay: int
) -> None:
    """While LILA waits, thinks, speaks: there is one answer, to the last words."""
    scene = Scene(policy, answer=lambda _: RIVERS).says("rivers please.", after=300)
    scene.silent(340 + delay).says("no wait the lakes").silent(9_000).play()
    last = scene.conversation.turns[max(scene.conversation.turns)]
    assert last.text.endswith("no wait the lakes")
    assert last.reply == "".join(RIVERS)
    assert scene.phases[-2:] == ["listening", "ended"]
    assert scene.spoken.endswith("They all end.")


def test_a_word_of_agreement_over_a_reply_does_not_end_it(policy: VoicePolicy) -> None:
    scene = Scene(policy, answer=lambda _: RIVERS).says("rivers please.", after=300).silent(2_500)
    scene.says("yeah").silent(9_000).play()
    assert list(scene.conversation.turns) == [1]
    assert not scene.conversation.turns[1].interrupted
    assert in_order(scene.log, "Hold(turn=1", "Resume(turn=1", "Silent(turn=1")
    assert not scene.lines("interrupted:")
    said, reply = scene.spoken.split(), "".join(RIVERS).split()
    assert said[-3:] == reply[-3:]
    assert len(said) in (len(reply), len(reply) + 1)  # the word it was held in is said again


def test_a_noise_over_a_reply_is_no_words_and_lila_speaks_on(policy: VoicePolicy) -> None:
    scene = Scene(policy, answer=lambda _: RIVERS).says("rivers please.", after=300).silent(2_500)
    scene.hears(noise(100, 3_000)).silent(300).hears(noise(300, 3_000)).silent(9_000).play()
    assert [call for call in scene.conversation.calls if call.startswith("ask")] == [
        "ask 1 rivers please."
    ]
    assert scene.spoken.endswith("They all end.")
    assert not scene.conversation.turns[1].interrupted


def test_stop_ends_a_reply_and_asks_for_nothing(policy: VoicePolicy) -> None:
    scene = Scene(policy, answer=lambda _: RIVERS).says("rivers please.", after=300).silent(2_500)
    scene.says("stop").silent(5_000).play()
    assert list(scene.conversation.turns) == [1]
    assert scene.conversation.turns[1].interrupted
    assert not scene.spoken.endswith("They all end.")


def test_stop_is_heard_also_where_lila_has_just_said_it(policy: VoicePolicy) -> None:
    """Its own word come back would be an echo; a person's stop must not be taken for one."""
    reply = words("They never stop. They stop nowhere. They do not stop at all, as rivers do.")
    scene = Scene(policy, answer=lambda _: reply).says("rivers please.", after=300).silent(2_500)
    scene.says("stop").silent(8_000).play()
    assert scene.conversation.turns[1].interrupted


def test_the_word_lila_has_just_offered_is_an_answer_and_no_echo(policy: VoicePolicy) -> None:
    answers = iter([words("Do you want tea or coffee?"), words("Here it is.")])
    scene = Scene(policy, answer=lambda _: next(answers)).says("a drink please.", after=300)
    scene.silent(3_200).says("coffee").silent(9_000).play()
    assert [turn.text for turn in scene.conversation.turns.values()] == [
        "a drink please.", "coffee"
    ]  # fmt: skip
    assert (
        scene.when("Silent(turn=1")
        < scene.when("Open(turn=2")
        < scene.when("Silent(turn=1") + 1_500
    )


def test_a_reply_that_is_cut_is_written_no_further(policy: VoicePolicy) -> None:
    scene = Scene(policy, answer=lambda _: RIVERS).says("rivers please.", after=300).silent(2_500)
    scene.says("what about lakes?").silent(12_000).play(pace=lambda turn, count: 400)
    assert scene.conversation.closed_early == 1
    asked = scene.when("Cut(turn=1")
    assert not [
        line for line in scene.log if "ReplyText(turn=1" in line and int(line.split()[0]) > asked
    ]


def test_clicks_hum_and_hiss_make_no_turn(policy: VoicePolicy) -> None:
    scene = Scene(policy).silent(500)
    for seed in range(10):
        scene.hears(noise(60, 6_000, seed)).silent(400).hears(noise(500, 3_000, seed)).silent(900)
    scene.play()
    assert not scene.conversation.turns
    assert not scene.spoken
    assert scene.phases[-2:] == ["listening", "ended"]


def test_on_loudspeakers_lila_is_never_heard_by_itself(policy: VoicePolicy) -> None:
    room = EchoingRoom(delay_ms=120, share=0.6)
    scene = Scene(policy, answer=lambda _: RIVERS).says("rivers please.", after=300)
    scene.silent(9_000).says("and lakes?").silent(9_000).play(duplex=False, room=room)
    assert [turn.text for turn in scene.conversation.turns.values()] == [
        "rivers please.", "and lakes?"
    ]  # fmt: skip
    assert not any(turn.interrupted for turn in scene.conversation.turns.values())


def test_an_echo_that_gets_through_is_known_by_its_words(policy: VoicePolicy) -> None:
    """Duplex though the room echoes: what an echo canceller misses."""
    room = EchoingRoom(delay_ms=120, share=0.6)
    scene = Scene(policy, answer=lambda _: RIVERS).says("rivers please.", after=300)
    scene.silent(20_000).play(room=room)
    assert [turn.text for turn in scene.conversation.turns.values()] == ["rivers please."]
    assert any("echo=True" in line for line in scene.log)
    assert not scene.conversation.turns[1].interrupted
    assert scene.spoken.endswith("They all end.")


def test_a_minute_without_a_pause_is_ended_where_no_more_can_be_read(policy: VoicePolicy) -> None:
    many = " ".join(f"word{number}" for number in range(200))
    scene = Scene(policy, answer=lambda _: ["Much. "]).says(many, after=300).silent(6_000).play()
    texts = [turn.text for turn in scene.conversation.turns.values()]
    assert texts[0].startswith("word0 word1 ")
    assert 90 < len(texts[0].split()) <= 101
    assert scene.phases[-2:] == ["listening", "ended"]


def test_a_synthesiser_slower_than_speech_leaves_gaps_and_no_word_out(policy: VoicePolicy) -> None:
    slow = replace(policy, simulation=replace(policy.simulation, synthesise=450))
    scene = Scene(slow, answer=lambda _: RIVERS).says("rivers please.", after=300)
    scene.silent(12_000).play()
    assert scene.spoken == "".join(RIVERS).strip()
    assert scene.traces[0].starved == scene.playback.starved_ms > 0
    assert scene.phases[-2:] == ["listening", "ended"]


def test_speech_that_is_made_in_time_has_no_gap(policy: VoicePolicy) -> None:
    scene = Scene(policy, answer=lambda _: RIVERS).says("rivers please.", after=300)
    assert scene.silent(9_000).play().playback.starved_ms == 0


def test_a_model_that_fails_is_told_and_spoken_and_lila_listens_again(policy: VoicePolicy) -> None:
    error = UnavailableError("the server is gone", hint="start it")
    answers = iter([[error], ["Half of ", "it. Then ", error], words("All is well.")])
    scene = Scene(policy, answer=lambda _: next(answers))
    for _ in range(3):
        scene.says("are you there?", after=400).silent(6_000)
    scene.play()
    assert len(scene.lines("told: the server is gone (start it)")) == 2
    assert in_order(
        scene.spoken.split(), "server", "Half", "of", "it.", "server", "All", "is", "well."
    )
    assert [trace.failed for trace in scene.traces] == [True, True, False]
    assert scene.phases[-2:] == ["listening", "ended"]


def test_a_model_that_stalls_within_a_reply_has_what_it_wrote_said(policy: VoicePolicy) -> None:
    def pace(turn: int, count: int) -> int | None:
        return 33 if count < 3 else 4_000 if count == 3 else 33

    scene = Scene(policy, answer=lambda _: words("one two three four five six."))
    scene.says("count please.", after=300).silent(12_000).play(pace=pace)
    assert in_order(scene.log, "Say(turn=1, revision=1, text='one two", "ReplyText", "Say(")
    assert scene.spoken == "one two three four five six."


def test_a_model_that_never_answers_is_left_by_a_key(policy: VoicePolicy) -> None:
    scene = Scene(policy).says("are you there?", after=300).silent(8_000)
    scene.play(pace=never, script=[(6_000, Pressed("stop"))])
    assert in_order(scene.view.lines, "thinking", "listening")


def test_what_the_recogniser_finds_to_be_nothing_leaves_no_turn(policy: VoicePolicy) -> None:
    scene = Scene(policy, recogniser=ScriptedRecogniser("", "", "")).says("mumble it", after=300)
    scene.silent(3_000).play()
    assert not scene.conversation.turns
    assert not scene.lines("heard")
    assert not scene.traces


def test_a_recogniser_that_fails_is_told_and_what_was_said_is_read_again(
    policy: VoicePolicy,
) -> None:
    scene = Scene(policy).says("first words.", after=300).silent(3_000).says("second words.")
    scene.reader.error = RuntimeError("out of memory")
    scene.silent(5_000).play()
    assert scene.lines("told: reading your speech: it went wrong")
    said = [turn.text for turn in scene.conversation.turns.values()]
    assert said == ["first words.", "second words."]


def test_a_synthesiser_that_fails_is_told_and_the_reply_is_shown(policy: VoicePolicy) -> None:
    scene = Scene(policy).says("first words.", after=300).silent(4_000).says("second words.")
    scene.synthesiser.error = OSError("no voice")
    scene.silent(5_000).play()
    assert scene.lines("told: speaking: it went wrong")
    assert "1 said: You said first words. " in scene.view.lines
    assert scene.spoken.endswith("You said second words. That is all.")


def test_a_store_that_fails_is_told_and_the_conversation_goes_on(policy: VoicePolicy) -> None:
    scene = Scene(policy).says("first words.", after=300).silent(4_000).says("second words.")
    scene.conversation.error = UnavailableError("the disk is full")
    scene.silent(5_000).play()
    assert scene.lines("told: the disk is full")
    assert scene.spoken.endswith("You said second words. That is all.")


def test_muted_nothing_is_heard_and_unmuted_it_is_again(policy: VoicePolicy) -> None:
    scene = Scene(policy).says("not this.", after=500).silent(1_500)
    opened = scene.at()
    scene.says("but this.", after=300).silent(5_000)
    scene.play(script=[(100, Pressed("mute")), (opened, Pressed("mute"))])
    assert [turn.text for turn in scene.conversation.turns.values()] == ["but this."]
    assert scene.reader.readings == ["but this."]


def test_push_to_talk_hears_what_is_said_between_two_keys(policy: VoicePolicy) -> None:
    scene = Scene(policy).says("not this.", after=300)
    begin = scene.at() + 300
    scene.says("take this down", after=600)
    end = scene.at() + 60
    scene.says("nor this.", after=800).silent(5_000)
    scene.play(push_to_talk=True, script=[(begin, Pressed("talk")), (end, Pressed("talk_end"))])
    assert [turn.text for turn in scene.conversation.turns.values()] == ["take this down"]


def test_a_microphone_that_is_lost_is_told_and_heard_again_when_it_is_back(
    policy: VoicePolicy,
) -> None:
    scene = Scene(policy).says("lost words here", after=500).silent(3_000)
    back = scene.at()
    scene.says("found again.", after=500).silent(5_000)
    scene.play(script=[(900, Lost("microphone", "it is gone")), (back, Back("microphone", True))])
    assert in_order(scene.view.lines, "told: it is gone", "told: the microphone is back", "heard")
    assert [turn.text for turn in scene.conversation.turns.values()] == ["found again."]


def test_a_speaker_that_comes_back_speaks_on_from_the_word_it_lost(policy: VoicePolicy) -> None:
    scene = Scene(policy, answer=lambda _: RIVERS).says("rivers please.", after=300)
    scene.silent(15_000)
    lost, back = 3_000, 5_000
    scene.play(script=[(lost, Lost("speaker", "it is gone")), (back, Back("speaker", True))])
    before = scene.tones.read(scene.output[: lost * 16]).split()
    after = scene.tones.read(scene.output[back * 16 :]).split()
    reply = "".join(RIVERS).split()
    assert after == reply[-len(after) :]
    assert len(reply) <= len(before) + len(after) <= len(reply) + 1
    assert not scene.conversation.turns[1].interrupted


def test_the_end_of_the_sound_waits_for_a_reply_that_is_being_said(policy: VoicePolicy) -> None:
    scene = Scene(policy, answer=lambda _: RIVERS).says("rivers please.", after=300).silent(100)
    assert scene.play().spoken.endswith("They all end.")
    assert scene.ended > scene.at() + 4_000


def test_an_empty_sound_is_a_conversation_without_turns(policy: VoicePolicy) -> None:
    scene = Scene(policy).hears(silence(0)).play()
    assert scene.view.lines == ["ended"]
    assert scene.ended < 2_000


def test_the_longest_turn_is_read_whole_where_its_reading_is_late(policy: VoicePolicy) -> None:
    late = replace(policy, simulation=replace(policy.simulation, recognise=4_000))
    first, rest = (" ".join(f"{each}{n}" for n in range(94)) for each in "ab")
    scene = Scene(late, answer=lambda _: ["Much."]).says(first, after=300).silent(250)
    scene.says(rest).silent(15_000).play()
    assert scene.conversation.turns[1].text.startswith("a0 a1 a2 a3 ")
