"""What a key does; it is certain where a voice is not, so nothing waits to see."""

from __future__ import annotations

from lila_app.voice.machine import faults, replying, turns
from lila_app.voice.machine.state import Move
from lila_app.voice.model import Key, Tell


def pressed(move: Move, key: Key) -> None:
    """The person pressed a key."""
    if key == "mute":
        move.put(muted=not move.state.muted)
        faults.deafen(move)
    elif key == "stop":
        _stop(move)
    elif key == "talk":
        _talk(move)
    elif key == "talk_end":
        _talk_end(move)
    else:
        _stop(move)
        move.put(leaving=True)


def leave(move: Move) -> None:
    """End once it is known what was heard of the last reply."""
    if move.state.leaving and move.state.cutting is None:
        move.put(ended=True)


def _stop(move: Move) -> None:
    """Whatever is going on, end it."""
    if move.state.hearing:
        turns.forget(move)
    replying.cut(move)


def _talk(move: Move) -> None:
    state = move.state
    if not state.rules.push_to_talk or state.leaving or (state.hearing and state.hearing.key):
        return
    if state.muted or not state.microphone:
        move.do(Tell("the microphone is muted" if state.muted else "there is no microphone"))
        return
    _stop(move)
    turns.begin(move, -1, -1, 0, key=True)


def _talk_end(move: Move) -> None:
    hearing = move.state.hearing
    if hearing and hearing.key:
        if hearing.voiced:
            turns.finalise(move)
        else:
            turns.forget(move)
