"""What strict structured output can express: the part of JSON Schema every provider's mode takes.

A keyword outside it is either a 400 from one of them or silently ignored by another, and then the
code behind it believes in a bound that nothing enforces. What is refused here is checked in code
after the answer instead.

Read on 2026-11-30 in anthropic 2.14 (lib/_parse/_transform.py moves everything but these keywords
into the description) and openai 3.57 (lib/_pydantic.py: every property required, no additional
ones); of the two ways to write "or null", `anyOf` is the one no provider refuses.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import cast

Schema = Mapping[str, object]

DEEPEST = 5
"""Levels of objects and arrays; OpenAI's strict mode began with five, and no answer needs more."""

MOST_PROPERTIES = 100
"""In the whole schema; the first limit of OpenAI's strict mode."""

_EVERYWHERE = ("description", "title")
_BY_KIND: Mapping[str, tuple[str, ...]] = {
    "object": ("type", "properties", "required", "additionalProperties"),
    "array": ("type", "items"),
    "string": ("type", "enum"),
    "integer": ("type",),
    "number": ("type",),
    "boolean": ("type",),
    "null": ("type",),
}
_SHAPES = ("anyOf", "enum", "const", "$ref")
"""What may stand in place of a type."""

_WHY = {
    **dict.fromkeys(
        ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
        "no numeric ranges",
    ),
    **dict.fromkeys(("minLength", "maxLength"), "no lengths of texts"),
    **dict.fromkeys(("minItems", "maxItems", "uniqueItems", "contains"), "no sizes of lists"),
    **dict.fromkeys(("pattern", "format"), "no forms of texts"),
    **dict.fromkeys(("oneOf", "allOf", "not", "if", "then", "else"), "anyOf is the only choice"),
    "default": "no defaults: say null where a value may be missing",
}


def lint(schema: Schema) -> tuple[str, ...]:
    """What strict modes cannot express, one sentence each with its place; empty for a good one."""
    definitions = schema.get("$defs", {})
    if not isinstance(definitions, Mapping):
        return ("$defs: must be a table of schemas",)
    walk = _Walk(cast("Schema", definitions))
    root = {key: value for key, value in schema.items() if key not in ("$schema", "$defs")}
    found = [] if root.get("type") == "object" else ["$: the root must be an object"]
    found += walk.look(root, "$", 0, ())
    for name, part in walk.definitions.items():
        if name not in walk.used:
            found.append(f"$defs.{name}: is used nowhere")
            found += walk.look(part, f"$defs.{name}", 0, (name,))
    if walk.properties > MOST_PROPERTIES:
        found.append(f"$: {walk.properties} properties, and at most {MOST_PROPERTIES} are taken")
    return tuple(dict.fromkeys(found))


class _Walk:
    """One look at a schema; follows references, so that a cycle shows."""

    def __init__(self, definitions: Schema) -> None:
        self.definitions = definitions
        self.used: set[str] = set()
        self.properties = 0

    def look(self, schema: object, at: str, depth: int, inside: tuple[str, ...]) -> Iterator[str]:
        """Sentences about a schema at a place, `inside` the definitions that led here."""
        if not isinstance(schema, Mapping):
            yield f"{at}: must be a schema with a type"
            return
        part = cast("Schema", schema)
        kind = part.get("type")
        if isinstance(kind, str) and kind in _BY_KIND:
            yield from _keywords(part, at, _BY_KIND[kind])
            if kind in ("object", "array"):
                if depth >= DEEPEST:
                    yield f"{at}: deeper than {DEEPEST} levels"
                    return
                look = self._object if kind == "object" else self._array
                yield from look(part, at, depth + 1, inside)
            return
        yield from self._shape(part, at, depth, inside)

    def _shape(self, part: Schema, at: str, depth: int, inside: tuple[str, ...]) -> Iterator[str]:
        if isinstance(part.get("type"), list):
            yield f"{at}: a list of types; write anyOf"
            return
        shapes = [shape for shape in _SHAPES if shape in part]
        if len(shapes) != 1:
            yield f"{at}: needs one of type, {', '.join(_SHAPES)}"
            return
        yield from _keywords(part, at, shapes)
        value = part[shapes[0]]
        if shapes == ["$ref"]:
            yield from self._reference(value, at, depth, inside)
        elif shapes == ["anyOf"]:
            choices = cast("list[object]", value) if isinstance(value, list) else []
            if not choices:
                yield f"{at}: anyOf without a choice"
            for number, choice in enumerate(choices):
                yield from self.look(choice, f"{at}.anyOf[{number}]", depth, inside)
        elif shapes == ["enum"]:
            values = cast("list[object]", value) if isinstance(value, list) else []
            if not values or not all(isinstance(one, str) for one in values):
                yield f"{at}: an enum must be a list of texts"

    def _reference(
        self, value: object, at: str, depth: int, inside: tuple[str, ...]
    ) -> Iterator[str]:
        name = str(value).removeprefix("#/$defs/")
        if name not in self.definitions or not str(value).startswith("#/$defs/"):
            yield f"{at}: $ref must name one of $defs"
        elif name in inside:
            yield f"{at}: recursion through $defs.{name}"
        else:
            self.used.add(name)
            yield from self.look(self.definitions[name], at, depth, (*inside, name))

    def _object(self, part: Schema, at: str, depth: int, inside: tuple[str, ...]) -> Iterator[str]:
        properties = part.get("properties")
        named: Schema = cast("Schema", properties) if isinstance(properties, Mapping) else {}
        self.properties += len(named)
        if part.get("additionalProperties") is not False:
            yield f"{at}: additionalProperties must be false"
        required = part.get("required")
        listed = cast("list[object]", required) if isinstance(required, list) else []
        for name in named:
            if name not in listed:
                yield f"{at}.{name}: must be required; say null where it may be missing"
        for name in listed:
            if name not in named:
                yield f"{at}.{name}: is required and not among the properties"
        for name, inner in named.items():
            yield from self.look(inner, f"{at}.{name}", depth, inside)

    def _array(self, part: Schema, at: str, depth: int, inside: tuple[str, ...]) -> Iterator[str]:
        if "items" not in part:
            yield f"{at}: a list must say what is in it"
            return
        yield from self.look(part["items"], f"{at}[]", depth, inside)


def _keywords(part: Schema, at: str, allowed: tuple[str, ...] | list[str]) -> Iterator[str]:
    for key in part:
        if key not in allowed and key not in _EVERYWHERE:
            why = _WHY.get(key, "strict modes do not take it here")
            yield f"{at}: {key} cannot be said ({why})"
