"""The context record in the side panel, and the state in the bottom line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import cast

import jsonschema
import pytest

from lila_app.tui.record_text import record_content
from lila_app.tui.record_view import read_record
from lila_app.tui.session_model import Phase, Status
from lila_app.tui.widgets.status_line import status_text
from lila_app.views import NOTHING_RETRIEVED
from tests.tui.records import record

COLUMNS = 45
"""What the panel has for text at its fixed width."""


def test_the_record_of_the_tests_is_one_the_assembler_could_write() -> None:
    schema = Path(__file__).parents[2] / "assets" / "schemas" / "context-record.json"
    jsonschema.validate(record(), json.loads(schema.read_text(encoding="utf-8")))


def test_every_layer_has_its_seven_measures() -> None:
    lines = str(record_content(read_record(record()))).splitlines()
    at = lines.index("Layers")
    assert [line.split() for line in lines[at + 1 : at + 9]] == [
        ["session", "convers", "memory", "graph", "rag"],
        ["nominal", "150", "525", "450", "150", "225"],
        ["cap", "300", "1500", "900", "300", "900"],
        ["granted", "150", "525", "450", "150", "333"],
        ["returned", "108", "45", "0", "150", "0"],
        ["borrowed", "0", "0", "0", "0", "101"],
        ["used", "42", "480", "450", "0", "326"],
        ["ms", "1", "2", "14", "3", "19"],
    ]
    assert max(len(line) for line in lines[at : at + 9]) <= COLUMNS


def test_where_no_layer_has_a_share_it_says_that_nothing_was_retrieved() -> None:
    found = record()
    assert NOTHING_RETRIEVED not in str(record_content(read_record(found)))
    for layer in cast("list[dict[str, object]]", found["layers"]):
        layer |= {"cap": 0, "granted": 0}
    assert NOTHING_RETRIEVED in str(record_content(read_record(found)))


def test_what_was_not_seen_is_listed_with_its_reason_and_source() -> None:
    shown = str(record_content(read_record(record())))
    assert "Not seen (2)" in shown
    assert "r7          18  below_floor · graph\n         Anna knows [Ben]\n" in shown
    assert "too late: rag" in shown


def test_blocks_and_prefixes_have_their_hashes() -> None:
    shown = str(record_content(read_record(record())))
    assert f"L3 conversation         480  {'e' * 12}\n" in shown
    assert f"up to conversation           {'2' * 12}\n" in shown
    assert f"whole prompt                 {'3' * 12}\n" in shown


def test_queries_that_differ_are_told_apart() -> None:
    found = record()
    found["query"] = {"memory": "what I said", "rag": "what I said before"}
    shown = str(record_content(read_record(found)))
    assert "memory: what I said\nrag: what I said before\n" in shown


def test_an_erased_record_says_so_and_shows_what_is_left() -> None:
    found = record()
    found |= {"erased": "m5 was forgotten", "bytes_sha256": None, "query": {}}
    found["blocks"] = [{"name": "identity", "lifetime": "L1", "tokens": 180, "hash": None}]
    shown = str(record_content(read_record(found)))
    assert "erased: m5 was forgotten" in shown
    assert "L1 identity" in shown


@pytest.mark.parametrize(
    "found", [{}, {"layers": 3, "blocks": [None, 4], "meta": [], "query": "x", "deadline": None}]
)
def test_a_record_of_another_shape_still_opens_the_panel(found: dict[str, object]) -> None:
    assert "0 of 0 tokens" in str(record_content(read_record(found)))


@pytest.mark.parametrize(
    ("width", "line"),
    [
        (70, "reading 3 s · llama3 · context 10/2,048 · cached ?/12          F1 help"),
        (60, "reading 3 s · llama3 · context 10/2,048 · cached ?/12"),
        (50, "reading 3 s · llama3 · context 10/2,048    F1 help"),
        (30, "reading 3 s · llama3   F1 help"),
        (15, "reading 3 s"),
        (5, "reading 3 s"),
    ],
)
def test_the_bottom_line_drops_what_matters_least(width: int, line: str) -> None:
    status = Status(Phase.READING, "ollama/llama3", 10, 2048, 12, None)
    assert status_text(status, 3, width) == line
