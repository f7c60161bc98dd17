"""OpenAI's prompt cache, as it promises to behave, over the bytes that arrive.

Counts are in tokens of four bytes, a stand-in for a tokenizer that is additive, so that a test can
work them out by hand. What is promised is in gateway.md's terms: SDK docstrings of openai 3.57.0.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Literal

from tests.contracts.counted import Counted, IdealClient, Unit

Body = Mapping[str, Any]

MINIMUM = 1_024
STEP = 128
"""Up to 5.5 a prefix is matched in whole steps."""

MOST_READ, MOST_WRITTEN = 80, 4
SECONDS = {"30m": 1_800, "12h": 43_200}
BYTES = 4
IDLE_SECONDS = 600
"""Up to 5.5: minutes in memory, no promise beyond."""


@dataclass(frozen=True)
class Mark:
    """A breakpoint: where it ends the prefix, in bytes, and its lifetime."""

    end: int
    ttl: str


@dataclass(frozen=True)
class Prompt:
    """A request as the cache sees it."""

    model: str
    key: str | None
    tools: str
    form: str
    effort: str
    text: bytes
    marks: tuple[Mark, ...]
    ends: tuple[int, ...]
    """Where each part ends, the head before the input being the first."""
    opening: int
    """Parts before the first turn."""
    closing: int
    """Parts before the last message of the person's."""

    @property
    def total(self) -> int:
        return tokens(len(self.text))


def tokens(size: int) -> int:
    return size // BYTES


def marks_work(model: str) -> bool:
    """Whether a model matches at breakpoints: GPT-5.6 and later."""
    version = re.match(r"gpt-(\d+)(?:\.(\d+))?", model)
    return version is not None and (int(version[1]), int(version[2] or 0)) >= (5, 6)


def rendered(body: Body) -> Prompt:
    """The body as one text: tools, output format and effort before the input."""
    # In the order of the keys that came: an order that changes is a prefix that changes.
    tools = json.dumps(body.get("tools", []))
    form = json.dumps(body.get("text", {}).get("format"))
    effort = str(body.get("reasoning", {}).get("effort"))
    options = body.get("prompt_cache_options", {})
    inherited = options.get("ttl", "30m")
    text = "\x1e".join([tools, form, effort]).encode()
    marks: list[Mark] = []
    ends = [len(text)]
    opening = closing = latest = 0
    items = body["input"]
    for item in [{"role": "user", "content": items}] if isinstance(items, str) else items:
        who = item.get("role", item.get("type"))
        opening = len(ends) if who in ("developer", "system") or not opening else opening
        closing = len(ends) if who == "user" else closing
        text += f"\x1e{who}\x1f".encode()
        for part, mark in _parts(item):
            text += f"{part}\x1f".encode()
            ends.append(len(text))
            if mark is not None:
                marks.append(Mark(len(text), mark.get("ttl", inherited)))
        latest = len(text) if who in ("user", "function_call_output") else latest
    if options.get("mode", "implicit") == "implicit" and marks_work(body["model"]):
        marks.append(Mark(latest, inherited))
    return Prompt(
        model=body["model"],
        key=body.get("prompt_cache_key"),
        tools=tools,
        form=form,
        effort=effort,
        text=text,
        marks=tuple(marks),
        ends=tuple(ends),
        opening=opening,
        closing=closing,
    )


def _parts(item: Body) -> list[tuple[str, Body | None]]:
    content = item.get("content", item.get("output"))
    if item.get("type") in ("function_call", "reasoning"):
        plain = {key: value for key, value in item.items() if key not in ("id", "status")}
        return [(json.dumps(plain), None)]
    if isinstance(content, str):
        return [(content, None)]
    return [(part.get("text", ""), part.get("prompt_cache_breakpoint")) for part in content]


