"""When a turn begins, when it may be over, and when it is."""

from __future__ import annotations

from lila_app.voice import endpoint
from lila_app.voice.machine import interrupting, replying, turns
from lila_app.voice.machine.state import Hearing, Move
from lila_app.voice.model import FRAME_MS, Frame, Recognised, Tell

_DOUBLINGS = 3
"""Half a second of voice, at 2 frames to begin with: longer than a word, so that LILA gets on."""


def frame(move: Move, event: Frame) -> None:
    """A frame was heard: it belongs to a turn, begins one, or is passed over."""
    if not _open(move):
        move.put(floor=None, run=0)
        return
    if move.state.floor is None:
        move.put(floor=event.number)
    hearing = move.state.hearing
    if hearing is None:
        if not move.state.rules.push_to_talk:
            _listen(move, event)
    elif hearing.key:
        _hold_open(move, event)
    elif not hearing.final:
        _follow(move, event)


def recognised(move: Move, event: Recognised) -> None:
    """What was read; what is no words leaves the earlier words of the turn standing."""
    hearing = move.state.hearing
    if hearing is None or hearing.turn != event.turn or hearing.reading != event.revision:
        return
    nobodys = event.echo or _too_short(move, hearing, event.text)
    text = "" if nobodys or not endpoint.plain(event.text) else event.text.strip()
    move.hear(reading=None, blank=not text and not nobodys)
    if move.state.over:
        interrupting.judge(move, text)
    else:
        turns.accept(move, text)


def pass_time(move: Move) -> None:
    """What becomes due by time alone."""
    hearing = move.state.hearing
    if hearing is None:
        return
    if hearing.reading is not None:
        if move.now - hearing.read_at < move.policy.endpoint.reading:
            return
        move.do(
            Tell(
                "what you said could not be read in time",
                "a smaller recogniser is quicker: recogniser under [voice] in settings.toml",
            )
        )
        move.hear(reading=None, final=True)
        if move.state.over:
            interrupting.false_alarm(move)
            return
    if move.state.over:
        interrupting.pass_time(move)
    elif hearing.final:
        turns.finish(move)


def _open(move: Move) -> bool:
    state = move.state
    if state.muted or state.leaving or not state.microphone:
        return False
    if state.hearing and state.hearing.key:
        return True
    sounding = state.reply is not None and state.reply.sounding
    return state.duplex or not (sounding or move.now < state.shut_until)


def _listen(move: Move, event: Frame) -> None:
    """Wait for a run of voiced frames that is long enough."""
    policy, reopens = move.policy, _reopens(move)
    over = None if reopens else move.state.settled
    begins = policy.interruption.begins if over else policy.activity.begins
    frames = policy.activity.frames
    if over:
        frames = policy.interruption.frames << min(over.alarms, _DOUBLINGS)
    if event.speech <= begins:
        move.put(run=0, quiet_first=move.state.quiet_first and event.speech >= policy.activity.ends)
        return
    if move.state.quiet_first:
        return
    run = move.state.run + 1
    move.put(run=run, run_since=move.state.run_since if run > 1 else move.now)
    if run < frames:
        return
    if reopens:
        turns.take_up(move, last=event.number, seen=event.number, voiced=run)
        return
    floor = move.state.floor or 0
    first = event.number - run + 1 - policy.activity.before // FRAME_MS
    soon = _soon(move)
    if over:
        replying.hold(move)
    turns.begin(move, max(floor, first, 0), event.number, run, soon=soon)


def _reopens(move: Move) -> bool:
    reply = move.state.settled
    return reply is not None and not reply.audible and _soon(move)


def _soon(move: Move) -> bool:
    """Whether who speaks now may be going on with the turn that is answered, all of it read."""
    reply, floor = move.state.settled, move.state.floor
    if reply is None or reply.settled is None or reply.hearing is None or reply.hearing.final:
        return False
    if floor is None or floor > reply.hearing.first:
        return False
    since = move.state.run_since if move.state.run else move.now
    return since - reply.settled <= move.policy.endpoint.reopen


def _hold_open(move: Move, event: Frame) -> None:
    """The key is down: everything is the turn's."""
    hearing = move.hear()
    voiced = hearing.voiced + (event.speech > move.policy.activity.begins)
    first = event.number if hearing.first < 0 else hearing.first
    move.hear(first=first, last=event.number, voiced=voiced)
    if _too_long(move, event.number):
        turns.finalise(move)


def _follow(move: Move, event: Frame) -> None:
    """Somebody is speaking, or has just fallen silent."""
    hearing = move.hear(seen=event.number)
    if _too_long(move, event.number):
        turns.finalise(move)
    elif hearing.silent:
        _wait(move, event)
    elif event.speech >= move.policy.activity.ends:
        _speak(move, event.number, 1)
    else:
        move.hear(silent=True)
        move.put(run=0)
    if move.state.hearing and move.state.over:
        interrupting.overhear(move, event.number)


def _speak(move: Move, number: int, frames: int) -> None:
    hearing = move.hear()
    voiced, resumed = hearing.voiced + frames, hearing.resumed + frames
    hearing = move.hear(last=number, voiced=voiced, resumed=resumed)
    reply = move.state.reply
    if reply and reply.settled is None and resumed * FRAME_MS >= move.policy.activity.shortest:
        replying.drop(move)


def _wait(move: Move, event: Frame) -> None:
    """In silence: speech goes on after a run of voiced frames, after one where nothing was read."""
    policy, hearing = move.policy, move.hear()
    if event.speech > policy.activity.begins:
        run = move.state.run + 1
        if hearing.read and run < policy.activity.frames:
            move.put(run=run)
            return
        move.put(run=0)
        resumed = 0 if hearing.read else hearing.resumed
        move.hear(silent=False, read=False, reading=None, resumed=resumed)
        _speak(move, event.number, run)
        return
    move.put(run=0)
    gap = (event.number - hearing.last) * FRAME_MS
    if not hearing.read and gap >= policy.endpoint.speculate:
        turns.read(move, event.number + 1)
    elif not move.state.over:
        turns.end_if_due(move)


def _too_long(move: Move, number: int) -> bool:
    return (number + 1 - move.hear().first) * FRAME_MS >= move.policy.activity.longest


def _too_short(move: Move, hearing: Hearing, text: str) -> bool:
    """A sound too short to be a turn; whoever holds a key down means it."""
    if move.state.rules.push_to_talk:
        return False
    voiced = hearing.voiced * FRAME_MS
    short, stop = move.policy.words.short, move.policy.words.stop
    return voiced < move.policy.activity.shortest and not endpoint.among(text, short + stop)
