"""One step: the event to whom it concerns, then what is due by now, then what is shown."""

from __future__ import annotations

from lila_app.voice.machine import faults, hearing, keys, replying
from lila_app.voice.machine.state import Move, State
from lila_app.voice.model import (
    Action,
    Audible,
    Back,
    Event,
    Frame,
    Lost,
    Paused,
    Pressed,
    Recognised,
    ReplyEnded,
    ReplyFailed,
    ReplyText,
    Show,
    Silent,
    Tick,
)


def step(state: State, event: Event, now: int) -> tuple[State, tuple[Action, ...]]:
    """The state after an event, and what is to be done, in this order; `now` never goes back."""
    if state.ended:
        return state, ()
    move = Move(state, now)
    _heed(move, event)
    for pass_time in (hearing.pass_time, replying.pass_time, faults.pass_time, keys.leave):
        pass_time(move)
    new = move.state
    if (new.phase, new.muted) != (state.phase, state.muted):
        move.do(Show(new.phase, new.muted))
    return new, tuple(move.actions)


def _heed(move: Move, event: Event) -> None:
    match event:
        case Frame():
            hearing.frame(move, event)
        case Recognised():
            hearing.recognised(move, event)
        case Pressed(key):
            keys.pressed(move, key)
        case Lost():
            faults.lost(move, event)
        case Back():
            faults.back(move, event)
        case Tick():
            pass
        case _:
            _heed_reply(move, event)


def _heed_reply(
    move: Move, event: ReplyText | ReplyEnded | ReplyFailed | Audible | Silent | Paused
) -> None:
    match event:
        case ReplyText():
            replying.written(move, event)
        case ReplyEnded():
            replying.reply_ended(move, event)
        case ReplyFailed():
            replying.reply_failed(move, event)
        case Audible():
            replying.audible(move, event)
        case Silent():
            replying.silent(move, event)
        case Paused():
            replying.paused(move, event)
