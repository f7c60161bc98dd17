"""Making sense of the events of a Responses stream."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator

from lila_app.errors import GatewayError, RequestRefusedError, TruncatedReplyError
from lila_app.gateway import loose
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

_TEXT = ("response.output_text.delta", "response.refusal.delta")
"""A refusal is the model's own words to the person, like any reply."""

_THINKING = ("response.reasoning_summary_text.delta", "response.reasoning_text.delta")


class ResponseReader:
    """Turns one stream's events into ours; `finished` is the terminal marker, once seen.

    `failure` makes the error of a code and a sentence the provider said inside the stream.
    """

    def __init__(self, name: str, failure: Callable[[str, str], GatewayError]) -> None:
        self._name = name
        self._failure = failure
        self._items: list[Table] = []
        self.finished: Finished | None = None

    def read(self, event: Table) -> Iterator[ProviderEvent]:
        """What one event says; from the terminal one everything but `finished` itself.

        A failed response yields its receipt and usage, as it may have cost something, and raises.
        """
        kind = loose.text(event.get("type"))
        if kind in _TEXT and (text := loose.text(event.get("delta"))):
            yield TextDelta(text)
        elif kind in _THINKING and (text := loose.text(event.get("delta"))):
            yield ThinkingDelta(text)
        elif kind == "response.output_item.done":
            yield from self._item(loose.table(event.get("item")))
        elif kind in ("response.completed", "response.incomplete", "response.failed"):
            yield from self._end(kind.removeprefix("response."), loose.table(event.get("response")))
        elif kind == "error":
            # The type is flat; a server may put the same words into an `error` of their own.
            said = loose.table(event.get("error")) or event
            raise self._failure(loose.text(said.get("code")), loose.text(said.get("message")))

    def _item(self, item: Table) -> Iterator[ProviderEvent]:
        if item.get("status") == "incomplete":
            return
        self._items.append(item)
        if item.get("type") == "function_call":
            yield _call(item)

    def _end(self, status: str, response: Table) -> Iterator[ProviderEvent]:
        if status == "completed":
            yield from self._carried()
        yield read_receipt(response)
        usage = loose.table(response.get("usage"))
        if usage:
            yield read_usage(usage)
        self.finished = self._finished(status, response)

    def _finished(self, status: str, response: Table) -> Finished:
        if status == "completed":
            return Finished("tools" if self._calls() else "stop")
        if status == "incomplete":
            reason = loose.text(loose.table(response.get("incomplete_details")).get("reason"))
            if reason == "max_output_tokens":
                return Finished("length")
            if reason == "content_filter":
                raise RequestRefusedError(
                    "the provider's content filter stopped the reply",
                    hint="say it differently, or ask another model",
                )
            raise TruncatedReplyError(
                f"{self._name} ended its reply early ({reason or 'no reason given'})",
                hint="ask again",
            )
        error = loose.table(response.get("error"))
        raise self._failure(loose.text(error.get("code")), loose.text(error.get("message")))

    def _calls(self) -> list[Table]:
        return [item for item in self._items if item.get("type") == "function_call"]

    def _carried(self) -> Iterator[Carried]:
        """The whole output, where it reasoned before a call.

        A reasoning item has to stand before the very item it led to, so the order is carried too.
        One that came unsealed is kept nowhere and would be refused.
        """
        thoughts = [item for item in self._items if item.get("type") == "reasoning"]
        sealed = all(item.get("encrypted_content") for item in thoughts)
        if thoughts and sealed and self._calls():
            yield Carried(self._name, json.dumps(self._items, ensure_ascii=False))


def read_usage(usage: Table) -> Usage:
    """Token counts as reported; what is not reported is None, which is not zero."""
    details = loose.table(usage.get("input_tokens_details"))
    lifetimes = loose.table(details.get("cache_write_tokens_details"))
    return Usage(
        total=loose.count(usage.get("input_tokens")),
        read=loose.count(details.get("cached_tokens")),
        written=loose.count(details.get("cache_write_tokens")),
        output=loose.count(usage.get("output_tokens")),
        written_long=loose.count(lifetimes.get("ttl_12h_tokens")),
    )


def read_receipt(response: Table) -> Receipt:
    """The response's id, and the provider's reason when it says that the cache was missed."""
    said = loose.table(response.get("prompt_cache_diagnostics"))
    missed = loose.table(said if said.get("type") == "cache_miss" else None)
    return Receipt(
        response_id=loose.text(response.get("id")),
        miss=loose.text(missed.get("reason")) or None,
        missed=loose.count(missed.get("cache_missed_tokens")),
    )


def _call(item: Table) -> Call:
    return Call(
        id=loose.text(item.get("call_id")),
        name=loose.text(item.get("name")),
        arguments=loose.text(item.get("arguments")),
    )
