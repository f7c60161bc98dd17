"""The life of a turn while the person has the word: begun, read, believed, over or forgotten."""

from __future__ import annotations

from lila_app.voice import endpoint
from lila_app.voice.machine import replying
from lila_app.voice.machine.state import Hearing, Move
from lila_app.voice.model import FRAME_MS, Drop, Open, Recognise


def begin(move: Move, first: int, last: int, voiced: int, *, key: bool = False) -> None:
    """A turn begins, or may: over a reply that is spoken it is opened once it has words."""
    turn = move.state.turns + 1
    wait = move.policy.endpoint.wait
    move.put(hearing=Hearing(turn, first, last, voiced, wait, key=key), turns=turn, run=0)
    if not move.state.over:
        move.do(Open(turn))


def read(move: Move, end: int) -> None:
    """Have the turn read up to a frame."""
    hearing = move.hear()
    revision = hearing.revision + 1
    move.do(Recognise(hearing.turn, revision, hearing.first, end))
    move.hear(revision=revision, reading=revision, read=True, read_at=move.now, read_end=end)


def accept(move: Move, text: str) -> None:
    """Take these words as the turn's so far, and ask for the reply where that is worth it."""
    policy = move.policy
    hearing = move.hear()
    if endpoint.among(text, policy.words.stop):
        forget(move)
        return
    words = text or hearing.words
    wait = policy.endpoint.wait
    if words:
        wait = endpoint.wait(words, policy.endpoint, policy.words, asked=move.state.asked)
    hearing = move.hear(words=words, wait=wait)
    if words and not hearing.final and _worth_asking(move, hearing):
        replying.ask(move, hearing.turn, hearing.revision, words)
        move.hear(asks=hearing.asks + 1)


def finish(move: Move) -> None:
    """The turn is over: its words are final, or it had none."""
    hearing = move.hear()
    reply = move.state.reply
    if not hearing.words:
        forget(move)
        return
    if reply is None or not _same(reply.text, hearing.words):
        replying.ask(move, hearing.turn, hearing.revision, hearing.words)
    replying.settle(move)


def finalise(move: Move) -> None:
    """No more of the turn will be heard: it ends with what there is of it."""
    hearing = move.hear(final=True, key=False)
    if hearing.reading is None and not hearing.read:
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
    reply, rules = move.state.reply, move.policy.endpoint
    if reply and _same(reply.text, hearing.words):
        return False
    length = (hearing.read_end - hearing.first) * FRAME_MS
    return hearing.asks < rules.attempts and length <= rules.speculable


def _same(text: str, other: str) -> bool:
    return endpoint.plain(text) == endpoint.plain(other)
