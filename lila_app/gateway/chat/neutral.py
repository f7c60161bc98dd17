"""Taking the force out of control tokens inside message contents: documents are data.

A chat template marks who speaks with tokens such as `<|im_start|>`. A model server tokenizes
template and contents together, so the same characters inside a document would open a turn of their
own. A space after the first character is enough to make them plain text, and both a person and a
model still read what stood there.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from lila_app.gateway.port import Message, merged

KNOWN_MARKERS = re.compile(
    r"""
    <[|｜][^<>|｜\s]{1,60}[|｜]>            # ChatML, Llama 3, Phi, DeepSeek, GPT-OSS
    | </?s>                                # Llama 2, Mistral
    | \[/?(?:INST|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS|SYSTEM_PROMPT)\]
    | <</?SYS>>
    | </?(?:start_of_turn|end_of_turn|think|tool_call|tool_response|bos|eos|pad|unk)>
    """,
    re.VERBOSE,
)
"""Markers of the common families, for servers whose tokenizer cannot be read from here."""

_PASSES = 4


class Neutraliser:
    """Breaks every marker of one model; text without any comes back unchanged."""

    def __init__(self, control_tokens: Iterable[str] = ()) -> None:
        longest_first = sorted(set(control_tokens), key=lambda token: (-len(token), token))
        own = "|".join(re.escape(token) for token in longest_first)
        self._patterns = (KNOWN_MARKERS, *([re.compile(own)] if own else []))

    def text(self, text: str) -> str:
        """`text` with a space after the first character of each marker in it.

        What UTF-8 cannot carry (half a surrogate pair) becomes a question mark.
        """
        text = text.encode("utf-8", "replace").decode("utf-8")
        for _ in range(_PASSES):  # a broken marker may have hidden a shorter one inside itself
            before = text
            for pattern in self._patterns:
                text = pattern.sub(_break, text)
            if text == before:
                break
        return text

    def messages(self, messages: Sequence[Message]) -> list[dict[str, str]]:
        """The messages as a Chat Completions server takes them, contents made harmless."""
        return [
            {"role": message.role, "content": self.text(message.content)}
            for message in merged(messages)
        ]


def _break(match: re.Match[str]) -> str:
    marker = match.group()
    return f"{marker[0]} {marker[1:]}"
