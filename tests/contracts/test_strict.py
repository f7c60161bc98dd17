"""The validator that holds bodies to the installed SDKs' own types."""

from __future__ import annotations

from typing import Any

import pytest
from anthropic.types.message_create_params import MessageCreateParamsStreaming
from openai.types.responses.response_create_params import ResponseCreateParamsStreaming

from tests.contracts.strict import complaint


def anthropic_body(**more: object) -> dict[str, Any]:
    said = {"role": "user", "content": [{"type": "text", "text": "a"}]}
    return {"model": "m", "max_tokens": 5, "stream": True, "messages": [said], **more}


def test_a_body_of_the_type_is_accepted() -> None:
    assert complaint(MessageCreateParamsStreaming, anthropic_body()) is None
    responses = {"model": "m", "stream": True, "input": "hi"}
    assert complaint(ResponseCreateParamsStreaming, responses) is None


@pytest.mark.parametrize(
    "more",
    [{"temperature": 1}, {"max_token": 5}, {"messages": [{"role": "tool", "content": "a"}]}],
    ids=str,
)
def test_an_unknown_key_or_value_at_the_top_is_refused(more: dict[str, object]) -> None:
    assert complaint(MessageCreateParamsStreaming, anthropic_body(**more))


def test_an_unknown_key_deep_inside_is_refused() -> None:
    for control in ({"type": "ephemeral", "ttl": "2h"}, {"type": "ephemeral", "colour": "red"}):
        part = {"type": "text", "text": "a", "cache_control": control}
        said = {"role": "user", "content": [part]}
        assert complaint(MessageCreateParamsStreaming, anthropic_body(messages=[said]))


def test_a_schema_in_a_body_keeps_its_own_words() -> None:
    schema = {"type": "object", "properties": {"q": {"type": "string"}}} | {
        "additionalProperties": False
    }
    tool = {"name": "t", "input_schema": schema, "strict": True}
    assert complaint(MessageCreateParamsStreaming, anthropic_body(tools=[tool])) is None
    assert complaint(MessageCreateParamsStreaming, anthropic_body(tools=[tool | {"strict": "no"}]))
