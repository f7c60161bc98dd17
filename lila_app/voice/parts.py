"""What a spoken conversation is made of, whether its clock is real or not."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass

from lila_app.errors import LilaError
from lila_app.voice.model import ReplyFailed, Spoken
from lila_app.voice.policy import VoicePolicy
from lila_app.voice.ports import Activity, Conversation, Recogniser, Synthesiser
from lila_app.voice.trace import Keep

_log = logging.getLogger(__name__)

Tell = Callable[[str, str], None]
"""Takes what a person should know, and what to do about it."""

_UNFORESEEN = "it went wrong in a way LILA did not foresee"
_LOOK = "the log says where (`lila paths` says where it is)"


@dataclass(frozen=True, slots=True)
class Parts:
    """The parts behind their ports, the thresholds, and who takes the trace of each turn."""

    policy: VoicePolicy
    activity: Activity
    recogniser: Recogniser
    synthesiser: Synthesiser
    conversation: Conversation
    speakable: Callable[[str], Spoken]
    keep: Keep
    push_to_talk: bool = False


def explained(doing: str, error: Exception) -> tuple[str, str]:
    """What to tell a person of an error, and what to do about it; an unplanned one is logged."""
    if isinstance(error, LilaError):
        return error.message, error.hint
    _log.error("unexpected %s while %s", type(error).__name__, doing, exc_info=error)
    return f"{doing}: {_UNFORESEEN} ({type(error).__name__})", _LOOK


def unanswered(turn: int, revision: int, error: Exception) -> ReplyFailed:
    """No reply comes, because of an error."""
    return ReplyFailed(turn, revision, *explained("asking the model", error))
