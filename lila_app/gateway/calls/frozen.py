"""What must not change within an epoch above a breakpoint, as a hash two calls can compare."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict

from lila_app.context.items import ModelLimits
from lila_app.gateway.port import Request

_DIGITS = 16


def frozen(request: Request, name: str, limits: ModelLimits) -> str:
    """`limits:rest`, both hashed: the model's limits, then its name, tools, effort and schema.

    The order of the tools counts and the order of keys in a schema does not: adapters send schemas
    with sorted keys. Limits stand apart because those of a model that only steps in may be learnt
    meanwhile; those of the chosen model are in the epoch's fingerprint.
    """
    tools = [(tool.name, tool.description, tool.parameters) for tool in request.tools]
    rest = [name, tools, request.effort, request.schema]
    return f"{_digest(asdict(limits))}:{_digest(rest)}"


def toggled(before: str, after: str) -> bool:
    """Whether anything but the limits changed between two calls."""
    return before.partition(":")[2] != after.partition(":")[2]


def _digest(value: object) -> str:
    text = json.dumps(value, sort_keys=True, default=dict)
    return hashlib.sha256(text.encode()).hexdigest()[:_DIGITS]
