"""The prompt as blocks in order of lifetime, its breakpoints, and its exact bytes."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from lila_app.context.items import ROLE_LINE, Counter
from lila_app.context.policy import BlockPolicy, Lifetime

Role = Literal["tools", "system", "user", "assistant", "tool"]


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of one message: consecutive parts of one role make one message."""

    role: Role
    content: str


@dataclass(frozen=True, slots=True)
class Block:
    """One block as rendered: `text` is its exact share of the prompt, `tokens` its count.

    Blocks laid end to end are the prompt. `sha256` is of `text`.
    """

    name: str
    lifetime: Lifetime
    parts: tuple[Part, ...]
    text: str
    tokens: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Breakpoint:
    """A place after which a cached prefix may end.

    `after` names the block, `end` is the offset in characters, `prefix_sha256` is of everything
    before it.
    """

    after: str
    end: int
    prefix_sha256: str


UNBOUNDED = 10**9
"""The room of a block without a ceiling; larger than any budget a policy may declare."""


def heading_tokens(block: BlockPolicy, count: Counter) -> int:
    """Tokens of the line that opens the block when it has content."""
    return count(block.heading + "\n") if block.heading else 0


def content_room(block: BlockPolicy, count: Counter) -> int:
    """Tokens of content a block may hold: its ceiling less its heading and its role line."""
    if not block.ceiling:
        return UNBOUNDED
    role = ROLE_LINE.format(role=role_of(block))
    return max(0, block.ceiling - heading_tokens(block, count) - count(role))


def role_of(block: BlockPolicy) -> Role:
    """Who speaks in a block that belongs to nobody's turn: the system, or from L4 on the person."""
    return "user" if block.lifetime >= Lifetime.L4 else "system"


def sha256(text: str) -> str:
    """SHA-256 of the UTF-8 bytes, hexadecimal; lone surrogates are hashed as they stand."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


@dataclass(frozen=True, slots=True)
class Draft:
    """A block before its place in the prompt is known; `tokens` is the sum of its known parts."""

    name: str
    lifetime: Lifetime
    parts: tuple[Part, ...]
    tokens: int


def lay(drafts: Sequence[Draft], count: Counter) -> tuple[Block, ...]:
    """Render drafts in order: a message opens with a role line when the role changes.

    Drafts without parts are left out. A role line counts towards the block it opens in; turns of
    the conversation are counted with theirs already.
    """
    blocks: list[Block] = []
    role: str | None = None
    for draft in drafts:
        if not draft.parts:
            continue
        pieces: list[str] = []
        tokens = draft.tokens
        for part in draft.parts:
            if part.role != role:
                role = part.role
                pieces.append(ROLE_LINE.format(role=role))
                tokens += 0 if draft.name == "conversation" else count(pieces[-1])
            pieces.append(part.content + "\n")
        text = "".join(pieces)
        blocks.append(Block(draft.name, draft.lifetime, draft.parts, text, tokens, sha256(text)))
    return tuple(blocks)


def breakpoints(
    blocks: Sequence[Block], after: Sequence[str], order: Sequence[str]
) -> tuple[Breakpoint, ...]:
    """The breakpoints after the blocks named, each moved up to the last block that is there.

    `order` is the declared order of all blocks. Breakpoints that fall together are one.
    """
    found: dict[int, Breakpoint] = {}
    digest = hashlib.sha256()
    end = 0
    ends: list[tuple[int, str, int, str]] = []
    for block in blocks:
        digest.update(block.text.encode("utf-8", "surrogatepass"))
        end += len(block.text)
        ends.append((order.index(block.name), block.name, end, digest.copy().hexdigest()))
    for name in after:
        above = [entry for entry in ends if entry[0] <= order.index(name)]
        if above:
            _, _, place, prefix = above[-1]
            found[place] = Breakpoint(name, place, prefix)
    return tuple(found[place] for place in sorted(found))


@dataclass(frozen=True, slots=True)
class PromptMessage:
    """One message for a provider: consecutive parts of one role, joined by line ends."""

    role: Role
    content: str


def messages(blocks: Sequence[Block]) -> tuple[PromptMessage, ...]:
    """The prompt as messages; their contents are the blocks' bytes without the role lines."""
    merged: list[PromptMessage] = []
    for part in (part for block in blocks for part in block.parts):
        if merged and merged[-1].role == part.role:
            merged[-1] = PromptMessage(part.role, f"{merged[-1].content}\n{part.content}")
        else:
            merged.append(PromptMessage(part.role, part.content))
    return tuple(merged)
