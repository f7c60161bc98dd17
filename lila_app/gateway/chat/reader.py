"""Making sense of what a Chat Completions stream says, whichever transport it came through."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from lila_app.errors import (
    AuthenticationError,
    ContextTooLarge,
    GatewayError,
    RequestRefusedError,
    UnavailableError,
)
from lila_app.gateway import loose
from lila_app.gateway.loose import Table
from lila_app.gateway.port import (
    Call,
    Finished,
    ProviderEvent,
    Receipt,
    TextDelta,
    ThinkingDelta,
    Usage,
)

_THINKING = ("reasoning_content", "reasoning")
"""llama-server, vLLM and LM Studio say the first, Ollama the second (their sources, 2026-11)."""

_TOO_LARGE = (
    "exceed_context_size_error",
    "context_length_exceeded",
    "maximum context length",
    "context size",
    "context length",
)
_LONGEST_QUOTE = 300


@dataclass(slots=True)
class _Wanted:
    """A call that is still being written."""

    id: str = ""
    name: str = ""
    pieces: list[str] = field(default_factory=list[str])


class StreamReader:
    """Turns one stream's chunks into events; `finished` is the terminal marker, once seen."""

    def __init__(self) -> None:
        self.finished: Finished | None = None
        self._usage: Usage | None = None
        self._id = ""
        self._calls: list[_Wanted] = []
        self._by_index: dict[int, _Wanted] = {}

    def read(self, chunk: Table) -> Iterator[ProviderEvent]:
        """The deltas of one chunk; calls, usage and the end are kept until the stream is whole."""
        self._id = self._id or loose.text(chunk.get("id"))
        usage = loose.table(chunk.get("usage"))
        if usage:
            self._usage = read_usage(usage)
        for choice in loose.tables(chunk.get("choices")):
            delta = loose.table(choice.get("delta"))
            for key in _THINKING:
                if thinking := loose.text(delta.get(key)):
                    yield ThinkingDelta(thinking)
                    break
            if text := loose.text(delta.get("content")):
                yield TextDelta(text)
            for piece in loose.tables(delta.get("tool_calls")):
                self._call(piece)
            self._end(choice.get("finish_reason"))

    def end(self) -> Iterator[ProviderEvent]:
        """What was kept, once `finished` is there: whole calls, receipt, usage and the end."""
        assert self.finished is not None
        if self.finished.reason == "tools":
            for number, wanted in enumerate(self._calls):
                arguments = "".join(wanted.pieces) or "{}"
                yield Call(wanted.id or f"call_{number}", wanted.name, arguments)
        if self._id:
            yield Receipt(self._id)
        if self._usage is not None:
            yield self._usage
        yield self.finished

    def _call(self, piece: Table) -> None:
        """A piece of a call: of the one with its index, unless its id says it is another."""
        index, own = loose.count(piece.get("index")) or 0, loose.text(piece.get("id"))
        wanted = self._by_index.get(index)
        if wanted is None or (own and wanted.id and own != wanted.id):
            wanted = self._by_index[index] = _Wanted()
            self._calls.append(wanted)
        wanted.id = wanted.id or own
        function = loose.table(piece.get("function"))
        wanted.name = wanted.name or loose.text(function.get("name"))
        arguments = function.get("arguments")
        if isinstance(arguments, Mapping):  # some servers send them parsed
            wanted.pieces.append(json.dumps(arguments))
        else:
            wanted.pieces.append(loose.text(arguments))

    def _end(self, reason: object) -> None:
        if reason == "content_filter":
            raise RequestRefusedError(
                "the provider's content filter stopped the reply",
                hint="say it differently, or ask another model",
            )
        if isinstance(reason, str) and reason:
            if reason == "length":  # a call may have been cut: none of them is whole
                self.finished = Finished("length")
            else:  # not every server says `tool_calls`
                self.finished = Finished("tools" if self._calls else "stop")


def read_usage(usage: Table) -> Usage:
    """Token counts as reported; what is not reported is None, which is not zero."""
    details = loose.table(usage.get("prompt_tokens_details"))
    return Usage(
        total=loose.count(usage.get("prompt_tokens")),
        read=loose.count(details.get("cached_tokens")),
        written=loose.count(details.get("cache_write_tokens")),
        output=loose.count(usage.get("completion_tokens")),
    )


def refusal(status: int, said: str, *, who: str, hint: str = "") -> GatewayError:
    """The error for an HTTP status of 400 and above, or for an error said inside a stream.

    `said` is the provider's own sentence; `who` names the provider to the person.
    """
    quoted = f": {quote(said)}" if said.strip() else ""
    if status == 413 or (status < 500 and any(sign in said.lower() for sign in _TOO_LARGE)):
        return ContextTooLarge(
            f"the prompt is larger than {who} takes{quoted}",
            hint="lower the model's `context_budget`, or choose a model with a larger window",
        )
    if status in (401, 403):
        return AuthenticationError(
            f"{who} refused the key{quoted}", hint="check the key that is set for this provider"
        )
    if status == 408 or status >= 500:
        return UnavailableError(
            f"{who} failed on its side ({status}){quoted}",
            hint=hint or "try again, or ask another model with --model",
        )
    return RequestRefusedError(
        f"{who} refused the request ({status}){quoted}",
        hint=hint or "check the model's name with `lila models list`",
    )


def quote(said: str) -> str:
    """A provider's sentence, on one line and not longer than a person reads."""
    line = " ".join(said.split())
    return line if len(line) <= _LONGEST_QUOTE else line[: _LONGEST_QUOTE - 1] + "…"


def error_text(body: object) -> str:
    """The sentence inside an error body: `{"error": {"message": …}}`, `{"error": "…"}` or text."""
    if isinstance(body, str):
        return body
    table = loose.table(body)
    inner = table.get("error", table)
    if isinstance(inner, str):
        return inner
    detail = loose.table(inner)
    parts = [str(detail[key]) for key in ("message", "type", "code") if detail.get(key)]
    return f"{parts[0]} ({', '.join(parts[1:])})" if len(parts) > 1 else "".join(parts)
