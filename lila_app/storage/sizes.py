"""How large the blocks of stored prompts were."""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from lila_app.storage.connection import Source, reading

MOST = 200
"""How many of the latest records are looked at; older ones are packed away, and say less."""


@dataclass(frozen=True, slots=True)
class Sizes:
    """The mean tokens of each block over so many records, rounded up."""

    records: int
    blocks: Mapping[str, int]


def block_sizes(source: Source, use_case: str, limit: int) -> Sizes:
    """Of a use case's prompts that might have so many tokens; a missing block counts as 0."""
    with reading(source) as connection:
        rows = connection.execute(
            "select body from records where body is not null order by id desc limit ?", (MOST,)
        ).fetchall()
    seen, sums = 0, dict[str, int]()
    for (body,) in rows:
        record: dict[str, Any] = json.loads(zlib.decompress(body))
        budget = record.get("token_budget", {})
        if record["meta"].get("use_case") != use_case or budget.get("limit") != limit:
            continue
        seen += 1
        for block in record["blocks"]:
            sums[block["name"]] = sums.get(block["name"], 0) + block["tokens"]
    return Sizes(seen, {name: -(-total // seen) for name, total in sums.items()})
