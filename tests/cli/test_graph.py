"""`lila graph`, as a person uses it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.lila import Outcome, here


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path


def ok(home: Path, *args: str) -> Outcome:
    seen = here(home, "graph", *args)
    assert seen.code == 0, seen.err
    return seen


def told(home: Path, *args: str) -> list[str]:
    rows = ok(home, *args, "--json").json["relations"]
    return [f"{row['subject']} {row['predicate']} {row['object']}" for row in rows]


def test_two_names_of_one_are_merged_and_taken_apart_again(home: Path) -> None:
    ok(home, "add", "Robert", "works at", "Nordwind")
    ok(home, "add", "Bob", "likes", "tea")
    (found,) = ok(home, "suggest", "--json").json["suggestions"]
    assert (found["kept_name"], found["gone_name"]) == ("Robert", "Bob")
    assert found["reason"] == "Bob is short for Robert"
    before = ok(home, "aliases", "--json").json
    made = ok(home, "merge", "Robert", "Bob").out.strip()
    assert told(home, "show", "bob") == ["Robert works at Nordwind", "Robert likes tea"]
    assert "Bob" in ok(home, "aliases").out
    later = ok(home, "add", "Bob", "lives in", "Bremen").out.strip()
    parted = ok(home, "unmerge", made)
    assert later in parted.err
    assert told(home, "show", "Bob") == ["Bob likes tea"]
    assert told(home, "show", "Robert") == ["Robert works at Nordwind", "Robert lives in Bremen"]
    ok(home, "remove", later, "--yes")
    assert ok(home, "aliases", "--json").json == before
    assert ok(home, "suggest", "--json").json["suggestions"] == []


def test_two_of_one_name_stay_two_and_an_ambiguous_name_is_asked_back(home: Path) -> None:
    first = ok(home, "add", "Alex", "reports to", "Sarah").out.strip()
    ok(home, "add", "Alex", "sings in", "Coro do Cais")
    ok(home, "split", "Alex", "Alex (work)", first)
    both = ok(home, "show", "Alex")
    assert "Alex (work)" in both.out
    assert "Alex can mean Alex (e1), Alex (work) (e4)" in both.err
    assert told(home, "show", "Alex (work)") == ["Alex (work) reports to Sarah"]
    ok(home, "alias", "Alex", "Lex")
    ok(home, "alias", "Alex (work)", "Lex")
    refused = here(home, "graph", "path", "Lex", "Sarah")
    assert refused.code == 2
    assert "can mean" in refused.err
    assert told(home, "path", "e4", "Sarah") == ["Alex (work) reports to Sarah"]


def test_what_two_that_are_one_have_in_common_is_shown_once(home: Path) -> None:
    for name in ("Robert", "Bob"):
        ok(home, "add", name, "works at", "Nordwind")
    ok(home, "add", "Bob", "works at", "Nordwind", "--from", "2024-03-01")
    merge = ok(home, "merge", "Robert", "Bob").out.strip()
    assert told(home, "show", "Bob") == ["Robert works at Nordwind"] * 2  # of two intervals
    assert "r1, r2" in ok(home, "show", "Robert").out
    assert len(told(home, "list")) == 3
    again = here(home, "graph", "merge", "Robert", "Bob")
    assert "Robert and Bob already are one: Robert (e1)" in again.err
    ok(home, "unmerge", merge)
    assert told(home, "show", "Robert") == ["Robert works at Nordwind"]


def test_what_was_believed_on_a_day_is_shown_as_of_it(home: Path) -> None:
    ok(home, "add", "Alex", "reports to", "Sarah", "--from", "2024-03-01")
    assert told(home, "show", "Alex") == ["Alex reports to Sarah"]
    assert told(home, "show", "Alex", "--as-of", "2024-06-01") == []  # not known then
    assert told(home, "show", "Alex", "--as-of", "2100-01-01") == ["Alex reports to Sarah"]
    assert told(home, "list") == ["Alex reports to Sarah"]


def test_kin_is_shown_in_words_and_told_to_programs_by_its_name(home: Path) -> None:
    ok(home, "add", "Alex", "kin_mother_in_law", "Ana")
    for command in (("list",), ("show", "Alex")):
        shown = ok(home, *command).out
        assert "mother in law of" in shown
        assert "kin_" not in shown
    assert told(home, "list") == ["Alex kin_mother_in_law Ana"]


def test_a_removed_relation_is_forgotten(home: Path) -> None:
    made = ok(home, "add", "Zebulon", "keeps", "pelargoniums").out.strip()
    ok(home, "remove", made, "--yes")
    assert told(home, "list") == []
    whole = b"".join(one.read_bytes() for one in home.rglob("*") if one.is_file())
    assert b"pelargoniums" not in whole
    gone = here(home, "graph", "remove", made, "--yes")
    assert (gone.code, "there is no relation" in gone.err) == (5, True)


def test_mistakes_are_told_in_a_sentence(home: Path) -> None:
    ok(home, "add", "Ana", "knows", "Ben")
    for args, code, word in (
        (("merge", "Ana", "Ana"), 2, "Ana (e1) was named twice"),
        (("merge", "Ana", "Nobody"), 5, "nothing is known"),
        (("unmerge", "x9"), 5, "no merge"),
        (("split", "Ana", "Ana (choir)", "r9"), 2, "no relation of Ana"),
        (("show", "e9"), 5, "no entity"),
    ):
        seen = here(home, "graph", *args)
        assert (seen.code, word in seen.err) == (code, True), seen.err
