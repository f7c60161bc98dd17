"""What each turn took: kept a line each, and shown by stage."""

from __future__ import annotations

import json
import stat
from dataclasses import asdict, fields, replace
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from lila_app.paths import Home
from lila_app.voice.model import (
    Ask,
    Audible,
    Cut,
    Drop,
    Frame,
    Open,
    Phase,
    Recognise,
    Recognised,
    ReplyText,
    Say,
    Settle,
    Show,
)
from lila_app.voice.stats import percentile, stats
from lila_app.voice.trace import STAGES, Setup, Trace, Traces, folder, kept, stages
from lila_app.voice.tracing import Tracing

SETUP = Setup("default", "embedded/small", "whisper-base", "espeak")
TURN = Trace(
    turn=1, revision=1, voiced=1_000, endpoint=1_512, recognise=1_192, recognised=1_380, ask=1_380,
    first_token=1_450, first_piece=1_600, first_sound=1_601, audible=1_650, asked=1,
    speculated=True, said=40, heard=40,
)  # fmt: skip


def test_only_what_the_person_waited_for_is_counted() -> None:
    """Reading and first token came within the silence that was waited out anyway."""
    assert stages(TURN) == {
        "endpoint_wait": 512,
        "stt_exposed": 0,
        "first_token": 0,
        "chunk_wait": 88,
        "synthesis": 1,
        "device": 49,
        "voice_to_voice": 650,
    }


_TIME = st.none() | st.integers(0, 9_000)


@given(st.builds(
    Trace, turn=st.just(1), voiced=_TIME, endpoint=_TIME, recognised=_TIME, first_token=_TIME,
    first_piece=_TIME, first_sound=_TIME, audible=_TIME,
))  # fmt: skip
def test_the_stages_of_any_turn_add_up_to_the_whole_wait(trace: Trace) -> None:
    found = stages(trace)
    if trace.voiced is None or trace.audible is None or trace.audible < trace.voiced:
        return
    *parts, whole = found.values()
    assert list(found) == list(STAGES)
    assert sum(parts) == whole
    assert min(parts) >= 0


def test_a_turn_that_was_not_answered_aloud_has_no_stages() -> None:
    assert stages(replace(TURN, audible=None)) == {}


def test_a_trace_is_kept_for_its_owner_alone_and_holds_numbers(tmp_path: Path) -> None:
    home = Home.at(tmp_path)
    Traces(home, SETUP).keep(TURN)
    file = folder(home) / "turns.jsonl"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert list(kept(home)) == [(SETUP, TURN)]
    assert {type(getattr(TURN, field.name)) for field in fields(Trace)} <= {int, bool, type(None)}


