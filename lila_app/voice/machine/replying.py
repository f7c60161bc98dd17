"""What becomes of a reply: asked for, settled, said piece by piece, done."""

from __future__ import annotations

from lila_app.voice import chunks, endpoint
from lila_app.voice.machine.state import Cutting, Move, Reply
from lila_app.voice.model import (
    Ask,
    Audible,
    Cut,
    Drop,
    Hold,
    Paused,
    ReplyEnded,
    ReplyFailed,
    ReplyText,
    Resume,
    Say,
    Settle,
    Silent,
    Tell,
    Unspoken,
)

_NOTHING = "the model gave no words"


def ask(move: Move, turn: int, revision: int, text: str) -> None:
    """Ask for a reply, once the one before it is over."""
    resolve_cutting(move, "")
    move.do(Ask(turn, revision, text))
    move.put(reply=Reply(turn, revision, text, fed_at=move.now))


def settle(move: Move) -> None:
    """The words of the reply are the turn's: what is written of it may be said."""
    reply = move.answer(settled=move.now, hearing=move.state.hearing, fed_at=move.now)
    move.do(Settle(reply.turn, reply.revision))
    move.put(hearing=None)
    go_on(move)


def drop(move: Move, *, words: bool = True) -> None:
    """End the reply; its turn goes on, or (`words` False) never was."""
    if reply := move.state.reply:
        move.do(Drop(reply.turn, reply.revision, words))
        move.put(reply=None)


def written(move: Move, event: ReplyText) -> None:
    """A piece of the reply came."""
    if not (reply := _of(move, event)) or reply.ended:
        return
    move.answer(
        written=reply.written + event.text,
        buffer=chunks.Buffer(reply.buffer.text + event.text, reply.buffer.begun),
        fed_at=move.now,
    )
    go_on(move)


def reply_ended(move: Move, event: ReplyEnded) -> None:
    """The reply is whole."""
    if (reply := _of(move, event)) and not reply.ended:
        nothing = not reply.written.strip()
        move.answer(ended=True, failure=(_NOTHING, "") if nothing else None)
        go_on(move)


def reply_failed(move: Move, event: ReplyFailed) -> None:
    """No more of the reply will come: it is told once the words it answers are final."""
    if (reply := _of(move, event)) and not reply.ended:
        move.answer(ended=True, failure=(event.message, event.hint))
        go_on(move)


def audible(move: Move, event: Audible) -> None:
    """The first sound of the reply."""
    if (reply := _of(move, event)) and reply.said:
        move.answer(audible=True)


def silent(move: Move, event: Silent) -> None:
    """What was said has left the speaker."""
    if reply := _of(move, event):
        was = reply.sounding
        reply = move.answer(done=max(reply.done, min(event.said, reply.said)))
        if was and not reply.sounding:
            _tail(move)
        go_on(move)


def paused(move: Move, event: Paused) -> None:
    """A hold was carried out."""
    cutting = move.state.cutting
    if cutting and (cutting.turn, cutting.revision) == (event.turn, event.revision):
        resolve_cutting(move, event.heard)
    elif (reply := _of(move, event)) and reply.held is not None:
        move.answer(heard=event.heard)


def hold(move: Move) -> None:
    """Be silent, and find out what was heard."""
    reply = move.state.settled
    if reply is None or reply.held is not None:
        return
    if reply.said:
        move.do(Hold(reply.turn, reply.revision))
    if reply.sounding:
        _tail(move)
    move.answer(held=move.now, heard=None if reply.said else "")


def resume(move: Move) -> None:
    """It was nothing: speak on."""
    reply = move.state.settled
    if reply and reply.held is not None and move.state.speaker:
        if reply.said:
            move.do(Resume(reply.turn, reply.revision))
        move.answer(held=None, heard=None, fed_at=move.now)
        go_on(move)


def cut(move: Move) -> None:
    """End a settled reply; what was heard of it stays, once that is known."""
    reply = move.state.settled
    if reply is None:
        return
    hold(move)
    reply = move.answer()
    move.put(reply=None, cutting=Cutting(reply.turn, reply.revision, reply.written, move.now))
    if reply.heard is not None:
        resolve_cutting(move, reply.heard)


def resolve_cutting(move: Move, heard: str) -> None:
    """Carry out a cut that waited for what was heard."""
    if cutting := move.state.cutting:
        kept = heard if len(heard) <= len(cutting.written) else cutting.written
        move.do(Cut(cutting.turn, cutting.revision, kept))
        move.put(cutting=None, asked=endpoint.asks(kept))


def pass_time(move: Move) -> None:
    """What becomes due by time alone."""
    state = move.state
    if state.cutting and move.now - state.cutting.since >= move.policy.interruption.within:
        resolve_cutting(move, "")
    reply = state.settled
    if reply is None or reply.held is not None or not state.speaker:
        return
    starving = reply.done == reply.said and not reply.ended
    if starving and move.now - reply.fed_at >= move.policy.chunks.stalled:
        pieces, buffer = chunks.stalled(reply.buffer)
        move.answer(buffer=buffer)
        _say(move, pieces)


def go_on(move: Move) -> None:
    """Say what is ready of a settled reply, where it may be said; end it with its last sound."""
    reply = move.state.settled
    if reply is None or reply.held is not None:
        return
    if move.state.speaker:
        reply = _tell_failure(move)
        pieces, buffer = chunks.feed(reply.buffer, "", move.policy.chunks)
        if reply.ended:
            rest, buffer = chunks.flush(buffer, move.policy.chunks)
            pieces += rest
        move.answer(buffer=buffer)
        _say(move, pieces)
    elif reply.ended and not reply.said:
        show(move)
        _done(move)
        return
    _finish(move)


def show(move: Move) -> None:
    """Show a whole reply that cannot be spoken."""
    reply = move.answer()
    if reply.written.strip():
        move.do(Unspoken(reply.turn, reply.written.strip()))
    if reply.failure:
        move.do(Tell(*reply.failure))


def _finish(move: Move) -> None:
    reply = move.state.settled
    if reply and reply.ended and reply.done == reply.said and not reply.buffer.text.strip():
        _done(move)


def _done(move: Move) -> None:
    reply = move.state.settled
    assert reply is not None
    move.put(reply=None, asked=endpoint.asks(reply.written))


def _say(move: Move, pieces: tuple[str, ...]) -> None:
    reply = move.state.reply
    assert reply is not None
    move.do(*(Say(reply.turn, reply.revision, piece) for piece in pieces))
    move.answer(said=reply.said + len(pieces))


def _tell_failure(move: Move) -> Reply:
    """Tell that no more of the reply comes, and say it: whoever only listens must know it too."""
    reply = move.answer()
    if reply.failure is None:
        return reply
    message, hint = reply.failure
    move.do(Tell(message, hint))
    spoken = reply.buffer.text.rstrip()
    text = f"{spoken}\n\n{message}" if spoken else message
    return move.answer(buffer=chunks.Buffer(text, reply.buffer.begun), failure=None)


def _tail(move: Move) -> None:
    move.put(shut_until=move.now + move.policy.interruption.tail)


def _of(
    move: Move, event: ReplyText | ReplyEnded | ReplyFailed | Audible | Silent | Paused
) -> Reply | None:
    """The reply an event is about, None where it comes too late."""
    reply = move.state.reply
    if reply and (reply.turn, reply.revision) == (event.turn, event.revision):
        return reply
    return None
