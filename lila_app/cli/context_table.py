"""A context record as tables a person can read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NotRequired, TypedDict, cast
from zoneinfo import ZoneInfo

from lila_app.cli.output import answer, local, one_line, table
from lila_app.views import NOTHING_RETRIEVED

if TYPE_CHECKING:
    from lila_app.views import CallInfo
    from lila_app.views.documents import Citations

_HASH_SHOWN = 16
"""Hex digits of a hash in a table; `--json` has all of them."""


class _Meta(TypedDict):
    record_id: str
    parent_record_id: str | None
    session_id: str | None
    at: str
    use_case: str
    strategy: str
    epoch: int


class _Budget(TypedDict):
    limit: int
    used: int
    remaining: int
    fixed: int
    join_delta: int


class _Item(TypedDict):
    id: str
    tokens: int
    score: int
    variant: str


class _Layer(TypedDict):
    name: str
    nominal: int
    cap: int
    granted: int
    returned: int
    borrowed: int
    tokens: int
    ms: int
    items: list[_Item]


class _Dropped(TypedDict):
    id: str
    layer: str
    reason: str
    source: str
    tokens: int


class _Block(TypedDict):
    name: str
    lifetime: str
    tokens: int
    hash: str | None


class _Deadline(TypedDict):
    ms: int | None
    missed: list[str]


class _Record(TypedDict):
    """The part of assets/schemas/context-record.json that is shown."""

    meta: _Meta
    code_version: str
    policy_hash: str
    query: dict[str, str]
    token_budget: _Budget
    layers: list[_Layer]
    dropped_items: list[_Dropped]
    blocks: list[_Block]
    bytes_sha256: str | None
    deadline: _Deadline
    erased: NotRequired[str]


def print_record(record: Mapping[str, object], zone: ZoneInfo) -> None:
    """Print a whole record: budget, layers, what each was asked, what went in, what did not."""
    seen = cast("_Record", record)
    _print_head(seen, zone)
    _print_layers(seen)
    _print_items(seen)
    _print_dropped(seen["dropped_items"])
    answer("\nblocks")
    rows = [(b["lifetime"], b["name"], b["tokens"], _short(b["hash"])) for b in seen["blocks"]]
    table(("", "block", "tokens", "hash"), rows)


def print_calls(calls: Sequence[CallInfo]) -> None:
    """Print who was asked with the prompt and how it ended; nothing when nobody was."""
    if not calls:
        return
    answer("\ncalls")
    table(
        ("model", "ended", "first ms", "ms", "tokens", "read", "reply"),
        [
            tuple(
                "" if value is None else value
                for value in (
                    *(call.model, call.outcome, call.first_token_ms, call.total_ms),
                    *(call.tokens, call.read, call.output),
                )
            )
            for call in calls
        ],
    )


def print_citations(citations: Citations | None) -> None:
    """Print which sources the reply names; nothing where it names none."""
    rows = [
        *((id, "given") for id in (citations.given if citations else ())),
        *((id, "named earlier") for id in (citations.earlier if citations else ())),
        *((id, "not given") for id in (citations.unknown if citations else ())),
    ]
    if rows:
        answer("\nsources the reply names")
        table(("id", "to the model"), rows)


def _print_head(seen: _Record, zone: ZoneInfo) -> None:
    meta, budget = seen["meta"], seen["token_budget"]
    parent = (
        f", assembled again from {meta['parent_record_id']}" if meta["parent_record_id"] else ""
    )
    session = f" in {meta['session_id']}" if meta["session_id"] else ""
    answer(
        f"{meta['record_id']}{session}, {meta['use_case']}, {local(meta['at'], zone)}, "
        f"epoch {meta['epoch']}{parent}"
    )
    answer(
        f"limit {budget['limit']}  used {budget['used']}  remaining {budget['remaining']}  "
        f"fixed {budget['fixed']}  join delta {budget['join_delta']:+d}"
    )
    answer(
        f"policy {_short(seen['policy_hash'])}  prompt {_short(seen['bytes_sha256'])}  "
        f"code {seen['code_version']}"
    )
    if "erased" in seen:
        answer(f"erased: {seen['erased']}")
    if seen["deadline"]["missed"]:
        answer(
            f"did not answer within {seen['deadline']['ms']} ms: "
            f"{', '.join(seen['deadline']['missed'])}"
        )


def _print_layers(seen: _Record) -> None:
    answer("")
    table(
        ("layer", "nominal", "cap", "granted", "returned", "borrowed", "used", "ms", "items"),
        [
            (
                *(layer["name"], layer["nominal"], layer["cap"], layer["granted"]),
                *(layer["returned"], layer["borrowed"], layer["tokens"], layer["ms"]),
                len(layer["items"]),
            )
            for layer in seen["layers"]
        ],
    )
    if not any(layer["cap"] or layer["granted"] for layer in seen["layers"]):
        answer(NOTHING_RETRIEVED)
    answer("\nasked")
    for name, query in seen["query"].items():
        answer(f"  {name}: {one_line(query)}")


def _print_items(seen: _Record) -> None:
    rows = [
        (item["id"], layer["name"], item["tokens"], item["score"], item["variant"])
        for layer in seen["layers"]
        for item in layer["items"]
    ]
    answer(f"\nincluded ({len(rows)})")
    if rows:
        table(("id", "layer", "tokens", "score", "form"), rows)


def _print_dropped(dropped: list[_Dropped]) -> None:
    answer(f"\ndropped ({len(dropped)})")
    if dropped:
        table(
            ("id", "layer", "reason", "tokens", "source"),
            [(d["id"], d["layer"], d["reason"], d["tokens"], d["source"]) for d in dropped],
        )


def _short(digest: str | None) -> str:
    return digest[:_HASH_SHOWN] if digest else "erased"
