"""What a person can ask of and do to LILA's memory, through the command line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from lila_app.paths import Home
from lila_app.storage.connection import Store
from tests.cli.lila import Outcome, here
from tests.traces import holding


@pytest.fixture(autouse=True)
def in_lisbon(home: Path) -> None:
    folder = home / "config"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "settings.toml").write_text('timezone = "Europe/Lisbon"\n', encoding="utf-8")


def told(home: Path, tmp_path: Path, *said: tuple[str, str]) -> Outcome:
    """Conversations from elsewhere, each on a day of its own, looked through for facts."""
    file = tmp_path / f"chat-{len(list(tmp_path.glob('chat-*')))}.jsonl"
    rows = [
        {"id": f"{file.stem}-{place}", "session": f"{file.stem}-{place}", "at": at, "role": "user"}
        | {"text": text}
        for place, (at, text) in enumerate(said)
    ]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    imported = here(home, "import", str(file))
    assert imported.code == 0, imported.err
    learned = here(home, "memory", "learn", "--json")
    assert learned.code == 0, learned.err
    return learned


def asked(home: Path, *args: str) -> dict[str, Any]:
    done = here(home, "memory", *args, "--json")
    assert done.code == 0, done.err
    return done.json


def believed(home: Path, *args: str) -> list[str]:
    found = asked(home, "list", *args)["memories"]
    return [one["text"].removesuffix(".") for one in found if args or one["status"] == "current"]


MARCH = ("2026-02-10T09:00:00+00:00", "I live in Tallinn.")
JUNE = ("2026-06-03T09:00:00+00:00", "I moved to Ghent.")


def test_what_lila_believed_on_a_day_can_be_asked_later(home: Path, tmp_path: Path) -> None:
    told(home, tmp_path, MARCH, JUNE)  # some of it may be looked through while it comes in
    assert believed(home) == ["The person lives in Ghent"]
    assert believed(home, "--as-of", "2026-03-01") == ["The person lives in Tallinn"]
    assert believed(home, "--as-of", "2026-06-02") == ["The person lives in Tallinn"]
    assert believed(home, "--as-of", "2026-06-03") == ["The person lives in Ghent"]
    assert believed(home, "--as-of", "2026-01-01") == []
    hits = asked(home, "search", "Where does the person live?", "--as-of", "2026-03-01")["hits"]
    assert [hit["memory"]["text"] for hit in hits] == ["The person lives in Tallinn."]


def test_lila_says_why_she_remembers(home: Path, tmp_path: Path) -> None:
    told(home, tmp_path, MARCH, JUNE)
    why = asked(home, "why", "m2")["why"]
    assert [(one["words"], one["at"]) for one in why["sources"]] == [
        ("I moved to Ghent.", "2026-06-03T09:00:00+00:00")
    ]
    assert why["supersedes"] == ["m1"]
    (change,) = [one for one in why["changes"] if one["what"] == "superseded"]
    assert change["why"] == "update"
    assert asked(home, "why", "m1")["why"]["superseded_by"] == "m2"
    words = here(home, "memory", "why", "m2")
    assert "said 2026-06-03 10:00 by you in t2: I moved to Ghent." in words.out
    assert "took the place of m1" in words.out


def test_what_was_replaced_comes_back_when_that_is_undone(home: Path, tmp_path: Path) -> None:
    told(home, tmp_path, MARCH, JUNE)
    done = here(home, "memory", "undo", "m2")
    assert done.out == (
        "took back: m2 ‘The person lives in Ghent.’ is gone, "
        "m1 ‘The person lives in Tallinn.’ holds again\n"
    )
    assert believed(home) == ["The person lives in Tallinn"]
    again = here(home, "memory", "undo", "m2")
    assert again.code != 0
    assert "nothing was done to m2 since" in again.err


def test_lilas_own_wording_is_edited_as_it_is_shown(home: Path) -> None:
    here(home, "memory", "add", "I report to Maria Lopez.")
    edited = here(home, "memory", "edit", "m1", "The person reports to Alex Kern.")
    assert (edited.out, edited.err) == ("m2\n", "")
    relations = here(home, "graph", "list", "--json").json["relations"]
    assert [(one["object"], one["status"]) for one in relations] == [
        ("Maria Lopez", "closed"),
        ("Alex Kern", "current"),
    ]
    assert here(home, "memory", "undo").out == (
        "took back: m2 ‘The person reports to Alex Kern.’ is gone, "
        "m1 ‘I report to Maria Lopez.’ holds again\n"
    )
    assert believed(home) == ["I report to Maria Lopez"]
    relations = here(home, "graph", "list", "--json").json["relations"]
    assert [one["status"] for one in relations] == ["current", "closed"]
    told = here(home, "memory", "why", "r1")
    assert "m1, fact" in told.out
    assert "f1, long-term, current: The person reports to Maria" in told.out
    unread = here(home, "memory", "edit", "m1", "Whatever, more or less.")
    assert "nothing could be read from it; it is kept as a sentence" in unread.err


def test_what_is_kept_already_is_named_and_nothing_else_changes(home: Path) -> None:
    here(home, "memory", "add", "My dog Rex is a beagle")
    before, done = asked(home, "list"), asked(home, "history")
    again = here(home, "memory", "add", "My dog Rex is a beagle")
    assert (again.code, again.out) == (0, "kept already, as m1: My dog Rex is a beagle\n")
    assert (asked(home, "list"), asked(home, "history")) == (before, done)
    core = here(home, "memory", "add", "my dog Rex is a beagle.", "--core", "--json").json
    assert (core["already"], core["memory"]["id"], core["memory"]["kind"]) == (True, "m1", "core")


def test_what_was_believed_is_shown_as_it_was(home: Path) -> None:
    here(home, "memory", "add", "I live in Tallinn", "--now", "2026-02-10T09:00:00+00:00")
    here(home, "memory", "promote", "m1", "--core", "--now", "2026-03-10T09:00:00+00:00")
    here(home, "memory", "edit", "m1", "I live in Ghent", "--now", "2026-06-03T09:00:00+00:00")
    (then,) = asked(home, "list", "--as-of", "2026-02-20")["memories"]
    assert (then["text"], then["kind"], then["status"]) == ("I live in Tallinn", "fact", "current")
    assert (then["superseded_by"], then["closed_at"], then["valid_to"]) == (None, None, None)
    (then,) = asked(home, "list", "--as-of", "2026-04-01")["memories"]
    assert (then["kind"], then["superseded_by"]) == ("core", None)
    nothing = here(home, "memory", "list", "--as-of", "2026-01-01")
    assert nothing.err == "LILA remembered nothing yet on 2026-01-01\n"
    # In Lisbon it is ten o'clock in summer where it is nine in UTC.
    assert believed(home, "--as-of", "2026-06-03T09:59") == ["I live in Tallinn"]
    assert believed(home, "--as-of", "2026-06-03T10:00") == ["I live in Ghent"]


def test_what_was_done_already_is_said_so(home: Path) -> None:
    here(home, "memory", "add", "I live in Tallinn")
    promoted = here(home, "memory", "promote", "m1")
    assert promoted.out == "m1 is a memory already\n"
    assert "--core" in promoted.err
    assert "nothing contradicts m1" in here(home, "memory", "resolve", "m1").err
    assert here(home, "memory", "demote", "m1").out == "m1 is not offered any more\n"
    done = len(asked(home, "history")["changes"])
    again = here(home, "memory", "demote", "m1")
    assert again.code != 0 and "m1 is not offered as it is" in again.err
    assert len(asked(home, "history")["changes"]) == done
    here(home, "memory", "edit", "m1", "I live in Ghent")
    replaced = here(home, "memory", "promote", "m1", "--core")
    assert replaced.code != 0 and "m1 was replaced by m2" in replaced.err
    here(home, "graph", "add", "Ana", "likes", "tea")
    known = here(home, "graph", "list", "--json").json["relations"]
    assert "comes from no memory" in here(home, "memory", "why", known[-1]["id"]).err


@pytest.mark.slow
def test_undo_takes_back_the_last_thing_whatever_it_was(home: Path) -> None:
    here(home, "memory", "add", "I live in Tallinn")
    here(home, "memory", "add", "I live in Ghent", "--now", "2026-12-24T09:00:00+00:00")
    assert believed(home) == ["I live in Ghent"]
    here(home, "memory", "edit", "m2", "I", "live", "in", "Bruges")
    assert believed(home) == ["I live in Bruges"]
    here(home, "memory", "undo")
    assert believed(home) == ["I live in Ghent"]
    here(home, "memory", "undo")
    assert believed(home) == ["I live in Tallinn"]
    assert [one["undone"] for one in asked(home, "history")["changes"]].count(True) >= 2


def test_what_cannot_be_decided_is_shown_with_both_sides_until_the_person_decides(
    home: Path, tmp_path: Path
) -> None:
    morning = ("2026-02-10T09:00:00+00:00", "I live in Tallinn.")
    noon = ("2026-02-10T12:00:00+00:00", "I live in Ghent.")
    told(home, tmp_path, morning, noon)
    (conflict,) = asked(home, "conflicts")["conflicts"]
    assert [one["value"] for one in conflict["facts"]] == ["Tallinn", "Ghent"]
    shown = here(home, "ask", "--dry-run", "Where do I live?", "--now", "2026-03-01T09:00:00+00:00")
    for value in ("Tallinn", "Ghent"):
        assert value in shown.out
    assert "contradicted" in shown.out or "in conflict with" in shown.out
    chosen = conflict["facts"][1]["id"]
    decided = here(home, "memory", "resolve", chosen, "--now", "2026-03-02T09:00:00+00:00")
    assert decided.out == f"{chosen} holds; closed {conflict['facts'][0]['id']}\n"
    assert asked(home, "conflicts")["conflicts"] == []
    assert believed(home) == ["The person lives in Ghent"]
    here(home, "memory", "undo")
    assert len(asked(home, "conflicts")["conflicts"]) == 1


@pytest.mark.slow
def test_what_waits_says_what_it_lacks_and_can_be_promoted_and_put_back(
    home: Path, tmp_path: Path
) -> None:
    told(home, tmp_path, ("2026-02-10T09:00:00+00:00", "I like rye bread."))
    assert believed(home) == []
    (waiting,) = asked(home, "candidates")["candidates"]
    assert (waiting["days"], waiting["uses"]) == (1, 2)
    fact = waiting["fact"]["id"]
    assert here(home, "memory", "promote", fact, "--core").out == "m1 is a core memory\n"
    assert [one["kind"] for one in asked(home, "list")["memories"]] == ["core"]
    assert here(home, "memory", "demote", "m1").out == "m1 is a memory\n"
    assert here(home, "memory", "demote", "m1").out == "m1 is not offered any more\n"
    assert believed(home) == []
    # Put back by hand, it does not come again by itself.
    told(home, tmp_path, ("2026-02-19T09:00:00+00:00", "I like rye bread."))
    assert believed(home) == []
    assert here(home, "memory", "promote", "m1").out == "m1 is a memory\n"
    assert believed(home) == ["The person likes rye bread"]


@pytest.mark.slow
def test_a_pinned_memory_is_unpinned_again(home: Path) -> None:
    here(home, "memory", "add", "The spare key is with Ana")
    assert here(home, "memory", "pin", "m1").out == "m1 is pinned\n"
    assert asked(home, "list")["memories"][0]["pinned"]
    assert here(home, "memory", "unpin", "m1").out == "m1 is not pinned\n"


SECRET = ("Zebulonia", "quokkawort")


def test_a_forgotten_fact_is_in_no_byte_and_is_not_learned_again(
    home: Path, tmp_path: Path
) -> None:
    told(
        home,
        tmp_path,
        ("2026-02-10T09:00:00+00:00", "I live in Zebulonia."),
        ("2026-02-11T09:00:00+00:00", "I live in Zebulonia, and I'm allergic to quokkawort."),
        ("2026-02-12T09:00:00+00:00", "I like rye bread."),
    )
    facts = {one["value"].casefold(): one["id"] for one in _facts(home)}
    assert holding(home, ("zebulonia",)) != []
    here(home, "memory", "forget", facts["zebulonia"], "--yes")
    assert holding(home, ("zebulonia",)) == []
    here(home, "memory", "forget", facts["quokkawort"], "--yes")
    assert holding(home, ("zebulonia", "quokkawort")) == []
    assert here(home, "db", "check").code == 0
    assert asked(home, "learn")["learned"]["turns"] == 0
    assert [one["value"] for one in _facts(home)] == ["rye bread"]
    path = Home.at(home).profile_db("default")
    with Store.open(path, read_only=True) as store, store.read() as connection:
        rows = connection.execute("select count(*) from events where kind = 'fact_learned'")
        assert rows.fetchone()[0] == 3  # the log keeps that something was, and not what


@pytest.mark.slow
def test_a_memory_goes_with_the_facts_it_tells_and_what_it_replaced_stays(home: Path) -> None:
    here(home, "memory", "add", "I live in Tallinn", "--now", "2026-02-10T09:00:00+00:00")
    here(home, "memory", "add", "I live in Zebulonia", "--now", "2026-03-10T09:00:00+00:00")
    done = here(home, "memory", "forget", "m2", "--yes")
    assert done.code == 0, done.err
    assert holding(home, ("zebulonia",)) == []
    assert [one["text"] for one in asked(home, "list")["memories"]] == ["I live in Tallinn"]
    assert here(home, "db", "check").code == 0


MONTHS = ("05", "08")


def test_what_begins_on_a_day_to_come_is_told_so_until_then_and_ends_what_was(
    home: Path, tmp_path: Path
) -> None:
    told(
        home,
        tmp_path,
        ("2026-02-10T09:00:00+00:00", "I live in Tallinn. I work at Quokka Labs."),
        ("2026-04-02T09:00:00+00:00", "I live in Ghent from 1 July 2026."),
        ("2026-04-03T09:00:00+00:00", "From 1 July 2026 I no longer work at Quokka Labs."),
    )
    assert asked(home, "conflicts")["conflicts"] == []
    before, after = (
        here(home, "ask", "--dry-run", "--now", f"2026-{month}-09T09:00:00+00:00", "Hello!").out
        for month in MONTHS
    )
    assert "- The person lives in Tallinn." in before
    assert "- The person works at Quokka Labs." in before
    assert "- The person lives in Ghent" not in before
    assert "- The person lives in Ghent" in after
    assert "- The person lives in Tallinn." not in after
    assert "- The person works at Quokka Labs." not in after
    before, after = (
        here(home, "ask", "--dry-run", "--now", f"2026-{month}-09T09:00:00+00:00", question).out
        for month, question in zip(
            MONTHS, ("Where do I live?", "Do I live in Tallinn?"), strict=True
        )
    )
    assert "The person lives in Ghent from 1 July 2026." in before
    (line,) = [one for one in after.splitlines() if "I live in Tallinn." in one]
    assert "“The person lives in Tallinn” so until 2026-07-01" in line


@pytest.mark.slow
def test_what_a_forgotten_thing_is_goes_with_it_and_the_rest_of_the_sentence_stays(
    home: Path, tmp_path: Path
) -> None:
    told(
        home,
        tmp_path,
        ("2026-02-10T09:00:00+00:00", "My cat is called Zebulonia."),
        ("2026-02-10T10:00:00+00:00", "My cousin Alex works at Quokkawort."),
    )
    pet, job = asked(home, "list")["memories"]
    here(home, "memory", "forget", pet["id"], "--yes")
    assert holding(home, ("zebulonia",)) == []
    here(home, "memory", "forget", job["id"], "--yes")
    assert holding(home, ("quokkawort",)) == []
    assert [one["value"] for one in _facts(home)] == ["me"]  # whose cousin Alex is
    assert here(home, "db", "check").code == 0


@pytest.mark.slow
def test_a_session_takes_its_candidates_along_and_leaves_memories(
    home: Path, tmp_path: Path
) -> None:
    told(
        home,
        tmp_path,
        ("2026-02-10T09:00:00+00:00", "I like quokkawort. I'm allergic to hazelnuts."),
    )
    assert len(_facts(home)) == 2
    gone = here(home, "sessions", "delete", "s1", "--yes")
    assert gone.code == 0, gone.err
    assert [one["value"] for one in _facts(home)] == ["hazelnuts"]
    assert holding(home, ("quokkawort",)) == []
    assert here(home, "db", "check").code == 0


def _facts(home: Path) -> list[dict[str, Any]]:
    from lila_app.assistant import open_lila

    with open_lila(home) as lila:
        return [
            {"id": one.id, "value": one.value, "status": one.status} for one in lila.memory.facts()
        ]
