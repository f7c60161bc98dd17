"""What the machine says, begun: by workers of the real clock or of another one."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Protocol

from lila_app.voice.ear import Ear
from lila_app.voice.model import (
    Action,
    Ask,
    Cut,
    Drop,
    Event,
    Hold,
    Open,
    Paused,
    Recognise,
    Recognised,
    Resume,
    Say,
    Settle,
)
from lila_app.voice.mouth import Mouth, Utterance, understood
from lila_app.voice.parts import Parts, Tell, explained
from lila_app.voice.playback import Playback


class Reads(Protocol):
    """Has turns read; the newest that waits is next."""

    def read(self, action: Recognise) -> None:
        """Have a turn read."""
        ...


class Makes(Protocol):
    """Has speech made, a piece after the other."""

    def say(self, utterance: Utterance) -> None:
        """Make the sound of a piece, after those before it."""
        ...


class Talks(Protocol):
    """Has replies asked for, and the conversation told what became of them."""

    def ask(self, action: Ask) -> None:
        """Ask for a reply, once what was to be done before it is done."""
        ...

    def end(self, action: Cut | Drop) -> None:
        """Stop asking for a reply."""
        ...

    def later(self, work: Coroutine[None, None, None]) -> None:
        """Do something with the conversation after what was begun before it has ended."""
        ...

    def beside(self, work: Coroutine[None, None, None]) -> None:
        """Do something with the conversation while a reply may be written."""
        ...


class Hands:
    """Begins what an action says, and returns at once."""

    def __init__(
        self,
        parts: Parts,
        playback: Playback,
        workers: tuple[Reads, Talks, Makes],
        send: Callable[[Event], None],
        tell: Tell,
    ) -> None:
        """`send` hands an event to the machine, but not from within an action."""
        self._conversation = parts.conversation
        self._playback = playback
        self._mouth = Mouth(playback, parts.speakable, tell)
        self._reads, self._talks, self._makes = workers
        self._send = send
        self._tell = tell

    def do(self, action: Action, now: int) -> None:
        """Begin what an action says; what comes of it comes as events."""
        del now
        match action:
            case Open(turn=turn):
                self._open(turn)
            case Recognise():
                self._reads.read(action)
            case Ask():
                self._talks.ask(action)
            case Settle(turn=turn):
                self._talks.beside(self._conversation.settle(turn))
            case Drop() | Cut():
                self._end(action)
            case Say() | Hold() | Resume():
                self._speak(action)
            case _:
                pass

    def _open(self, turn: int) -> None:
        try:
            self._conversation.open(turn)
        except Exception as error:
            self._tell(*explained("preparing the reply", error))

    def _end(self, action: Cut | Drop) -> None:
        self._mouth.end(action)
        self._talks.end(action)
        if isinstance(action, Cut):
            self._talks.later(self._conversation.heard(action.turn, action.heard))
        elif action.words:
            self._open(action.turn)  # the person goes on: the words are not final after all
        else:
            self._talks.later(self._conversation.withdraw(action.turn))

    def _speak(self, action: Say | Hold | Resume) -> None:
        match action:
            case Say():
                self._makes.say(self._mouth.say(action))
            case Hold(turn=turn, revision=revision):
                self._send(Paused(turn, revision, self._playback.hold(turn, revision)))
            case Resume():
                self._playback.resume()


def read(action: Recognise, parts: Parts, ear: Ear, playback: Playback, tell: Tell) -> Recognised:
    """Have the recogniser read a turn; blocking. What goes wrong is told, and nothing read."""
    try:
        samples = ear.between(action.first, action.end)
        hotwords = parts.conversation.hotwords()
        found = parts.recogniser.recognise(samples, hotwords=hotwords)
        return understood(action, found, ear.span(action.first, action.end), playback, parts.policy)
    except Exception as error:
        message, hint = explained("reading your speech", error)
        tell(message, hint)
        return Recognised(action.turn, action.revision, "", message)
