"""Making sense of a stream of GenerateContentResponse chunks."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from lila_app.errors import RequestRefusedError, UnavailableError
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

if TYPE_CHECKING:
    from google.genai.types import (
        GenerateContentResponse,
        GenerateContentResponseUsageMetadata,
        Part,
    )

INVENTED = "lila-"
"""How the ids begin that the API left to us; they are not sent back to it."""

GONE = "cached_content_not_found"
"""The reason for a miss, in the words of Google's error."""

_MISTAKES = frozenset(
    {
        "MALFORMED_FUNCTION_CALL",
        "MALFORMED_RESPONSE",
        "UNEXPECTED_TOOL_CALL",
        "TOO_MANY_TOOL_CALLS",
        "OTHER",
        "FINISH_REASON_UNSPECIFIED",
    }
)
"""Ends that are the model's failure; asking again may help. All others but the ends of a whole
reply are refusals (SAFETY, RECITATION, BLOCKLIST, PROHIBITED_CONTENT, SPII, …)."""


class StreamReader:
    """One stream's chunks as events; `finished` is the terminal marker, once seen.

    `step` is the number of this turn's steps before the call, which makes invented ids unique.
    """

    def __init__(self, name: str, step: int) -> None:
        self._name = name
        self._step = step
        self._parts: list[Part] = []
        self._signed = False
        self._calls = 0
        self._usage: Usage | None = None
        self._response_id = ""
        self.finished: Finished | None = None

    def read(self, chunk: GenerateContentResponse) -> Iterator[ProviderEvent]:
        """The deltas and calls of one chunk; the rest is kept until the stream is whole.

        Raises `RequestRefusedError` when the provider's filters stopped the reply and
        `UnavailableError` when the model made nothing usable.
        """
        if chunk.usage_metadata is not None:
            self._usage = read_usage(chunk.usage_metadata)
        self._response_id = chunk.response_id or self._response_id
        blocked = chunk.prompt_feedback.block_reason if chunk.prompt_feedback else None
        if blocked is not None:
            raise self._refused(blocked.value)
        for candidate in (chunk.candidates or [])[:1]:
            for part in (candidate.content.parts if candidate.content else None) or []:
                yield from self._part(part)
            if candidate.finish_reason is not None:
                self._end(candidate.finish_reason.value)

    def closing(self, written: int | None, lost: int | None) -> Iterator[ProviderEvent]:
        """What is said at the end: what is to be carried, the account, the terminal marker."""
        if self._signed and self._calls:
            yield Carried(self._name, _whole(self._parts))
        yield from self.account(written, lost)
        if self.finished is not None:
            yield self.finished

    def account(self, written: int | None, lost: int | None) -> Iterator[ProviderEvent]:
        """The receipt and what was counted so far.

        `written` are the tokens of a cache made for this call, `lost` those of one that was named
        and that the provider no longer had. What was written is not counted as read too, so that
        what was read, what was written and what was neither add up to the prompt. Google bills the
        reading of it as well, which is missing in the account.
        """
        if self._response_id:
            yield Receipt(self._response_id, None if lost is None else GONE, lost)
        if self._usage is not None:
            read = self._usage.read
            if read is not None and written is not None:
                read = max(0, read - written)
            yield replace(self._usage, read=read, written=written)

    def _part(self, part: Part) -> Iterator[ProviderEvent]:
        if part.thought:
            if part.text:
                yield ThinkingDelta(part.text)
            return
        self._keep(part)
        if part.text:
            yield TextDelta(part.text)
        called = part.function_call
        if called is not None:
            self._calls += 1
            yield Call(
                called.id or f"{INVENTED}{self._step}-{self._calls}",
                called.name or "",
                json.dumps(called.args or {}, ensure_ascii=False),
            )

    def _keep(self, part: Part) -> None:
        """A part as it is to be sent back: one with a signature alone, plain text in one."""
        from google.genai.types import Part

        signature, called = part.thought_signature, part.function_call
        self._signed = self._signed or signature is not None
        last = self._parts[-1] if self._parts else None
        if signature is None and called is None:
            if not part.text:
                return
            if last is not None and last.function_call is None and last.thought_signature is None:
                last.text = f"{last.text}{part.text}"
                return
        kept = Part(text=part.text, function_call=called, thought_signature=signature)
        self._parts.append(kept)

    def _end(self, reason: str) -> None:
        match reason:
            case "STOP":
                self.finished = Finished("tools" if self._calls else "stop")
            case "MAX_TOKENS" | "CONTINUATION":
                self.finished = Finished("length")
            case _ if reason in _MISTAKES:
                raise UnavailableError(
                    f"{self._name} ended without a usable reply ({reason})",
                    hint="ask again, or ask another model with --model",
                )
            case _:
                raise self._refused(reason)

    def _refused(self, reason: str) -> RequestRefusedError:
        return RequestRefusedError(
            f"the filters of {self._name} stopped the reply ({reason})",
            hint="say it differently, or ask another model",
        )


def read_usage(said: GenerateContentResponseUsageMetadata) -> Usage:
    """Token counts as reported; what is not reported is None, which is not zero."""
    spoken = said.candidates_token_count, said.thoughts_token_count
    counted = [tokens for tokens in spoken if tokens is not None]
    return Usage(
        total=said.prompt_token_count,
        read=said.cached_content_token_count,
        output=sum(counted) if counted else None,
    )


def _whole(parts: list[Part]) -> str:
    """The model's answer as the SDK writes and reads it."""
    from google.genai.types import Content

    return Content(role="model", parts=parts).model_dump_json(exclude_none=True)