@dataclass
class PromptCache:
    """All caches of one organisation."""

    clock: Callable[[], datetime]
    _expires: dict[tuple[str, str | None, str], datetime] = field(default_factory=dict)
    _kept: dict[str, Prompt] = field(default_factory=dict)
    _ideal: IdealClient = field(
        default_factory=lambda: IdealClient(MINIMUM, timedelta(seconds=SECONDS["12h"]))
    )

    def serve(self, prompt: Prompt) -> Counted:
        """Match and write one request. What is written costs nothing up to 5.5, and counts as 0."""
        if marks_work(prompt.model):
            read, written, long = self._at_marks(prompt)
        else:
            read, written, long = self._in_steps(prompt), 0, 0
        ideal_read, ideal_written = self._ideal.sends(
            prompt.model, _units(prompt), _cached(prompt), self.clock()
        )
        return Counted(prompt.total, read, written, ideal_read, ideal_written, long)

    def keep(self, response_id: str, prompt: Prompt) -> None:
        """Remember a response's request, to compare later ones with."""
        self._kept[response_id] = prompt

    def diagnose(self, response_id: str, prompt: Prompt, counted: Counted) -> dict[str, object]:
        """What OpenAI says when asked to compare a request with an earlier one."""
        before = self._kept.get(response_id)
        if before is None:
            return {"type": "comparison_response_not_found"}
        reusable = max((mark.end for mark in before.marks), default=0)
        same = _common(before.text, prompt.text)
        reason = _reason(before, prompt, reusable, same)
        if reason is None:
            return {"type": "cache_hit" if counted.read else "unavailable"}
        return {
            "type": "cache_miss",
            "reason": reason,
            "cache_missed_tokens": tokens(len(prompt.text) - same),
            "comparison_reusable_tokens": tokens(reusable),
        }

    def _at_marks(self, prompt: Prompt) -> tuple[int, int, int]:
        read = end = 0
        for mark in prompt.marks[-MOST_READ:]:
            if self._holds(prompt, mark.end):
                read = end = mark.end
        long = 0
        for mark in prompt.marks[-MOST_WRITTEN:]:
            if tokens(mark.end) < MINIMUM or self._holds(prompt, mark.end):
                continue
            self._write(prompt, mark.end, SECONDS[mark.ttl])
            if mark.end > end:
                long += tokens(mark.end) - tokens(end) if mark.ttl == "12h" else 0
                end = mark.end
        return tokens(read), tokens(end) - tokens(read), long

    def _in_steps(self, prompt: Prompt) -> int:
        read = 0
        for end in range(MINIMUM, prompt.total + 1, STEP):
            if self._holds(prompt, end * BYTES):
                read = end
            self._write(prompt, end * BYTES, IDLE_SECONDS)
        return read

    def _holds(self, prompt: Prompt, end: int) -> bool:
        if prompt.key is None and marks_work(prompt.model):
            return False  # without a key it may be any machine, and most often is another
        expires = self._expires.get(_entry(prompt, end))
        return expires is not None and self.clock() <= expires

    def _write(self, prompt: Prompt, end: int, seconds: float) -> None:
        self._expires[_entry(prompt, end)] = self.clock() + timedelta(seconds=seconds)


def _units(prompt: Prompt) -> list[Unit]:
    """The prompt's parts, for the ideal client: each with the role it opens."""
    made: list[Unit] = []
    start = 0
    for at, end in enumerate(prompt.ends):
        content = prompt.text[start:end].decode()
        made.append(Unit(content, tokens(end) - tokens(start), at >= prompt.opening))
        start = end
    return made


def _cached(prompt: Prompt) -> int:
    """Parts the client lets be cached: up to its last mark; by itself all before the last turn."""
    if not marks_work(prompt.model):
        return prompt.closing
    last = max((mark.end for mark in prompt.marks), default=0)
    return sum(1 for end in prompt.ends if end <= last)


def _entry(prompt: Prompt, end: int) -> tuple[str, str | None, str]:
    return prompt.model, prompt.key, hashlib.sha256(prompt.text[:end]).hexdigest()


def _common(one: bytes, other: bytes) -> int:
    for at, (a, b) in enumerate(zip(one, other, strict=False)):
        if a != b:
            return at
    return min(len(one), len(other))


Reason = Literal[
    "model_changed",
    "prompt_cache_key_changed",
    "tools_changed",
    "text_format_changed",
    "reasoning_effort_changed",
    "input_changed",
]


def _reason(before: Prompt, now: Prompt, reusable: int, same: int) -> Reason | None:
    if before.model != now.model:
        return "model_changed"
    if before.key != now.key:
        return "prompt_cache_key_changed"
    if before.tools != now.tools:
        return "tools_changed"
    if before.form != now.form:
        return "text_format_changed"
    if before.effort != now.effort:
        return "reasoning_effort_changed"
    return "input_changed" if same < reusable else None
