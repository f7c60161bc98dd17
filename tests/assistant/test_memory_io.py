"""The log of memory's reads and writes: each with its time, who did it, to what, for which turn."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from lila_app.assistant import open_lila
from lila_app.cli.root import lila as command
from lila_app.embedding.port import Embedder
from lila_app.paths import Home
from lila_app.storage import check
from lila_app.storage.connection import Store
from lila_app.testing import FakeClock, ScriptedProvider
from lila_app.views.io import IoInfo
from tests.assistant.tools.asking import ABLE, answering, asking, told

SECRET = "The strongbox opens with Quokka"


@pytest.fixture
def provider() -> ScriptedProvider:
    return ScriptedProvider(limits=ABLE)


@pytest.fixture
def story(
    home: Path, provider: ScriptedProvider, embedder: Embedder, clock: FakeClock
) -> list[IoInfo]:
    """Memories by hand, by a tool and by learning; read in a prompt and by a tool."""
    place = Home.at(home)
    place.create()
    with open_lila(home, provider=provider, embedder=embedder, clock=clock) as lila:
        lila.memory.add(SECRET)
        lila.db.catch_up()
        clock.advance(60)
        provider.enqueue(asking("memory_search", query="strongbox"), "With a word.")
        told(lila, "What does the strongbox open with?", answering(True))
        clock.advance(60)
        provider.enqueue(asking("memory_add", text="The person keeps bees"), "Noted.")
        told(lila, "Please remember that I keep bees", answering(True))
        clock.advance(60)
        lila.graph.add("Alex", "manager", "Sarah")
        lila.memory.pin("m1")
        return list(lila.memory_io.list(limit=None))


def test_every_read_and_write_is_told_with_who_did_it(story: list[IoInfo]) -> None:
    told = [(one.way, one.what, one.who, one.ids, one.turn) for one in story]
    assert told[0] == ("write", "added", "the person", ("m1",), None)
    assert ("read", "in the prompt", "scripted/test", ("m1",), "t1") in told
    assert ("read", "returned by memory_search", "the model", ("m1",), "t1") in told
    assert ("write", "added", "the model, by memory_add", ("m2",), "t2") in told
    assert ("write", "related", "the person", ("r1",), None) in told
    assert told[-1] == ("write", "pinned (hand)", "the person", ("m1",), None)
    assert [one.at for one in story] == sorted(one.at for one in story)
    assert {one.record for one in story if one.what == "in the prompt"} >= {"c1", "c2"}


def test_one_turn_is_told_by_itself_and_the_newest_alone(
    home: Path, story: list[IoInfo], embedder: Embedder
) -> None:
    with open_lila(home, embedder=embedder) as lila:
        first = lila.memory_io.list("t1")
        assert first and {one.turn for one in first} == {"t1"}
        assert list(lila.memory_io.list(limit=2)) == story[-2:]


def test_what_is_forgotten_leaves_ids_and_no_word(
    home: Path, story: list[IoInfo], embedder: Embedder
) -> None:
    with open_lila(home, embedder=embedder) as lila:
        lila.memory.forget("m1")
        left = lila.memory_io.list(limit=None)
        shown = json.dumps([(one.what, one.who, one.ids) for one in left])
        assert "Quokka" not in shown and "strongbox" not in shown
        added = next(one for one in left if one.ids == ("m1",) and one.way == "write")
        assert added.what == "added (forgotten since)"
        assert any(one.what == "erased" for one in left)
    with Store.open(Home.at(home).profile_db("default")) as store:
        assert check.check(store).problems == ()


def test_the_command_shows_it_as_a_table_and_as_json(home: Path, story: list[IoInfo]) -> None:
    run = CliRunner(env={"LILA_HOME": str(home)})
    shown = run.invoke(command, ["memory", "io"])
    assert shown.exit_code == 0, shown.stderr
    assert (
        "returned by memory_search" in shown.stdout and "the model, by memory_add" in shown.stdout
    )
    found = json.loads(run.invoke(command, ["memory", "io", "--turn", "t2", "--json"]).stdout)
    assert found["schema_version"] >= 1
    assert {one["turn"] for one in found["io"]} == {"t2"}
    missing = run.invoke(command, ["memory", "io", "--turn", "t99"])
    assert missing.exit_code != 0 and "t99" in missing.stderr
