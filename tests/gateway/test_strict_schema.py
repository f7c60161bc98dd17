"""What strict modes cannot express is refused before a provider refuses it."""

from __future__ import annotations

from typing import Any

import pytest

from lila_app.gateway.strict_schema import lint

TEXT: dict[str, Any] = {"type": "string"}


def record(**properties: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "additionalProperties": False,
        "required": list(properties),
        "properties": properties,
    }


def test_objects_lists_choices_and_references_are_taken() -> None:
    schema = record(
        kind={"enum": ["a", "b"], "description": "one of two"},
        when={"anyOf": [TEXT, {"type": "null"}]},
        parts={"type": "array", "items": {"$ref": "#/$defs/part"}},
    )
    assert lint({**schema, "$schema": "x", "title": "T", "$defs": {"part": record(a=TEXT)}}) == ()


@pytest.mark.parametrize(
    ("part", "said"),
    [
        ({"type": "integer", "minimum": 1}, "numeric ranges"),
        ({"type": "number", "multipleOf": 2}, "numeric ranges"),
        ({"type": "string", "maxLength": 60}, "lengths"),
        ({"type": "string", "pattern": "a+"}, "forms"),
        ({"type": "string", "format": "date"}, "forms"),
        ({"type": "array", "items": TEXT, "maxItems": 3}, "sizes"),
        ({"type": "array"}, "what is in it"),
        ({"type": ["string", "null"]}, "write anyOf"),
        ({"oneOf": [TEXT]}, "needs one of"),
        ({"type": "string", "default": "x"}, "no defaults"),
        ({"enum": [1, 2]}, "list of texts"),
        ({"enum": []}, "list of texts"),
        ({"anyOf": []}, "without a choice"),
        ({}, "needs one of"),
        (True, "must be a schema"),
        ({"type": "object", "properties": {}}, "additionalProperties must be false"),
        ({"type": "object", "additionalProperties": True}, "additionalProperties must be false"),
        ({"$ref": "https://elsewhere/x"}, "must name one of $defs"),
    ],
)
def test_what_a_strict_mode_cannot_say_is_named_with_its_place(part: Any, said: str) -> None:
    (found,) = lint(record(inside=part))
    assert said in found
    assert found.startswith("$.inside")


def test_an_optional_property_is_to_be_required_and_nullable() -> None:
    schema = record(a=TEXT, b=TEXT)
    schema["required"] = ["a", "c"]
    assert [line.partition(":")[0] for line in lint(schema)] == ["$.b", "$.c"]


def test_recursion_is_found_through_any_number_of_references() -> None:
    schema = record(tree={"$ref": "#/$defs/node"})
    schema["$defs"] = {
        "node": record(below={"type": "array", "items": {"$ref": "#/$defs/other"}}),
        "other": record(back={"anyOf": [{"$ref": "#/$defs/node"}, {"type": "null"}]}),
    }
    assert any("recursion through $defs.node" in line for line in lint(schema))


def test_a_definition_used_twice_is_no_recursion_and_one_used_never_is_named() -> None:
    schema = record(a={"$ref": "#/$defs/x"}, b={"$ref": "#/$defs/x"})
    assert lint({**schema, "$defs": {"x": record(c=TEXT)}}) == ()
    assert lint({**schema, "$defs": {"x": TEXT, "y": TEXT}}) == ("$defs.y: is used nowhere",)


def test_too_deep_and_too_many_are_refused() -> None:
    deep = TEXT
    for _ in range(5):
        deep = record(a=deep)
    assert lint(deep) == ()
    assert any("deeper" in line for line in lint(record(a=deep)))
    wide = record(**{f"p{number}": TEXT for number in range(101)})
    assert any("101 properties" in line for line in lint(wide))


def test_the_root_is_an_object() -> None:
    assert any("root" in line for line in lint({"type": "array", "items": TEXT}))
