"""The contract server's prompt cache, by itself, as OpenAI promises it.

A body "x" * n in one developer part is 12 bytes before the input, 11 for the role, n and one more;
four bytes are a token.
"""

from __future__ import annotations

from typing import Any

import pytest

from lila_app.testing import FakeClock
from tests.contracts.counted import Counted
from tests.contracts.openai_cache import PromptCache, rendered


def part(text: str, mark: str | None = None) -> dict[str, Any]:
    made: dict[str, Any] = {"type": "input_text", "text": text}
    if mark is not None:
        made["prompt_cache_breakpoint"] = {"mode": "explicit", "ttl": mark}
    return made


def body(*parts: dict[str, Any], model: str = "gpt-5.6", key: str | None = "k") -> dict[str, Any]:
    item = {"role": "developer", "content": list(parts)}
    made = {"model": model, "input": [item], "prompt_cache_options": {"mode": "explicit"}}
    return made if key is None else {**made, "prompt_cache_key": key}


def serve(cache: PromptCache, asked: dict[str, Any]) -> tuple[int, int]:
    counted = cache.serve(rendered(asked))
    return counted.read, counted.written


LONG = "x" * 7_976  # with the 24 bytes around it 8,000: 2,000 tokens


def test_a_marked_prefix_is_written_once_and_then_read_to_the_token() -> None:
    cache = PromptCache(FakeClock())
    assert serve(cache, body(part(LONG, "30m"), part("a"))) == (0, 2_000)
    assert serve(cache, body(part(LONG, "30m"), part("b"))) == (2_000, 0)


def test_an_unmarked_prefix_is_not_matched_however_long() -> None:
    cache = PromptCache(FakeClock())
    serve(cache, body(part(LONG, "30m"), part(LONG)))
    assert serve(cache, body(part(LONG), part(LONG))) == (0, 0)
    assert serve(cache, body(part(LONG), part(LONG, "30m"))) == (0, 4_000 - 6)  # 24 bytes once


def test_a_changed_byte_before_the_mark_is_a_miss() -> None:
    cache = PromptCache(FakeClock())
    serve(cache, body(part(LONG, "30m")))
    assert serve(cache, body(part("y" + LONG[1:], "30m"))) == (0, 2_000)


def test_below_the_minimum_nothing_is_written() -> None:
    cache = PromptCache(FakeClock())
    assert serve(cache, body(part("x" * (4 * 1_024 - 25), "30m"))) == (0, 0)
    assert serve(cache, body(part("x" * (4 * 1_024 - 24), "30m"))) == (0, 1_024)


def test_the_latest_four_marks_are_written_and_the_latest_eighty_matched() -> None:
    cache = PromptCache(FakeClock())
    marks = [part(LONG, "30m"), *(part("y" * 39, "30m") for _ in range(4))]
    serve(cache, body(*marks))
    assert serve(cache, body(marks[0])) == (0, 2_000)  # the fifth from the end was not written
    many = [part("z" * 39, "30m") for _ in range(80)]
    assert serve(cache, body(*marks[:4], *many[:79]))[0] == 2_000 + 3 * 10
    assert serve(cache, body(*marks[:4], part("w"), *many[:79], part("v", "30m")))[0] == 0


def test_another_key_and_no_key_are_another_cache() -> None:
    cache = PromptCache(FakeClock())
    serve(cache, body(part(LONG, "30m"), key="one"))
    assert serve(cache, body(part(LONG, "30m"), key="two"))[0] == 0
    assert serve(cache, body(part(LONG, "30m"), key=None))[0] == 0
    assert serve(cache, body(part(LONG, "30m"), key=None))[0] == 0
    assert serve(cache, body(part(LONG, "30m"), key="one"))[0] == 2_000


@pytest.mark.parametrize(("ttl", "seconds"), [("30m", 1_800), ("12h", 43_200)])
def test_a_prefix_lives_as_long_as_was_asked_for(ttl: str, seconds: int) -> None:
    clock = FakeClock()
    cache = PromptCache(clock)
    serve(cache, body(part(LONG, ttl)))
    clock.advance(seconds)
    assert serve(cache, body(part(LONG, ttl)))[0] == 2_000
    clock.advance(1)
    assert serve(cache, body(part(LONG, ttl)))[0] == 0


def test_what_is_written_for_long_is_told_apart() -> None:
    cache = PromptCache(FakeClock())
    served = cache.serve(rendered(body(part(LONG, "12h"), part("y" * 399, "30m"))))
    assert (served.written, served.written_long) == (2_100, 2_000)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"model": "gpt-6"}, "model_changed"),
        ({"prompt_cache_key": "other"}, "prompt_cache_key_changed"),
        ({"tools": [{"name": "a"}]}, "tools_changed"),
        ({"text": {"format": {"type": "text"}}}, "text_format_changed"),
        ({"reasoning": {"effort": "low"}}, "reasoning_effort_changed"),
        ({"input": [{"role": "developer", "content": [part("z" * 8_000)]}]}, "input_changed"),
    ],
)
def test_a_diagnosis_names_what_changed(change: dict[str, Any], reason: str) -> None:
    cache = PromptCache(FakeClock())
    before = rendered(body(part(LONG, "30m")))
    cache.serve(before)
    cache.keep("resp_1", before)
    now = rendered({**body(part(LONG, "30m")), **change})
    said = cache.diagnose("resp_1", now, cache.serve(now))
    assert (said["type"], said["reason"]) == ("cache_miss", reason)
    assert said["comparison_reusable_tokens"] == 2_000
    assert cache.diagnose("resp_9", now, cache.serve(now)) == {
        "type": "comparison_response_not_found"
    }


def test_earlier_models_match_by_themselves_in_steps_of_128_tokens() -> None:
    cache = PromptCache(FakeClock())
    one = body(part("x" * (4 * 1_200)), model="gpt-5.5")
    assert serve(cache, one) == (0, 0)
    # 1,024 and one step of 128 are within the 1,206 tokens both have.
    assert serve(cache, body(part("x" * (4 * 1_400)), model="gpt-5.5")) == (1_152, 0)


def test_an_append_only_client_reads_what_a_request_repeats_and_writes_the_rest_once() -> None:
    cache = PromptCache(FakeClock())

    def asked(*said: str) -> Counted:
        items: list[dict[str, Any]] = [{"role": "developer", "content": [part(LONG)]}]
        roles = ("user", "assistant")
        for at, text in enumerate(said):
            # On the last question that was answered.
            mark = "30m" if at == len(said) - 3 else None
            content = [part(text, mark)] if at % 2 == 0 else text
            items.append({"role": roles[at % 2], "content": content})
        return cache.serve(rendered({**body(), "input": items}))

    first = asked("one")
    assert (first.ideal_read, first.ideal_written) == (0, 0)  # nothing was to be cached
    # With roles and ends 40 bytes a question and 48 an answer: 10 and 12 tokens.
    second = asked("u" * 33, "a" * 36, "v" * 33, "b" * 36, "two")
    assert (second.ideal_read, second.ideal_written) == (2_000, 32)
    # The second answer stood there too, and whoever marked it would have it now.
    third = asked("u" * 33, "a" * 36, "v" * 33, "b" * 36, "w" * 33, "c" * 36, "three")
    assert (third.ideal_read, third.ideal_written) == (2_044, 10)
