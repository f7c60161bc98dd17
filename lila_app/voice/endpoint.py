"""What the words of a turn say about whether it is over, and whether they are words to answer.

Pure: text in, a judgement out. Words are compared as a recogniser may write them: case and
punctuation do not count.
"""

from __future__ import annotations

from enum import Enum

from lila_app.voice.policy import EndpointRules, WordRules

_CLOSING = "\"'”’»)]*"
_UNFINISHED = (",", "-", "–", "—", "...", "…", ":", ";")


class Ending(Enum):
    """How the words read so far end."""

    COMPLETE = "complete"
    UNCLEAR = "unclear"
    TRAILING = "trailing"
    THINKING = "thinking"


def plain(text: str) -> str:
    """The words alone: lower case, one space between them, no punctuation but within a word."""
    words = ("".join(c if c.isalnum() or c in "'’-" else " " for c in text)).casefold().split()
    stripped = (word.strip("'’-").replace("’", "'") for word in words)
    return " ".join(word for word in stripped if word)


def ending(text: str, words: WordRules) -> Ending:
    """How these words end; a question mark ends whatever comes before it."""
    bare = text.strip().rstrip(_CLOSING).rstrip()
    if not plain(bare) or bare.endswith(_UNFINISHED):
        return Ending.TRAILING if plain(bare) else Ending.UNCLEAR
    if bare.endswith("?"):
        return Ending.COMPLETE
    if _opens_with(_last_sentence(bare), words.thinking):
        return Ending.THINKING
    last = plain(bare).rpartition(" ")[2]
    if last in words.trailing:
        return Ending.TRAILING
    stopped = bare.endswith((".", "!"))
    if last in words.perhaps:
        return Ending.UNCLEAR if stopped else Ending.TRAILING
    return Ending.COMPLETE if stopped else Ending.UNCLEAR


def wait(text: str, rules: EndpointRules, words: WordRules, *, asked: bool) -> int:
    """How many ms of silence end a turn of these words; `asked`: LILA's last words were a question.

    An answer that is whole is not waited for longer because it was asked for ("Yes."); one that
    breaks off is.
    """
    found = ending(text, words)
    waits = {
        Ending.COMPLETE: rules.complete,
        Ending.UNCLEAR: rules.wait,
        Ending.TRAILING: rules.trailing,
        Ending.THINKING: rules.thinking,
    }
    unfinished = found in (Ending.TRAILING, Ending.THINKING)
    return max(waits[found], rules.question) if asked and unfinished else waits[found]


def among(text: str, phrases: tuple[str, ...]) -> bool:
    """Whether the words, said any number of times over ("stop, stop"), are one of the phrases."""
    said = plain(text)
    if not said:
        return False
    known = {plain(phrase) for phrase in phrases} - {""}
    return said in known or any(_repeats(said, phrase) for phrase in known)


def beyond(text: str, earlier: str) -> str:
    """The words of a reading that an earlier one did not have; all of them where it went another
    way."""
    now, before = plain(text), plain(earlier)
    return now[len(before) :].strip() if before and f"{now} ".startswith(f"{before} ") else now


def asks(text: str) -> bool:
    """Whether a text ends on a question."""
    return text.rstrip().rstrip(_CLOSING).rstrip().endswith("?")


def _repeats(said: str, phrase: str) -> bool:
    words, unit = said.split(), phrase.split()
    times, rest = divmod(len(words), len(unit))
    return rest == 0 and words == unit * times


def _last_sentence(text: str) -> str:
    body = text.rstrip(".!")
    return body[max(body.rfind(mark) for mark in ".!?") + 1 :]


def _opens_with(text: str, phrases: tuple[str, ...]) -> bool:
    said = plain(text) + " "
    return any(said.startswith(plain(phrase) + " ") for phrase in phrases)
