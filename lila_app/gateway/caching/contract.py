"""What a model's provider promises of its prompt cache, as dated data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Kind = Literal["anthropic", "breakpoints", "key", "contents", "prefix", "none"]
"""How a cache is used.

- `anthropic`: cache_control on blocks, two lifetimes
- `breakpoints`: OpenAI from 5.6 on, matching only at marked parts
- `key`: OpenAI up to 5.5, automatic, helped by a routing key
- `contents`: Gemini, an explicit cachedContents object where it pays, else implicit
- `prefix`: a server on one's own machine that keeps what it evaluated
- `none`: no cache, or none that is known
"""


@dataclass(frozen=True, slots=True)
class CacheContract:
    """One model's cache.

    `minimum` is the shortest prefix that is cached, in the provider's tokens. Lifetimes are in
    seconds, multipliers of the price of an uncached input token in basis points (10,000 = 1.0).
    `storage` is the price of keeping a million tokens for an hour, in basis points of the price of
    a million input tokens. `as_of` and `source` say when the numbers were true and who said so.
    """

    kind: Kind
    minimum: int = 0
    short_seconds: int = 300
    long_seconds: int = 3_600
    read: int = 10_000
    write_short: int = 10_000
    write_long: int = 10_000
    storage: int = 0
    as_of: str = ""
    source: str = ""
