"""Making sense of the events of the Messages API."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import cast

from lila_app.errors import RequestRefusedError, TruncatedReplyError
from lila_app.gateway import loose
from lila_app.gateway.chat.reader import quote
from lila_app.gateway.loose import Table
from lila_app.gateway.port import (
    Call,
    Carried,
    Finished,
    ProviderEvent,
    Receipt,
    TextDelta,
    ThinkingDelta,
    Usage,
)

_LIMITS = ("max_tokens", "model_context_window_exceeded")


@dataclass(slots=True)
class _Block:
    """A content block as far as it has come; `start` is what it began with."""

    start: Table
    text: list[str] = field(default_factory=list[str])
    thinking: list[str] = field(default_factory=list[str])
    signature: str = ""
    arguments: list[str] = field(default_factory=list[str])

    @property
    def kind(self) -> str:
        return loose.text(self.start.get("type"))


class MessageReader:
    """Turns one stream's events into ours.

    `ended` says that the terminal marker came; `last` then gives what a whole reply ends with.
    `begun` says that the model began, from where on the prompt is paid for; `account` gives what is
    known of that.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._blocks: dict[int, _Block] = {}
        self._usage: dict[str, object] = {}
        self._stop: str | None = None
        self._stop_details: Table = {}
        self._receipt: Receipt | None = None
        self.ended = False

    @property
    def begun(self) -> bool:
        """Whether the model began to answer."""
        return self._receipt is not None

    def read(self, event: Table) -> Iterator[ProviderEvent]:
        """The deltas of one event; the rest is kept until the message is whole."""
        match event.get("type"):
            case "message_start":
                message = loose.table(event.get("message"))
                self._receipt = read_receipt(message)
                self._count(loose.table(message.get("usage")))
                yield from self.account()  # the prompt is paid for, even if the person stops here
            case "content_block_start":
                block = _Block(loose.table(event.get("content_block")))
                self._blocks[_index(event)] = block
                yield from _began(block)
            case "content_block_delta":
                yield from _grew(self._block(event), loose.table(event.get("delta")))
            case "message_delta":
                delta = loose.table(event.get("delta"))
                self._stop = loose.text(delta.get("stop_reason")) or self._stop
                self._stop_details = loose.table(delta.get("stop_details")) or self._stop_details
                self._count(loose.table(event.get("usage")))
            case "message_stop":
                self.ended = True
            case _:
                pass  # a kind of event that came after this was written says nothing we need

    def account(self) -> Iterator[ProviderEvent]:
        """The receipt and what was counted, if the model began to answer."""
        if self._receipt is not None:
            yield self._receipt
            yield read_usage(self._usage)

    def last(self) -> Iterator[ProviderEvent]:
        """Whole calls, what is to be carried, the account, the end.

        Raises `TruncatedReplyError` without the terminal marker and `RequestRefusedError` when the
        provider's own filter ended the reply, after the account.
        """
        whole = self.ended and self._stop not in (None, "pause_turn")
        if whole:
            yield from self._calls()
            yield from self._carried()
        yield from self.account()
        if not whole:
            raise TruncatedReplyError(f"the reply of {self._name} broke off", hint="ask again")
        yield self._finished()

    def _finished(self) -> Finished:
        if self._stop == "refusal":
            why = quote(loose.text(self._stop_details.get("explanation")))
            raise RequestRefusedError(
                f"the content filter of {self._name} stopped the reply{f': {why}' if why else ''}",
                hint="say it differently, or ask another model",
            )
        if self._stop == "tool_use":
            return Finished("tools")
        return Finished("length" if self._stop in _LIMITS else "stop")

    def _block(self, event: Table) -> _Block:
        return self._blocks.setdefault(_index(event), _Block({}))

    def _count(self, usage: Table) -> None:
        """Later numbers are cumulative and replace earlier ones."""
        self._usage.update({key: value for key, value in usage.items() if value is not None})

    def _calls(self) -> Iterator[Call]:
        for block in self._tool_uses():
            text = _arguments(block)
            if self._stop in _LIMITS and _parsed(text) is None:
                continue  # cut off in the middle of the arguments: no call
            yield Call(loose.text(block.start.get("id")), loose.text(block.start.get("name")), text)

    def _tool_uses(self) -> list[_Block]:
        return [block for block in self._in_order() if block.kind == "tool_use"]

    def _in_order(self) -> list[_Block]:
        return [block for _, block in sorted(self._blocks.items())]

    def _carried(self) -> Iterator[Carried]:
        """The whole content when there is thinking in it and the turn goes on.

        Signed thinking must come back unchanged and in its place among the other blocks.
        """
        blocks = self._in_order()
        thinking = any(block.kind in ("thinking", "redacted_thinking") for block in blocks)
        if thinking and self._stop == "tool_use":
            content = [made for block in blocks if (made := _as_sent_back(block)) is not None]
            yield Carried(self._name, json.dumps(content, ensure_ascii=False))


