"""What goes on when a part of the sound is lost, or the microphone is shut."""

from __future__ import annotations

from lila_app.voice.machine import interrupting, replying, turns
from lila_app.voice.machine.state import Move
from lila_app.voice.model import Back, Lost, Tell

_WITHOUT = {
    "microphone": "keys still work, and so does the text chat: lila chat",
    "speaker": "replies are shown until it is back",
}
_AGAIN = {"microphone": "LILA hears you again", "speaker": "LILA's voice is back"}


def lost(move: Move, event: Lost) -> None:
    """A part went away: told once, and what it was needed for is brought to an end.

    What is said of a part that is lost already is only whether its device is there.
    """
    there = move.state.microphone if event.part == "microphone" else move.state.speaker
    others = move.state.gone - {event.part}
    move.put(gone=others | {event.part} if event.gone else others)
    if not there:
        return
    move.do(Tell(event.why, _WITHOUT[event.part]))
    if event.part == "microphone":
        move.put(microphone=False)
        deafen(move)
    else:
        move.put(speaker=False, speaker_lost=move.now)
        if move.state.settled and move.state.settled.said:
            replying.hold(move)


def back(move: Move, event: Back) -> None:
    """It is there again: LILA speaks on from the last word that was heard."""
    there = move.state.microphone if event.part == "microphone" else move.state.speaker
    gone = event.part in move.state.gone
    move.put(duplex=event.duplex, floor=None, run=0, gone=move.state.gone - {event.part})
    if there:
        return
    move.do(Tell(f"the {event.part} is back" if gone else _AGAIN[event.part]))
    if event.part == "microphone":
        move.put(microphone=True)
        return
    move.put(speaker=True)
    if not move.state.over:
        replying.resume(move)
    replying.go_on(move)


def deafen(move: Move) -> None:
    """No more will be heard: a turn that was over but for the waiting is answered, another not."""
    hearing = move.state.hearing
    move.put(floor=None, run=0, quiet_first=False)
    if hearing is None:
        return
    if move.state.over:
        interrupting.false_alarm(move)
    elif hearing.read and not hearing.key:
        move.hear(final=True)
    else:
        turns.forget(move)


def pass_time(move: Move) -> None:
    """A speaker that does not come back in time: the reply is shown in full."""
    state = move.state
    reply = state.settled
    waited = move.now - state.speaker_lost >= move.policy.interruption.speaker
    if state.speaker or reply is None or not (waited and reply.ended):
        return
    if state.over:
        return
    replying.show(move)
    replying.cut(move)
