"""The life of a turn while the person has the word: begun, read, believed, over or forgotten."""

from __future__ import annotations

from dataclasses import replace

from lila_app.voice import endpoint
from lila_app.voice.machine import replying
from lila_app.voice.machine.state import Hearing, Move
from lila_app.voice.model import FRAME_MS, Drop, Open, Recognise


def begin(
    move: Move, first: int, last: int, voiced: int, *, key: bool = False, soon: bool = False
) -> None:
    """A turn begins, or may: over a reply that is spoken it is opened once it has words."""
    turn = move.state.turns + 1
    wait = move.policy.endpoint.wait
    hearing = Hearing(turn, first, last, voiced, wait, last, key=key, soon=soon)
    move.put(hearing=hearing, turns=turn, run=0)
    if not move.state.over:
        move.do(Open(turn))


def take_up(move: Move, *, last: int, seen: int, voiced: int, silent: bool = False) -> None:
    """The person goes on with the turn whose words were final: its reply is void.

    It is read again from its beginning; its earlier words stand where nothing comes of that.
    """
    reply = move.answer()
    assert reply.hearing is not None
    replying.drop(move)
    hearing = replace(
        reply.hearing,
        last=last,
        seen=seen,
        voiced=reply.hearing.voiced + voiced,
        silent=silent,
        read=False,
        reading=None,
    )
    move.put(hearing=hearing, run=0)


def read(move: Move, end: int) -> None:
    """Have the turn read up to a frame."""
    hearing = move.hear()
    revision = hearing.revision + 1
    move.do(Recognise(hearing.turn, revision, hearing.first, end))
    move.hear(
        revision=revision,
        reading=revision,
        read=True,
        again=hearing.read,
        read_at=move.now,
        read_end=end,
    )


def accept(move: Move, text: str) -> None:
    """Take these words as the turn's so far, and ask for the reply where that is worth it."""
    policy = move.policy
    hearing = move.hear()
    if endpoint.among(endpoint.beyond(text, hearing.words), policy.words.stop):
        forget(move)
        return
    words = text or hearing.words
    wait = policy.endpoint.wait
    if words:
        wait = endpoint.wait(words, policy.endpoint, policy.words, asked=move.state.asked)
    hearing = move.hear(words=words, wait=wait)
    reply = move.state.reply
    if words and not (reply and _same(reply.text, words)):
        replying.drop(move)
        if _worth_asking(move, hearing):
            replying.ask(move, hearing.turn, hearing.revision, words)
            move.hear(asks=hearing.asks + 1)
    end_if_due(move)


def end_if_due(move: Move) -> None:
    """End the turn once it was silent for as long as its words want, and nobody goes on.

    Speech in which nothing was read is read once more, with the silence after it: right behind the
    last word, the recogniser is unsure of words that it knows with half a second of quiet.
    """
    hearing = move.hear()
    gap = (hearing.seen - hearing.last) * FRAME_MS
    waited = hearing.silent and hearing.read and not move.state.run and gap >= hearing.wait
    if not waited or hearing.reading is not None:
        return
    if hearing.blank and not hearing.again:
        read(move, hearing.seen + 1)
    else:
        finish(move)


def finish(move: Move) -> None:
    """The turn is over: its words are final, or it had none."""
    hearing = move.hear()
    if not hearing.words:
        forget(move)
        return
    reply = move.state.reply
    if reply and reply.failure:  # asked for early, it may have failed for being early
        replying.drop(move)
        hearing = move.hear(revision=hearing.revision + 1)
    if move.state.reply is None:
        replying.ask(move, hearing.turn, hearing.revision, hearing.words)
    replying.settle(move)


def finalise(move: Move) -> None:
    """No more of the turn will be heard: it ends with what there is of it."""
    hearing = move.hear(final=True, key=False)
    if not hearing.read:
        read(move, hearing.last + 1)


def forget(move: Move) -> None:
    """Nobody said anything to LILA: nothing of the turn stays."""
    hearing = move.hear()
    reply = move.state.reply
    if reply and reply.turn == hearing.turn:
        replying.drop(move, words=False)
    else:
        move.do(Drop(hearing.turn, hearing.revision, words=False))
    move.put(hearing=None, run=0)


def _worth_asking(move: Move, hearing: Hearing) -> bool:
    """Whether to ask before the words are final: the reply is often begun before it is due."""
    rules = move.policy.endpoint
    length = (hearing.read_end - hearing.first) * FRAME_MS
    early = not hearing.final and length <= rules.speculable
    return early and hearing.asks < rules.attempts


def _same(text: str, other: str) -> bool:
    return endpoint.plain(text) == endpoint.plain(other)
