"""What is said to LILA itself: remember, correct, always do so; and plain commands."""

from __future__ import annotations

import re
from dataclasses import dataclass

from lila_app.memory.model import Cue

_FILLER = re.compile(
    r"^(?:(?:oh|well|so|and|but|also|ok|okay|yes|yeah|yep|no|hey|hi|hello|by the way|btw|fyi|"
    r"anyway|lila|just so you know|for your information|you know|honestly|great news|good news|"
    r"guess what|as i said|in fact)\b[\s,.:!–—-]*)+",
    re.IGNORECASE,
)
_EXPLICIT = re.compile(
    r"^(?:please[ ,]+|can you |could you |will you )?(?:remember(?: (?:that|this|for me))*|"
    r"don'?t forget(?: (?:that|this))*|never forget that|keep in mind(?: that)?|"
    r"bear in mind(?: that)?|(?:make a )?note(?: that|:| to self:)|note down(?: that)?|"
    r"for the record|save this|memori[sz]e(?: that| this)?)"
    r"(?![\w'’])(?![\s,]*(?:to|when|how|me|the time|what|who|why)\b)[\s,:–—-]*",
    re.IGNORECASE,
)
_CORRECTION = re.compile(
    r"^(?:(?:sorry|oops|wait|no)[,!. ]+)?(?:correction|i meant(?: [^:,]*)?|i meant(?: [^:,]*)?|"
    r"actually|i misspoke|"
    r"scratch that|to correct myself|i was wrong|let me correct(?: myself| that)?|that's wrong|"
    r"not quite)\b[\s,.:;–—-]*",
    re.IGNORECASE,
)
_WISH = re.compile(
    r"^(?:please[ ,]+)?(?:(?:from now on|in (?:the )?future|"
    r"going forward)[ ,]+(?:please[ ,]+)?(?P<later>.+)|"
    r"(?P<always>(?:always|never|don't ever) (?:answer|use|reply|write|keep|call|give|tell|ask|"
    r"show|speak|format|"
    r"respond|include|start|end|put|say|assume|mention|translate|remind|explain|send|be|make|quote|"
    r"address|begin|add|apologi[sz]e|suggest|talk|check|cite|spell|round|sign|skip|lie|"
    r"guess) .+))$",
    re.IGNORECASE,
)
_LATER = re.compile(r"[ ,]+(?:from now on|in (?:the )?future|going forward)$", re.IGNORECASE)
_CALL = re.compile(
    r"^(?i:please |just |you can |you may |people |everyone |my friends |everybody )*"
    r"(?i:calls?) me (?P<name>[A-Z][\w'’-]+(?: [A-Z][\w'’-]+)?)\b(?! (?:later|back|when|"
    r"if|at))",
)
_CALLED = re.compile(r"\b(?:people|everyone|friends|everybody) calls? me (?P<name>[A-Z][\w'’-]+)")
_COMMAND = re.compile(
    r"^(?:please )?(?:write|translate|summari[sz]e|tell|give|show|make|explain|draft|list|create|"
    r"generate|help|find|search|look|check|fix|add|remove|delete|rename|change|convert|calculate|"
    r"compare|describe|rewrite|rephrase|shorten|suggest|recommend|remind|schedule|book|send|reply|"
    r"answer|open|close|run|use|try|read|play|stop|start|set|put|turn|imagine|pretend|act|let|"
    r"say|repeat|continue|go|consider|assume|format|print|analy[sz]e|review|define|spell|take)\b"
    r"(?!\s*(?:is|are|was|,))",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Asked:
    """A sentence without what leads into it: where its own words begin, and what the lead said."""

    start: int
    explicit: bool
    cue: Cue


def asked(sentence: str) -> Asked:
    """Take off "by the way", "remember that", "correction:"."""
    start, explicit = 0, False
    cue: Cue = ""
    for _ in range(4):
        rest = sentence[start:]
        if found := _FILLER.match(rest):
            pass
        elif found := _EXPLICIT.match(rest):
            explicit = True
        elif found := _CORRECTION.match(rest):
            cue = "correction"
        else:
            break
        if found.end() == 0 or found.end() >= len(rest):
            break
        start += found.end()
    return Asked(start, explicit, cue)


def wish(sentence: str) -> str:
    """How LILA is to behave from now on; "" for any other sentence."""
    text = sentence.strip().rstrip(".!")
    ending = _LATER.search(text)
    if ending and is_command(text):
        return text[: ending.start()].rstrip(" ,")
    found = _WISH.match(text)
    if not found:
        return ""
    text = found["later"] or found["always"]
    return text if len(text.split()) >= 3 and not re.match(r"(?:i|we|my)\b", text, re.I) else ""


def nickname(sentence: str) -> str:
    """Call me Bea; people call me Andy."""
    found = _CALL.match(sentence) or _CALLED.search(sentence)
    return found["name"] if found else ""


def is_command(sentence: str) -> bool:
    """An order to LILA that states nothing."""
    return _COMMAND.match(sentence) is not None