def test_the_file_is_begun_anew_when_it_is_full_and_the_last_one_is_kept(tmp_path: Path) -> None:
    home = Home.at(tmp_path)
    traces = Traces(home, SETUP)
    traces.keep(TURN)
    file = folder(home) / "turns.jsonl"
    line = file.read_text()
    for _ in range(3):
        file.write_text(line * (1_000_000 // len(line) + 1))
        traces.keep(replace(TURN, turn=2))
    assert sorted(each.name for each in folder(home).iterdir()) == ["turns.1.jsonl", "turns.jsonl"]
    assert file.read_text().count("\n") == 1
    assert [trace.turn for _, trace in kept(home)][-2:] == [1, 2]


def test_a_line_that_is_none_is_passed_over(tmp_path: Path) -> None:
    home = Home.at(tmp_path)
    Traces(home, SETUP).keep(TURN)
    with (folder(home) / "turns.jsonl").open("a") as file:
        file.write('{"turn": 3\n[]\n{"policy":"x","turn":1}\n{"a":1}\n')
        file.write(json.dumps({**asdict(SETUP), **asdict(TURN), "turn": 4, "audible": "soon"}))
    assert [trace.turn for _, trace in kept(home)] == [1]


def test_a_home_that_cannot_be_written_loses_the_trace_and_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "state").write_text("in the way")
    Traces(Home.at(tmp_path), SETUP).keep(TURN)
    assert list(kept(Home.at(tmp_path))) == []


def test_a_percentile_is_one_of_the_values() -> None:
    values = list(range(1, 21))
    assert percentile(values, 50) == 10
    assert percentile(values, 95) == 19
    assert percentile([7], 50) == percentile([7], 95) == 7


def test_turns_are_grouped_by_policy_and_models_the_latest_first(tmp_path: Path) -> None:
    home = Home.at(tmp_path)
    fast = replace(SETUP, policy="fast")
    for setup, late in ((fast, 0), (SETUP, 0), (SETUP, 100), (SETUP, 200), (fast, -150)):
        Traces(home, setup).keep(replace(TURN, audible=1_650 + late, interrupted=None))
    Traces(home, fast).keep(replace(TURN, audible=None))
    first, second = stats(home)
    assert (first.policy, first.turns, first.speculated, first.interrupted) == ("fast", 2, 2, 0)
    assert (second.policy, second.turns) == ("default", 3)
    assert [time.stage for time in second.stages] == list(STAGES)
    assert (second.stages[-1].p50, second.stages[-1].p95) == (750, 850)


def test_nothing_kept_is_no_group(tmp_path: Path) -> None:
    assert stats(Home.at(tmp_path)) == ()


def _traced() -> tuple[Tracing, list[Trace]]:
    found: list[Trace] = []
    tracing = Tracing(350, found.append, lambda number: number * 32 + 32)
    tracing.action(Open(1), 100)
    tracing.event(Frame(3, 900), 128)
    tracing.event(Frame(4, 100), 160)
    tracing.action(Recognise(1, 1, 0, 9), 320)
    tracing.event(Recognised(1, 1, "hello"), 400)
    tracing.action(Ask(1, 1, "hello"), 400)
    return tracing, found


def test_a_turn_is_followed_from_its_first_sound_to_its_end() -> None:
    tracing, found = _traced()
    tracing.due(1, 512, 656)
    tracing.action(Settle(1, 1), 656)
    tracing.event(ReplyText(1, 1, "Hello"), 700)
    tracing.event(ReplyText(1, 1, " there."), 720)
    tracing.action(Say(1, 1, "Hello there."), 720)
    tracing.sounded(1, 1, 722)
    tracing.event(Audible(1, 1), 770)
    tracing.action(Show(Phase.LISTENING, False), 1_500)
    assert found == [Trace(
        turn=1, revision=1, voiced=128, endpoint=640, recognise=320, recognised=400, ask=400,
        first_token=700, first_piece=720, first_sound=722, audible=770, ended=1_500, asked=1,
        speculated=True, said=12, heard=12,
    )]  # fmt: skip


def test_what_crackles_in_the_silence_after_the_words_is_no_end_of_them() -> None:
    tracing, found = _traced()
    tracing.event(Frame(12, 400), 416)
    tracing.due(1, 512, 656, 3)
    tracing.action(Settle(1, 1), 656)
    tracing.end(1_000)
    assert (found[0].voiced, found[0].endpoint) == (128, 640)


def test_an_interrupted_turn_ends_with_what_was_heard() -> None:
    tracing, found = _traced()
    tracing.action(Settle(1, 1), 656)
    tracing.action(Say(1, 1, "Hello there."), 720)
    tracing.event(Audible(1, 1), 770)
    tracing.action(Cut(1, 1, "Hello"), 900)
    tracing.action(Open(2), 900)
    assert (found[0].interrupted, found[0].heard, found[0].said) == (900, 5, 12)


def test_a_turn_that_goes_on_is_timed_from_its_last_words() -> None:
    tracing, found = _traced()
    tracing.action(Settle(1, 1), 656)
    tracing.action(Say(1, 1, "Hello there."), 720)
    tracing.event(Audible(1, 1), 770)
    tracing.action(Drop(1, 1), 1_500)
    tracing.event(Frame(49, 900), 1_600)
    tracing.action(Recognise(1, 2, 0, 60), 1_800)
    tracing.event(Recognised(1, 2, "hello you"), 1_900)
    tracing.action(Ask(1, 2, "hello you"), 1_900)
    tracing.action(Settle(1, 2), 2_000)
    tracing.action(Say(1, 2, "Hi."), 2_100)
    tracing.event(Audible(1, 2), 2_150)
    tracing.end(3_000)
    (trace,) = found
    assert (trace.voiced, trace.endpoint, trace.audible) == (1_600, 2_000, 2_150)
    assert (trace.said, trace.heard, trace.asked, trace.speculated) == (3, 3, 2, True)


def test_an_early_reply_that_is_void_leaves_the_end_of_the_turn_where_it_was() -> None:
    tracing, found = _traced()
    tracing.finished(1, 500)
    tracing.action(Drop(1, 1), 600)
    tracing.action(Ask(1, 2, "hello you"), 600)
    tracing.action(Settle(1, 2), 600)
    tracing.end(3_000)
    assert (found[0].endpoint, found[0].speculated) == (500, False)


def test_words_nobody_said_leave_no_trace() -> None:
    tracing, found = _traced()
    tracing.action(Drop(1, 1, words=False), 700)
    tracing.action(Show(Phase.LISTENING, False), 700)
    assert found == []


def test_what_comes_late_of_an_earlier_reading_is_not_taken_for_the_last() -> None:
    tracing, found = _traced()
    tracing.action(Recognise(1, 2, 0, 20), 640)
    tracing.event(ReplyText(1, 1, "Hel"), 650)
    tracing.event(Recognised(1, 2, "hello you"), 700)
    tracing.action(Ask(1, 2, "hello you"), 700)
    tracing.action(Settle(1, 2), 900)
    tracing.end(1_000)
    assert (found[0].first_token, found[0].recognised, found[0].asked) == (None, 700, 2)