def read_usage(usage: Table) -> Usage:
    """Token counts as reported; the total is what was not cached, what was read and what written.

    Written for the long lifetime comes from the split, which only the stream's start carries.
    """
    uncached = loose.count(usage.get("input_tokens"))
    read = loose.count(usage.get("cache_read_input_tokens"))
    written = loose.count(usage.get("cache_creation_input_tokens"))
    split = loose.table(usage.get("cache_creation"))
    return Usage(
        total=None if uncached is None else uncached + (read or 0) + (written or 0),
        read=read,
        written=written,
        output=loose.count(usage.get("output_tokens")),
        written_long=loose.count(split.get("ephemeral_1h_input_tokens")),
    )


def read_receipt(message: Table) -> Receipt:
    """The message's id and the provider's reason for a cache miss, None while it is pending."""
    reason = loose.table(loose.table(message.get("diagnostics")).get("cache_miss_reason"))
    return Receipt(
        response_id=loose.text(message.get("id")),
        miss=loose.text(reason.get("type")) or None,
        missed=loose.count(reason.get("cache_missed_input_tokens")),
    )


def _began(block: _Block) -> Iterator[ProviderEvent]:
    block.signature = loose.text(block.start.get("signature"))
    if block.kind in ("text", "thinking"):
        yield from _grew(block, {**block.start, "type": f"{block.kind}_delta"})


def _grew(block: _Block, delta: Table) -> Iterator[ProviderEvent]:
    match delta.get("type"):
        case "text_delta":
            text = loose.text(delta.get("text"))
            block.text.append(text)
            if text:
                yield TextDelta(text)
        case "thinking_delta":
            thinking = loose.text(delta.get("thinking"))
            block.thinking.append(thinking)
            if thinking:
                yield ThinkingDelta(thinking)
        case "signature_delta":
            block.signature = loose.text(delta.get("signature"))
        case "input_json_delta":
            block.arguments.append(loose.text(delta.get("partial_json")))
        case _:
            pass  # citations: nothing was given to cite


def _arguments(block: _Block) -> str:
    written = "".join(block.arguments)
    return written or json.dumps(block.start.get("input") or {}, ensure_ascii=False)


def _as_sent_back(block: _Block) -> dict[str, object] | None:
    match block.kind:
        case "thinking":
            thinking = "".join(block.thinking)
            return {"type": "thinking", "thinking": thinking, "signature": block.signature}
        case "redacted_thinking":
            return {"type": "redacted_thinking", "data": loose.text(block.start.get("data"))}
        case "text":
            text = "".join(block.text)
            return {"type": "text", "text": text} if text.strip() else None
        case "tool_use":
            sent = {key: block.start.get(key) for key in ("id", "name")}
            return {"type": "tool_use", **sent, "input": _parsed(_arguments(block)) or {}}
        case _:
            return None


def _parsed(arguments: str) -> dict[str, object] | None:
    try:
        made: object = json.loads(arguments)
    except ValueError:
        return None
    return cast("dict[str, object]", made) if isinstance(made, dict) else None


def _index(event: Table) -> int:
    return loose.count(event.get("index")) or 0
