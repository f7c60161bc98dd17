"""What a turn tells the front-end that asked for it, in the order it happens."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime

from lila_app.gateway.port import TextDelta, ThinkingDelta, Usage


@dataclass(frozen=True, slots=True)
class Uttered:
    """How the words of a turn were spoken, where they may still change.

    `began` is when the person began to speak, which is the turn's clock. `revises` is the turn
    whose words they take the place of, "" for a new one. Nothing is learned from the words until
    `lila.spoken.settle` says that they are final.
    """

    began: datetime
    revises: str = ""


@dataclass(frozen=True, slots=True)
class Started:
    """The person's words are durable; nothing that happens from here can lose them."""

    session_id: str
    turn_id: str


@dataclass(frozen=True, slots=True)
class ToolCall:
    """The model asked for a tool; `arguments` is JSON."""

    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What the tool returned to the model; `failed` says that it did not do what was asked."""

    name: str
    text: str
    failed: bool = False


@dataclass(frozen=True, slots=True)
class Confirmation:
    """What the person is asked before a tool changes something; `arguments` is JSON."""

    name: str
    arguments: str
    question: str


Confirm = Callable[[Confirmation], Awaitable[bool]]
"""Asks the person; True is a yes."""


@dataclass(frozen=True, slots=True)
class Notice:
    """Something the person should know that is not part of the reply.

    `model` is the one that answers from here on, "" when that did not change.
    """

    text: str
    model: str = ""


@dataclass(frozen=True, slots=True)
class Done:
    """The turn is stored. `stopped` means the reply is partial: the person or an error ended it."""

    session_id: str
    record_id: str
    stopped: bool
    model: str


TurnEvent = Started | TextDelta | ThinkingDelta | ToolCall | ToolResult | Usage | Notice | Done
