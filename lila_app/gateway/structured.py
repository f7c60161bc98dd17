"""An answer that feeds code: asked for under a schema, checked in code, asked again once, refused.

A provider's strict mode helps, and is not believed: a server may ignore the schema, a reply may be
cut, and no schema can say that a quote was really said. So the answer is parsed and validated here
and then held against the truth checks of its boundary. Problems are put in words that hold nothing
of the answer, since an error is shown and logged.
"""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import Any, NoReturn, cast

from lila_app.errors import InvalidAnswerError
from lila_app.gateway.port import Call, Finished, Message, Request, TextDelta

Json = Mapping[str, object]
Truth = Callable[[Json], str | None]
"""What is untrue of an answer, in words without its content; None when nothing is."""

Stream = Callable[[Request], AsyncGenerator[object, None]]
"""Where to ask: a provider's `stream`, or a caller's over its candidates."""

MOST_CHARACTERS = 20_000
"""Of one answer; what the largest boundary needs is a fifth of that, and a reply that runs on is
closed instead of being paid for."""

SHOWN_AGAIN = 2_000
"""Characters of a wrong answer the model is shown when it is asked again."""

DEEPEST = 32
"""Levels an answer may be nested; `strict_schema` allows five."""


@dataclass(frozen=True, slots=True)
class Form:
    """What an answer must be: its schema, and what a schema cannot say of it."""

    name: str
    schema: Json
    truths: tuple[Truth, ...] = ()


@dataclass(frozen=True, slots=True)
class Wrong:
    """An answer that cannot be used, and why."""

    problem: str


async def ask(stream: Stream, request: Request, form: Form) -> Json:
    """The answer to a request under a form; it has no part in any session's epoch.

    Raises InvalidAnswerError when the second answer is wrong too, and whatever `stream` raises.
    """
    # A schema among a session's calls would be a toggle above its breakpoints.
    apart = replace(request.cache, session="", epoch=0, previous=None)
    asked = replace(request, schema=form.schema, tools=(), cache=apart)
    text, problem = await _said(stream, asked)
    found = Wrong(problem) if problem else examine(text, form)
    if isinstance(found, Wrong):
        text, problem = await _said(stream, _again(asked, text, found, form))
        found = Wrong(problem) if problem else examine(text, form)
    if isinstance(found, Wrong):
        raise InvalidAnswerError(form.name, found.problem)
    return found


def examine(text: str, form: Form) -> Json | Wrong:
    """An answer held against its form: is it JSON, has it the shape, is it true?"""
    answer = parse(text)
    if isinstance(answer, Wrong):
        return answer
    problems = shape_problems(answer, form.schema)
    if problems:
        return Wrong("; ".join(problems))
    untrue = [said for said in (truth(answer) for truth in form.truths) if said]
    return Wrong("; ".join(untrue)) if untrue else answer


def parse(text: str) -> Json | Wrong:
    """One JSON object, alone or in one fenced block; strict about everything else."""
    try:
        value: object = json.loads(
            _bare(text), object_pairs_hook=_once, parse_constant=_no_constant
        )
    except RecursionError:
        return Wrong("the JSON is nested too deeply")
    except ValueError as error:
        return Wrong(_where(error))
    if not isinstance(value, dict):
        return Wrong("the answer is not a JSON object")
    answer = cast("dict[str, object]", value)
    if _depth(answer) > DEEPEST:
        return Wrong("the JSON is nested too deeply")
    try:
        json.dumps(answer, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError:
        return Wrong("a text holds half a character (a lone surrogate)")
    return answer


def shape_problems(answer: Json, schema: Json, most: int = 3) -> tuple[str, ...]:
    """Where an object does not have the shape of a schema, the first few places."""
    from jsonschema import Draft202012Validator

    # The library's own types say less than its documentation; what is used here is the latter.
    validator: Any = Draft202012Validator(cast("Mapping[str, Any]", schema))
    errors: list[Any] = list(validator.iter_errors(answer))
    errors.sort(key=lambda error: error.json_path)
    return tuple(f"{error.json_path}: {_rule(error.validator, error)}" for error in errors[:most])


def _rule(keyword: object, error: Any) -> str:
    """What was broken, in words of the schema and never of the answer."""
    match keyword:
        case "type":
            return f"must be of type {error.validator_value}"
        case "enum":
            return "must be one of " + ", ".join(map(str, error.validator_value))
        case "required":
            missing = [name for name in error.validator_value if name not in error.instance]
            return "lacks " + ", ".join(missing)
        case "additionalProperties":
            return "has a property that does not belong there"
        case _:
            return f"breaks the rule {keyword}"


async def _said(stream: Stream, request: Request) -> tuple[str, str]:
    """The text of a reply, and what is wrong with the reply as such ("" for nothing)."""
    pieces: list[str] = []
    length = 0
    async with aclosing(stream(request)) as events:
        async for event in events:
            match event:
                case TextDelta(text=text):
                    pieces.append(text)
                    length += len(text)
                    if length > MOST_CHARACTERS:
                        return "".join(pieces), f"it is longer than {MOST_CHARACTERS:,} characters"
                case Call():
                    return "".join(pieces), "it calls a tool, and there is none"
                case Finished(reason="length"):
                    return "".join(pieces), "it was cut at the token limit; say less"
                case _:
                    pass
    return "".join(pieces), ""


def _again(request: Request, text: str, wrong: Wrong, form: Form) -> Request:
    """The request with the wrong answer and what is wrong with it; the prefix stays as it was."""
    schema = json.dumps(form.schema, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    correction = (
        f"That answer cannot be used: {wrong.problem}. Answer again with one JSON object and "
        f"nothing else, under this JSON Schema:\n{schema}"
    )
    said: Sequence[Message] = [Message("user", correction)]
    if text.strip():
        said = [Message("assistant", text[:SHOWN_AGAIN].strip()), *said]
    return replace(request, messages=(*request.messages, *said))


def _bare(text: str) -> str:
    """The text without one fence around it: models that are told to write JSON like to add it."""
    bare = text.strip()
    if bare.startswith("```") and bare.endswith("```") and "\n" in bare:
        bare = bare.partition("\n")[2].removesuffix("```").strip()
    return bare


def _once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key stands twice in one object")
    return found


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _where(error: ValueError) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f"it is not JSON (line {error.lineno}, column {error.colno}: {error.msg})"
    return f"it is not JSON ({error})" if len(str(error)) < 100 else "it is not JSON"


def _depth(value: object) -> int:
    deepest, waiting = 0, [(value, 1)]
    while waiting:
        one, depth = waiting.pop()
        deepest = max(deepest, depth)
        if isinstance(one, dict):
            waiting += [(inner, depth + 1) for inner in cast("dict[str, object]", one).values()]
        elif isinstance(one, list):
            waiting += [(inner, depth + 1) for inner in cast("list[object]", one)]
    return deepest
