"""A validator that is always in step with the installed SDK: its own types, without extra keys."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match
from pydantic import TypeAdapter


def complaint(typed_dict: Any, body: object) -> str | None:
    """Why a body is not what the SDK's type says, with the place in it; None if it is."""
    worst = best_match(_validator(typed_dict).iter_errors(as_received(body)))
    if worst is None:
        return None
    return f"{worst.json_path}: {worst.message[:300]}"


@cache
def _validator(typed_dict: Any) -> Draft202012Validator:
    schema = TypeAdapter(typed_dict).json_schema()
    return Draft202012Validator(_closed(schema))


def _closed(schema: Any) -> Any:
    """The schema with every object that names its properties closed to others.

    The SDKs' answer types, which some of their request types admit, are open: also those.
    """
    if isinstance(schema, list):
        return [_closed(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    made = {
        key: {name: _closed(each) for name, each in value.items()}
        if key in ("properties", "$defs")
        else _closed(value)
        for key, value in schema.items()
    }
    if "properties" in made:
        made["additionalProperties"] = False
    return made


def as_received(body: object) -> Any:
    """A body as it arrives: through JSON."""
    return json.loads(json.dumps(body))
