"""Which sentences are looked at, and which look like facts and are none."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from lila_app.memory.extraction.words import listed
from lila_app.memory.model import Doubt

MOST = 40
"""Sentences of one utterance that are looked at: who says more has pasted it."""

LONGEST = 400
"""Characters of a sentence that is parsed; a longer one is no sentence anybody says."""

_READ = 12_000
# Fenced code, and lines marked as somebody else's words: a mail that is answered, a paste.
_SHOWN = re.compile(r"```.*?(?:```|\Z)|^[ \t]{0,3}>[^\n]*", re.DOTALL | re.MULTILINE)
_END = re.compile(r"(?<=[.!?…])[\"”')\]]*(?=\s)|\n+|(?<=[;])(?=\s)")
_TITLE = re.compile(
    r"\b(?:dr|mr|mrs|ms|prof|st|no|vs|etc|e\.g|i\.e|approx|[A-Z])\.$", re.IGNORECASE
)


def sentences(text: str) -> list[tuple[int, int]]:
    """The sentences by offsets, without blanks at their ends; none in fences and quoted lines."""
    text = _SHOWN.sub(lambda found: " " * len(found[0]), text[:_READ])
    found: list[tuple[int, int]] = []
    for start, end in _pieces(text):
        piece = text[start:end]
        start += len(piece) - len(piece.lstrip())
        end = start + len(piece.strip())
        if start < end:
            found.append((start, end))
        if len(found) == MOST:
            break
    return found


def _pieces(text: str) -> Iterator[tuple[int, int]]:
    start = 0
    for match in _END.finditer(text):
        if _TITLE.search(text[max(start, match.start() - 8) : match.start()]):
            continue
        yield start, match.end()
        start = match.end()
    yield start, len(text)


_CODE = re.compile(
    r"[{}]|[=!<>]=|=>|->|\w\(\)|\);|^\s*(?:[$>#|]|//|--)|\w+\(\w+=|^\s*[\w.]+\s*=\s*\S|"
    r"\b(?:ERROR|WARN(?:ING)?|INFO|DEBUG|FATAL|TRACE)\b|^\s*(?:def|class|import|from|return|let|"
    r"const|var|select|insert|sudo|git|pip|npm)\b.*[.:;()*/=]\s*\S|^\S+://\S+$|\\\w+\\|"
    r"\d\d:\d\d:\d\d[.,\s]|^\s*at \w+\.|</\w+>|^\s*File \""
)
_JOKE = re.compile(
    r"\b(?:just kidding|only kidding|kidding|jk|j/k|joking|joke|ha(?:ha)+|hehe+|lol|lmao|rofl)\b|"
    r"[😂🤣😜😝]|(?:^|\s)/s\b|;-?\)",
    re.IGNORECASE,
)
_QUOTE = re.compile(r"[\"“„«]([^\"”“»]{2,})[\"”“»]|(?<!\w)'([^']{8,})'(?!\w)")
_SPOKEN = re.compile(
    r"\b(?:i|i'm|you|he|she|we|they|it|my|your|is|are|was|am|have|has|do|does)\b", re.IGNORECASE
)
_FICTION = re.compile(
    r"\b(?:in|from) (?:the|this|that|my|a|his|her) (?:\w+ )?(?:novel|book|film|movie|story|game|"
    r"show|"
    r"series|dream|song|play|episode|screenplay|fanfic|campaign|role ?play)\b|\bonce upon a time\b|"
    r"\bthe (?:character|protagonist|narrator|hero)\b|\b(?:dreamt|dreamed) (?:that|of|about|i)\b",
    re.IGNORECASE,
)
_SUPPOSED = re.compile(
    r"\b(?:if|unless|would|'d (?:like|love|be|rather|prefer|say|have)|might|maybe|perhaps|imagine|"
    r"suppose|supposing|pretend|wish|hypothetically|theoretically|probably|possibly|i guess|"
    r"i think|i suppose|i'm not sure|not sure|thinking (?:of|about)|think about|considering|"
    r"wondering|could|should|ought|whether|let's|what if|as though|say i|seems?|supposedly|"
    r"i doubt|tempted|hopefully|almost|nearly)\b|\b(?<!in )(?<!since )(?<!until )(?<!last )"
    r"(?<!next )(?<!of )(?<!\d )may\b(?! \d)",
    re.IGNORECASE,
)
_TOLD = re.compile(
    r"\b(?:she|he|they|someone|everyone|people|who|\w+) (?:says?|said|told|tells|thinks?|thought|"
    r"believes?|claims?|claimed|joked|reckons|asked|wrote|writes|swears|insists|assumes?|assumed|"
    r"heard|texted)\b(?! you\b)(?! goodbye)|\b(?:according to|apparently|i heard|i read that|"
    r"rumou?r)\b",
    re.IGNORECASE,
)
# A doctor's word on what to take day by day is no hearsay; what to take today is no habit.
_PRESCRIBED = re.compile(
    r"\bmy (?:doctor|gp|cardiologist|psychiatrist|neurologist) (?:has )?told me to take\b.*"
    r"\b(?:every|each|daily|nightly|once|twice|a day|per day)\b",
    re.IGNORECASE,
)
_QUESTION = re.compile(
    r"^\W*(?:(?:so|and|but|ok|okay|hey|well|lila)\W+)*(?:do|does|did|is|are|was|were|am|can|could|"
    r"would|will|should|shall|have|has|had|may|what|who|whom|whose|where|when|why|how|which|what's|"
    r"who's|where's|when's|how's|isn't|aren't|don't you|doesn't|didn't|won't|can't) "
    r"(?!.*\bremember that\b)",
    re.IGNORECASE,
)
_QUESTION_END = re.compile(r"\?[\"”')\s]*$")


def doubt_of(sentence: str, following: str) -> Doubt | None:
    """Why nothing in this sentence is taken as stated; None where something may be.

    `following` is the sentence after it: a joke is often owned up to only then.
    """
    if _QUESTION_END.search(sentence) or _QUESTION.match(sentence):
        return "question"
    if _JOKE.search(sentence) or (_JOKE.search(following) and len(following) < 40):
        return "joke"
    if any(_spoken(match) for match in _QUOTE.finditer(sentence)) or _FICTION.search(sentence):
        return "quoted"
    if _SUPPOSED.search(sentence):
        return "hypothetical"
    if _TOLD.search(sentence) and not _PRESCRIBED.search(sentence):
        return "third_party"
    return None


def _spoken(match: re.Match[str]) -> bool:
    """Words in quotation marks that somebody says, not a title or a password."""
    words = match[1] or match[2] or ""
    return len(words.split()) > 4 or _SPOKEN.search(words) is not None


def is_code(sentence: str) -> bool:
    """Code, a log line, an address: not said by anybody."""
    if _CODE.search(sentence):
        return True
    letters = sum(one.isalpha() or one in " ,.'’!-" for one in sentence)
    return letters < 0.6 * len(sentence)


_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
_EMPTY = listed(
    "so still too also just yes well i me my we our us you your he she it his her its they their "
    "them the a an and or but is are "
    "am "
    "was were be been to of in on at for with from that this person person's have has do does "
    "i'm we're i've it's"
)
_POLAR = listed(
    "not no never longer anymore instead correction actually now moved stopped quit used new "
    "changed left"
)


def repeats(sentence: str, recalled: Sequence[str]) -> bool:
    """Does it say no more than a text LILA itself had recalled?

    Four fifths of its telling words are in one of them, and no word that denies or changes it is
    missing there.
    """
    if not recalled:
        return False
    words = folded(sentence)
    if len(words) < 2:
        return False
    for text in recalled:
        known = folded(text)
        if words & _POLAR <= known and len(words & known) >= 0.8 * len(words):
            return True
    return False


def folded(text: str) -> frozenset[str]:
    """The telling words of a text, in lower case and without their endings."""
    found: set[str] = set()
    for match in _WORD.finditer(text.lower().replace("’", "'")):
        word = match[0]
        if word.endswith("n't") or word == "cannot":
            found.add("not")
        elif word not in _EMPTY:
            found.add(word if word in _POLAR else _stem(word.removesuffix("'s")))
    return frozenset(found)


def _stem(word: str) -> str:
    for ending in ("ing", "ed", "es", "s", "e"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word.removesuffix(ending)
    return word
