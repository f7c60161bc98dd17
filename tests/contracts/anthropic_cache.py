"""Anthropic's caching contract, as a thing that can be held against: what it reads and writes.

Exact prefixes of blocks in the order tools, system, messages; entries only at marks; each mark
looks back over twenty blocks, its own among them; entries of five minutes or an hour, refreshed
when they are used, readable from when the response that wrote them began; none below the minimum;
none shared between credentials or models. Whatever stands before the messages but is no block (tool
choice, thinking, effort) makes other messages of the same words, and an output format another
system prompt.

Where the sources leave it open the less favourable reading is taken: a mark within what was read
anyway writes no entry of its own.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from tests.contracts.counted import Counted, IdealClient, Unit

LOOKBACK = 20
MOST_MARKS = 4
LIFETIMES = {"5m": timedelta(minutes=5), "1h": timedelta(hours=1)}

Json = Mapping[str, Any]


class Refused(Exception):
    """A body the cache's rules refuse, with the sentence that says why."""


@dataclass(frozen=True)
class Block:
    """One block of the prompt: what it is (without its mark), its tokens, its mark's lifetime."""

    section: str
    content: str
    tokens: int
    ttl: str | None


@dataclass(frozen=True)
class Prompt:
    """A prompt as blocks, with the hash of the prefix that ends at each."""

    model: str
    credential: str
    blocks: tuple[Block, ...]
    hashes: tuple[str, ...]
    settings: str

    @property
    def total(self) -> int:
        return sum(block.tokens for block in self.blocks)

    def tokens(self, end: int) -> int:
        """Tokens of the blocks up to and with this one; 0 for -1."""
        return sum(block.tokens for block in self.blocks[: end + 1])

    def marks(self) -> list[int]:
        return [at for at, block in enumerate(self.blocks) if block.ttl is not None]

    def section(self, name: str) -> tuple[str, ...]:
        return tuple(block.content for block in self.blocks if block.section == name)


@dataclass(frozen=True)
class Use:
    """What a prompt reads (up to block `hit`, -1 for nothing), and what it writes per lifetime."""

    prompt: Prompt
    hit: int
    writes: tuple[int, ...]
    read: int
    written: Mapping[str, int]

    @property
    def creation(self) -> int:
        return sum(self.written.values())

    @property
    def uncached(self) -> int:
        return self.prompt.total - self.read - self.creation


@dataclass
class PromptCache:
    """The entries of all credentials."""

    clock: Callable[[], datetime]
    minimum: int = 512
    entries: dict[str, tuple[datetime, str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.ideal = IdealClient(self.minimum, LIFETIMES["1h"])

    def use(self, prompt: Prompt) -> Use:
        """What this prompt reads and would write; nothing is changed."""
        marks = [at for at in prompt.marks() if prompt.tokens(at) >= self.minimum]
        hit = max((self._found(prompt, mark) for mark in marks), default=-1)
        read = prompt.tokens(hit)
        written = dict.fromkeys(LIFETIMES, 0)
        writes = tuple(at for at in marks if at > hit)
        before = read
        for at in writes:
            written[prompt.blocks[at].ttl or "5m"] += prompt.tokens(at) - before
            before = prompt.tokens(at)
        return Use(prompt, hit, writes, read, written)

    def begin(self, use: Use) -> Counted:
        """The response begins: entries become readable, those used live on."""
        prompt = use.prompt
        used = {use.hit, *(at for at in prompt.marks() if at <= use.hit)} - {-1}
        for at in used:
            self._refresh(prompt.hashes[at])
        for at in use.writes:
            ttl = prompt.blocks[at].ttl or "5m"
            self.entries[prompt.hashes[at]] = (self.clock() + LIFETIMES[ttl], ttl)
        key = _digest(prompt.credential, prompt.model, prompt.settings)
        units = [Unit(b.content, b.tokens, b.section == "messages") for b in prompt.blocks]
        cached = max(prompt.marks(), default=-1) + 1
        ideal_read, ideal_written = self.ideal.sends(key, units, cached, self.clock())
        return Counted(
            total=prompt.total,
            read=use.read,
            written=use.creation,
            written_long=use.written["1h"],
            ideal_read=ideal_read,
            ideal_written=ideal_written,
        )

    def _found(self, prompt: Prompt, mark: int) -> int:
        for at in range(mark, max(-1, mark - LOOKBACK), -1):
            if self._alive(prompt.hashes[at]):
                return at
        return -1

    def _alive(self, digest: str) -> bool:
        return digest in self.entries and self.entries[digest][0] > self.clock()

    def _refresh(self, digest: str) -> None:
        if self._alive(digest):
            _, ttl = self.entries[digest]
            self.entries[digest] = (self.clock() + LIFETIMES[ttl], ttl)


def prompt_of(body: Json, credential: str, count: Callable[[str], int]) -> Prompt:
    """The body as the cache sees it. Raises `Refused`."""
    blocks = [
        *_blocks("tools", body.get("tools", ()), count),
        *_blocks("system", _as_blocks(body.get("system", ())), count),
    ]
    for message in body["messages"]:
        made = [{"role": message["role"], "block": b} for b in _as_blocks(message["content"])]
        blocks += _blocks("messages", made, count)
    _check_marks(blocks)
    output = body.get("output_config") or {}
    settings = {
        "tools": [],
        "system": [output.get("format"), body.get("speed")],
        "messages": [body.get("tool_choice"), body.get("thinking"), output.get("effort")],
    }
    hashes: list[str] = []
    digest = _digest(credential, body["model"])
    section = ""
    for block in blocks:
        if block.section != section:
            section = block.section
            digest = _digest(digest, section, _text(settings[section]))
        digest = _digest(digest, block.content)
        hashes.append(digest)
    return Prompt(body["model"], credential, tuple(blocks), tuple(hashes), _text(settings))


def _blocks(section: str, made: Sequence[Any], count: Callable[[str], int]) -> list[Block]:
    return [_block(section, each, count) for each in made]


def _block(section: str, made: Json, count: Callable[[str], int]) -> Block:
    inner = made["block"] if section == "messages" else made
    control = inner.get("cache_control")
    bare = {key: value for key, value in inner.items() if key != "cache_control"}
    content = _text({**made, "block": bare} if section == "messages" else bare)
    if control is None:
        return Block(section, content, count(content), None)
    if inner.get("type") in ("thinking", "redacted_thinking"):
        raise Refused("cache_control cannot be set on thinking blocks")
    if inner.get("type") == "text" and not inner["text"]:
        raise Refused("cache_control cannot be set for empty text blocks")
    return Block(section, content, count(content), control.get("ttl", "5m"))


def _as_blocks(content: Any) -> list[Json]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else list(content)


def _check_marks(blocks: Sequence[Block]) -> None:
    ttls = [block.ttl for block in blocks if block.ttl is not None]
    if len(ttls) > MOST_MARKS:
        raise Refused(
            f"A maximum of {MOST_MARKS} blocks with cache_control may be provided. "
            f"Found {len(ttls)}."
        )
    if "5m" in ttls and "1h" in ttls[ttls.index("5m") :]:
        raise Refused("a ttl='1h' cache_control block must not come after a ttl='5m' one")


def _text(value: object) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False)


def _digest(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()
