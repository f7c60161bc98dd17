"""Which names may be one person's: suggested with the reason, never decided."""

from __future__ import annotations

import pytest

from lila_app.graph.suggest import suggestions
from lila_app.storage.entities import EntityRow

NICKNAMES = {"robert": ("bob", "rob"), "alexander": ("alex", "sasha")}


def pairs(*names: str, apart: tuple[int, int] | None = None) -> list[tuple[str, str, str]]:
    rows = [EntityRow(f"e{number}", name, ()) for number, name in enumerate(names, 1)]
    told = [frozenset(f"e{one}" for one in apart)] if apart else []
    found = suggestions(rows, {"e2": 5}, told, NICKNAMES)
    return [(one.kept.name, one.gone.name, one.reason) for one in found]


@pytest.mark.parametrize(
    ("one", "other", "reason"),
    [
        ("Robert", "Bob", "Bob is short for Robert"),
        ("Robert Miller", "Bob Miller", "Bob is short for Robert"),
        ("A. Berg", "Anna Berg", "the initial and the last name are the same"),
        ("Anna", "Anna Berg", "the first name is the same"),
        ("Mr. Miller", "Miller", "the same but for a title"),
        ("The Blue Harbor", "Blue Harbor", 'the same but for "the"'),
        ("green tea", "green teas", "one may be the plural of the other"),
        ("Lindqvist", "Lindquist", "spelt alike (89 %)"),
        ("Jose", "José", "the same but for the spelling"),
    ],
)
def test_a_likeness_is_suggested_with_its_reason(one: str, other: str, reason: str) -> None:
    assert pairs(one, other) == [(other, one, reason)]  # the one with more relations is kept


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Anna", "Hanna"), ("Berg", "Burg"), ("Room 12", "Room 13"), ("Alex (work)", "Alex"),
        ("Robert Miller", "Bob Smith"), ("Anna Berg", "Anton Berg"), ("me", "mee"),
    ],
)  # fmt: skip
def test_what_two_people_share_as_easily_is_not_suggested(one: str, other: str) -> None:
    assert pairs(one, other) == []


def test_what_was_told_apart_is_not_suggested_again() -> None:
    assert pairs("Robert", "Bob", apart=(1, 2)) == []


def test_a_first_name_of_many_suggests_nobody() -> None:
    many = [f"Anna {last}" for last in ("Abel", "Boone", "Cole", "Dietz", "Ernst")]
    assert [one for one in pairs("Anna", *many) if "first name" in one[2]] == []
