"""Speaking over LILA: held at once, cut when it is words to LILA, spoken on when it was nothing."""

from __future__ import annotations

from lila_app.voice import endpoint
from lila_app.voice.machine import replying, turns
from lila_app.voice.machine.state import Move
from lila_app.voice.model import FRAME_MS, Drop, Open


def judge(move: Move, text: str) -> None:
    """What was said over LILA is read: is it to LILA?

    While somebody still speaks, nothing and a word of agreement leave it open.
    """
    words = move.policy.words
    if endpoint.among(text, words.stop):
        turns.forget(move)
        replying.cut(move)
    elif text and (_has_asked(move) or not endpoint.among(text, words.agreeing)):
        _interrupt(move, text)
    elif _all_of_it(move) or _waited(move):
        false_alarm(move, agreed=bool(text))
    else:
        move.hear(read=False)


def overhear(move: Move, number: int) -> None:
    """Read what is said before there is a pause: nobody is held for as long as they speak."""
    hearing = move.hear()
    since = max(hearing.first + move.policy.activity.before // FRAME_MS, hearing.read_end)
    due = (number - since) * FRAME_MS >= move.policy.interruption.within // 2
    if not hearing.silent and hearing.reading is None and due:
        turns.read(move, number + 1)


def pass_time(move: Move) -> None:
    """No words in time: it was nothing."""
    hearing = move.hear()
    if hearing.reading is None and (hearing.final or _waited(move)):
        false_alarm(move)


def false_alarm(move: Move, *, agreed: bool = False) -> None:
    """Speak on; the same noise does not hold LILA again, and the next must last longer to do so.

    Else what is left of LILA's own echo would hold it at the same word for ever.
    """
    going_on = not move.hear().silent
    turns.forget(move)
    move.put(quiet_first=going_on)
    if not agreed:
        move.answer(alarms=move.answer().alarms + 1)
    replying.resume(move)


def _interrupt(move: Move, text: str) -> None:
    """The reply is over; whoever spoke has the word, and may have said it already."""
    hearing, reply = move.hear(), move.answer()
    if hearing.soon and reply.heard == "":
        _go_on(move)
        return
    replying.cut(move)
    move.do(Open(hearing.turn))
    if _all_of_it(move):
        turns.accept(move, text)
    else:
        move.hear(read=False, words=text)


def _go_on(move: Move) -> None:
    """Not a word of the reply was heard yet: they were still saying what it answers."""
    hearing = move.hear()
    move.do(Drop(hearing.turn, hearing.revision, words=False))
    turns.take_up(
        move,
        last=hearing.last,
        seen=hearing.seen,
        voiced=hearing.voiced,
        silent=hearing.silent,
    )


def _has_asked(move: Move) -> bool:
    """Whether all but the last of a reply was heard, and that is a question: "yeah" answers it."""
    reply = move.state.settled
    if reply is None or reply.heard is None or not reply.ended:
        return False
    rest = reply.written[len(reply.heard) :]
    return endpoint.asks(reply.written) and sum(rest.count(mark) for mark in ".?!") <= 1


def _all_of_it(move: Move) -> bool:
    """Whether what was read is all that was said so far, and nothing more is being said."""
    hearing = move.hear()
    return hearing.final or (hearing.silent and hearing.read_end > hearing.last)


def _waited(move: Move) -> bool:
    reply = move.state.settled
    held = reply.held if reply else None
    return held is not None and move.now - held >= move.policy.interruption.within
