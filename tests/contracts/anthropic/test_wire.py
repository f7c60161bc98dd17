"""Where the marks go, worked out by hand; and the rest of the body, byte for byte."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from anthropic.types.message_create_params import MessageCreateParamsStreaming

from lila_app.gateway.anthropic import wire
from lila_app.gateway.caching.contract import CacheContract
from lila_app.gateway.port import Call, Carried, Message, Request, Result, Step, Tool, Ttl
from tests.contracts.asking_anthropic import CONTRACT, NAME, conversation, marks
from tests.contracts.strict import complaint

LIFETIMES: tuple[tuple[Ttl, str], ...] = (("long", "1h"), ("short", "5m"))


def body(request: Request, name: str = NAME, reached: int | None = None) -> dict[str, Any]:
    made = wire.body(request, name, CONTRACT, reached)
    assert complaint(MessageCreateParamsStreaming, made) is None
    return made


def marked(request: Request, reached: int | None = None) -> list[tuple[str, str]]:
    return marks(body(request, reached=reached))


def test_a_first_turn_marks_what_the_system_says() -> None:
    # No whole turn yet: two system pieces, each with a breakpoint.
    assert marked(conversation(0)) == [("system 0", "5m"), ("system 1", "5m")]


def test_a_later_turn_also_marks_the_last_whole_one() -> None:
    # Three turns are messages 0 to 5; the question is message 6 and stays unmarked.
    assert marked(conversation(3)) == [
        ("system 0", "5m"),
        ("system 1", "5m"),
        ("message 5.0", "5m"),
    ]


def test_without_goals_and_summary_there_is_one_mark_less() -> None:
    assert marked(conversation(2, summary="")) == [("system 0", "5m"), ("message 3.0", "5m")]


@pytest.mark.parametrize(
    ("ttls", "lifetimes"),
    [
        (("long", "short", "short"), ["1h", "5m", "5m"]),
        (("long", "long", "long"), ["1h", "1h", "1h"]),
        ((), ["5m", "5m", "5m"]),
        (("long",), ["1h", "5m", "5m"]),
        # An hour after five minutes would be refused: what is asked out of order becomes short.
        (("short", "long", "long"), ["5m", "5m", "5m"]),
        (("long", "short", "long"), ["1h", "5m", "5m"]),
    ],
)
def test_lifetimes_go_from_long_to_short(ttls: tuple[Ttl, ...], lifetimes: list[str]) -> None:
    assert [ttl for _, ttl in marked(conversation(3, ttls=ttls))] == lifetimes


def test_a_breakpoint_that_is_not_worth_a_write_gets_no_mark() -> None:
    assert marked(conversation(3, ttls=("long", None, "short"))) == [
        ("system 0", "1h"),
        ("message 5.0", "5m"),
    ]
    assert marked(conversation(3, ttls=(None, None, None))) == []


def test_up_to_twenty_blocks_need_no_fourth_mark() -> None:
    # Ten turns are blocks 0 to 19: the mark on 19 looks back to block 0.
    assert len(marked(conversation(10))) == 3


def test_the_fourth_mark_continues_where_the_rolling_ones_sight_ends() -> None:
    # Eleven turns: blocks 0 to 21. The mark on 21 sees 2 to 21, the one on 3 everything before.
    assert marked(conversation(11))[2:] == [("message 3.0", "5m"), ("message 21.0", "5m")]
    # Thirty turns: blocks 0 to 59, eighteen before 59 is 41.
    assert marked(conversation(30))[2:] == [("message 41.0", "5m"), ("message 59.0", "5m")]


def test_the_twenty_first_block_is_out_of_sight() -> None:
    # The first of ten turns has two pieces of the person: blocks 0 to 20. The mark on 20, which is
    # message 19, sees 1 to 20; eighteen before it is block 2, message 1.
    system, _, _, *rest = conversation(10).messages
    pieces = (Message("user", "First of all.", breakpoint=True), Message("user", "Where is it?"))
    assert [place for place, _ in marked(Request((system, *pieces, *rest), 8))] == [
        "system 0",
        "message 0.0",
        "message 1.0",
        "message 19.0",
    ]


def test_two_marks_are_left_without_goals_and_summary() -> None:
    # 59 - 18 = 41, 41 - 18 = 23.
    assert marked(conversation(30, summary=""))[1:] == [
        ("message 23.0", "5m"),
        ("message 41.0", "5m"),
        ("message 59.0", "5m"),
    ]


def test_a_known_last_entry_comes_before_any_guess() -> None:
    # Five turns ended at block 9; after 25 more that others answered the last is block 59.
    assert wire.rolling(conversation(5)) == 9
    assert marked(conversation(30), reached=9)[2:] == [
        ("message 9.0", "5m"),
        ("message 59.0", "5m"),
    ]


@pytest.mark.parametrize("reached", [40, 59, 60, 400])
def test_a_last_entry_in_sight_or_cut_away_is_not_marked(reached: int) -> None:
    assert marked(conversation(30), reached=reached)[2:] == [
        ("message 41.0", "5m"),
        ("message 59.0", "5m"),
    ]


def test_the_fourth_mark_lives_as_long_as_the_rolling_one() -> None:
    for last, lifetime in LIFETIMES:
        request = conversation(30, ttls=("long", last, last))
        assert [ttl for _, ttl in marked(request)[2:]] == [lifetime] * 2


@pytest.mark.parametrize("turns", [0, 1, 9, 10, 11, 19, 20, 37, 60, 200])
def test_a_fifth_mark_is_never_sent(turns: int) -> None:
    assert len(marked(conversation(turns))) <= 4
    assert len(marked(conversation(turns, summary=""), reached=3)) <= 4
    assert len(marked(replace(conversation(turns), steps=(asked(),)))) <= 4


def test_of_more_than_four_breakpoints_the_first_and_the_last_three_are_marked() -> None:
    system = tuple(Message("system", f"piece {n}", breakpoint=True) for n in range(6))
    request = Request((*system, Message("user", "hello")), 8)
    assert marked(request) == [(f"system {n}", "5m") for n in (0, 3, 4, 5)]


def test_a_loop_takes_the_last_of_four_marks_from_the_middle() -> None:
    system = tuple(Message("system", f"piece {n}", breakpoint=True) for n in range(4))
    request = Request((*system, Message("user", "hello")), 8, steps=(asked(),))
    assert [place for place, _ in marked(request)] == [
        "system 0",
        "system 2",
        "system 3",
        "message 2.0",
    ]


def test_a_model_without_such_a_cache_gets_no_marks() -> None:
    made = wire.body(conversation(30), NAME, CacheContract("prefix"))
    assert marks(made) == []


def test_an_empty_piece_is_left_out_and_its_breakpoint_moves_up() -> None:
    request = Request(
        (
            Message("system", "persona"),
            Message("system", " \n", breakpoint=True),
            Message("user", "hello"),
        ),
        8,
    )
    made = body(request)
    control = {"type": "ephemeral", "ttl": "5m"}
    assert made["system"] == [{"type": "text", "text": "persona", "cache_control": control}]


def test_breakpoints_that_fall_together_are_one_mark_with_the_first_ones_lifetime() -> None:
    request = Request(
        (
            Message("system", "persona", breakpoint=True),
            Message("system", "", breakpoint=True),
            Message("user", "hello"),
        ),
        8,
    )
    request = replace(request, cache=replace(request.cache, ttls=("long", "short")))
    assert marked(request) == [("system 0", "1h")]


# --- A turn with tools ---------------------------------------------------------------------------

CALL = Call("toolu_1", "weather", '{"place": "Vila Salgada"}')


def asked(*, carried: tuple[Carried, ...] = (), text: str = "I look.") -> Step:
    return Step(text, (Result(CALL, "18 degrees"),), carried)


def test_a_step_is_a_call_and_its_result_and_the_fourth_mark_is_on_it() -> None:
    # Thirty turns are messages 0 to 59, the question 60, the step 61 and 62.
    made = body(replace(conversation(30), steps=(asked(),)))
    assert made["messages"][61:] == [
        {
            "role": "assistant",
            "content": [
                {"type": "text", "text": "I look."},
                {
                    "type": "tool_use",
                    "id": "toolu_1",
                    "name": "weather",
                    "input": {"place": "Vila Salgada"},
                },
            ],
        },
        {
            "role": "user",
            "content": [
                {
                    "type": "tool_result",
                    "tool_use_id": "toolu_1",
                    "content": "18 degrees",
                    "cache_control": {"type": "ephemeral", "ttl": "5m"},
                }
            ],
        },
    ]
    assert [place for place, _ in marks(made)] == [
        "system 0",
        "system 1",
        "message 59.0",
        "message 62.0",
    ]


def test_only_the_last_result_of_a_loop_is_marked_and_shortly() -> None:
    other = Call("toolu_2", "clock", "{}")
    both = Step("", (Result(CALL, "18 degrees"), Result(other, "no clock here", failed=True)))
    request = replace(conversation(2, ttls=("long",) * 3), steps=(asked(), both))
    made = body(request)
    assert marks(made)[-1] == ("message 8.1", "5m")
    assert len(marks(made)) == 4
    results = made["messages"][8]["content"]
    assert "is_error" not in results[0]
    assert results[1]["is_error"] is True


def test_own_thinking_goes_back_as_it_came_and_before_everything_else() -> None:
    content = [
        {"type": "thinking", "thinking": "Hm.", "signature": "s"},
        {"type": "text", "text": "I look."},
        {"type": "tool_use", "id": "toolu_1", "name": "weather", "input": {"place": "Faro"}},
    ]
    carried = (Carried(NAME, json.dumps(content)),)
    request = replace(conversation(0), steps=(asked(carried=carried),))
    assert body(request)["messages"][1]["content"] == content


def test_thinking_of_another_model_is_not_shown() -> None:
    carried = (
        Carried("anthropic/claude-opus-5-5", '[{"type": "thinking"}]'),
        Carried("openai/gpt-6.1", '[{"type": "reasoning", "id": "rs_1"}]'),
    )
    request = replace(conversation(0), steps=(asked(carried=carried),))
    content = body(request)["messages"][1]["content"]
    assert [block["type"] for block in content] == ["text", "tool_use"]


def test_own_content_with_other_calls_than_those_made_is_told_again_without_thinking() -> None:
    thinking = {"type": "thinking", "thinking": "Hm.", "signature": "s"}
    uses = [{"type": "tool_use", "id": id, "name": "w", "input": {}} for id in ("toolu_1", "t2")]
    carried = (Carried(NAME, json.dumps([thinking, *uses])),)
    made = body(replace(conversation(0), steps=(asked(carried=carried),)))["messages"]
    assert [block["type"] for block in made[1]["content"]] == ["text", "tool_use"]


def test_calls_another_provider_named_go_under_ids_this_one_takes() -> None:
    calls = (Call("call:1/a", "weather", "{}"), Call("", "weather", "not json"))
    step = Step("", tuple(Result(call, "") for call in calls))
    made = body(replace(conversation(0), steps=(step,)))["messages"]
    uses, results = made[1]["content"], made[2]["content"]
    assert [use["id"] for use in uses] == ["call_1_a", "call_1"]
    assert [result["tool_use_id"] for result in results] == ["call_1_a", "call_1"]
    assert [use["input"] for use in uses] == [{}, {"unreadable": "not json"}]
    assert all("content" not in result for result in results)


def test_tools_go_by_name_with_their_keys_in_one_order() -> None:
    loose = {"type": "object", "required": ["b"], "properties": {"b": {"type": "string"}}}
    tight = {"properties": {"b": {"type": "string"}}, "required": ["b"], "type": "object"}
    one = (Tool("zebra", "Z.", loose), Tool("ant", "A.", tight))
    two = (Tool("ant", "A.", loose), Tool("zebra", "Z.", tight))
    first = json.dumps(body(replace(conversation(0), tools=one))["tools"])
    assert first == json.dumps(body(replace(conversation(0), tools=two))["tools"])
    assert first == json.dumps(
        [
            {"name": name, "description": said, "input_schema": tight, "strict": True}
            for name, said in (("ant", "A."), ("zebra", "Z."))
        ]
    )


# --- The rest ------------------------------------------------------------------------------------


def test_a_body_says_what_it_must_and_nothing_else() -> None:
    request = Request((Message("system", "Be brief."), Message("user", "Hello.")), 64)
    assert body(request, "anthropic/claude-sonnet-4-6") == {
        "model": "claude-sonnet-4-6",
        "max_tokens": 64,
        "system": [{"type": "text", "text": "Be brief."}],
        "messages": [{"role": "user", "content": [{"type": "text", "text": "Hello."}]}],
        "diagnostics": {"previous_message_id": None},
        "stream": True,
    }


def test_effort_and_schema_are_the_output_config() -> None:
    schema = {"type": "object", "properties": {}, "additionalProperties": False}
    request = replace(conversation(0), effort="low", schema=schema)
    assert body(request)["output_config"] == {
        "effort": "low",
        "format": {"type": "json_schema", "schema": schema},
    }


@pytest.mark.parametrize(
    ("name", "effort", "expected"),
    [
        ("anthropic/claude-sonnet-4-6", None, 100),
        ("anthropic/claude-sonnet-4-5", None, 100),
        ("anthropic/claude-sonnet-5-5", None, 100 + 8_192),
        ("anthropic/claude-opus-5", None, 100 + 8_192),
        ("anthropic/claude-opus-5", "low", 100 + 2_048),
        ("anthropic/claude-sonnet-4-6", "high", 100 + 25_000),
    ],
)
def test_thinking_has_room_beside_the_reply(name: str, effort: str | None, expected: int) -> None:
    request = replace(conversation(0), max_tokens=100, effort=effort)  # type: ignore[arg-type]
    assert body(request, name)["max_tokens"] == expected


def test_the_answer_before_is_named() -> None:
    made = body(conversation(1, previous="msg_7"))
    assert made["diagnostics"] == {"previous_message_id": "msg_7"}


def test_what_utf8_cannot_carry_becomes_a_question_mark() -> None:
    made = body(Request((Message("user", "half \ud83d a face"),), 8))
    assert made["messages"][0]["content"][0]["text"] == "half ? a face"


def test_a_system_piece_below_the_conversation_stays_where_it_is() -> None:
    request = Request((Message("user", "Hello."), Message("system", "Be brief.")), 8)
    assert [message["role"] for message in body(request)["messages"]] == ["user"]
    assert "system" not in body(request)


def test_the_prefix_of_a_turn_is_the_same_in_the_next() -> None:
    def unmarked(turns: int) -> list[str]:
        made = body(conversation(turns, now=f"12:0{turns}"))
        text = json.dumps(made["messages"])
        return json.loads(text.replace(', "cache_control": {"type": "ephemeral", "ttl": "5m"}', ""))

    for turns in range(1, 5):
        assert unmarked(turns + 1)[: 2 * turns] == unmarked(turns)[: 2 * turns]
