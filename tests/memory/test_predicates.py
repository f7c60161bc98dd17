"""The vocabulary of facts: what it says, and what it refuses."""

from __future__ import annotations

import pytest

from lila_app.context import Source
from lila_app.errors import PolicyError
from lila_app.memory.model import ME
from lila_app.memory.predicates import Predicates, load
from lila_app.paths import shipped


@pytest.fixture
def table() -> Predicates:
    path = shipped("policies") / "predicates.toml"
    return load([Source(str(path), path.read_text(encoding="utf-8"))])


def said(table: Predicates, name: str, subject: str, value: str, **how: bool) -> str:
    predicate = table.get(name)
    assert predicate is not None
    return predicate.said(subject, value, **how)


def test_a_fact_is_said_so_that_it_stands_by_itself(table: Predicates) -> None:
    assert said(table, "lives_in", ME, "Porto") == "The person lives in Porto"
    assert said(table, "mother_of", "Elspeth", ME) == "Elspeth is the mother of the person"
    assert said(table, "lives_in", "Ana", "Porto", negated=True) == "Ana does not live in Porto"
    assert (
        said(table, "works_at", ME, "Bosch", ended=True)
        == "The person does not work at Bosch any more"
    )
    assert said(table, "is_a", "Rex", "akita") == "Rex is an akita"


def test_a_family_takes_any_member_and_its_stem_alone_is_none(table: Predicates) -> None:
    assert (
        said(table, "favourite_ice_cream", ME, "lemon")
        == "The person's favourite ice cream is lemon"
    )
    assert "favourite_colour" in table
    assert "favourite_*" not in table
    assert "favourite_" not in table
    assert "unheard_of" not in table


def test_braces_in_what_people_say_are_no_placeholders(table: Predicates) -> None:
    assert said(table, "likes", "{value}", "{subject}") == "{value} likes {subject}"


def test_a_persons_table_lies_over_the_shipped_one() -> None:
    shipped_table = Source("a", '[predicates.x]\nmany = true\nkind = "plan"\nentity = false\n'
                                'sentence = "{subject} x {value}"\n')  # fmt: skip
    own = Source("b", "[predicates.x]\nmany = false\n")
    found = load([shipped_table, own]).get("x")
    assert found is not None
    assert not found.many
    assert found.kind == "plan"


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ('[predicates.x]\nmany = 1\nkind = "plan"\nentity = false\nsentence = "{subject} {value}"',
         "predicates.x.many"),
        ('[predicates.x]\nmany = true\nkind = "eternal"\nentity = false\n'
         'sentence = "{subject} {value}"', "predicates.x.kind"),
        ('[predicates.x]\nmany = true\nkind = "plan"\nentity = false\nsentence = "x {value}"',
         "predicates.x.sentence"),
        ('[predicates.x]\nmany = true\nkind = "plan"\nentity = false', "predicates.x.sentence"),
        ('[predicates.x]\ncolour = "red"', "predicates.x.colour"),
        ('[predicates.x]\nmany = true\nkind = "plan"\nentity = false\ninverse = "y"\n'
         'sentence = "{subject} {value}"', "predicates.x.inverse"),
        ("[predicate.x]\nmany = true", "predicate"),
    ],
)  # fmt: skip
def test_a_bad_table_is_refused_by_its_key(text: str, key: str) -> None:
    with pytest.raises(PolicyError) as refusal:
        load([Source("mine.toml", text)])
    assert refusal.value.key == key
