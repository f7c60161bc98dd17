"""policies/graph.toml: what it says, and what it refuses."""

from __future__ import annotations

import pytest

from lila_app.context import Source
from lila_app.errors import PolicyError
from lila_app.graph.rules import Rules, load
from lila_app.paths import read_text, shipped

SHIPPED = shipped("policies") / "graph.toml"


def rules(mine: str = "") -> Rules:
    return load(
        [Source(str(SHIPPED), read_text(SHIPPED)), Source("mine.toml", mine)],
        {"reports_to": "manages", "manages": "reports_to"},
    )


def test_a_key_of_ones_own_is_laid_over_the_shipped_one() -> None:
    changed = rules('[scores]\nnear = 4_000\n[nicknames]\nfarrokh = ["freddie"]\n')
    assert (changed.scores.near, changed.scores.answer) == (4_000, rules().scores.answer)
    assert changed.nicknames["farrokh"] == ("freddie",)
    assert "robert" in changed.nicknames


@pytest.mark.parametrize(
    ("mine", "key"),
    [
        ("[scores]\nnear = 0", "scores.near"),
        ("[scores]\npath = 3", "scores.path"),
        ("[scores]\nnaer = 4_000", "scores.naer"),
        ("[walk]\nrounds = true", "walk.rounds"),
        ("[limit]\nnear = 3", "limit"),
        ('[past]\nwords = ["Was"]', "past.words"),
        ('[roles.boss]\nword = ["boss"]', "roles.boss.word"),
        ("[roles]\nboss = 3", "roles.boss"),
        ("[nicknames]\nrobert = 3", "nicknames.robert"),
    ],
)
def test_a_bad_table_is_refused_by_its_key(mine: str, key: str) -> None:
    with pytest.raises(PolicyError) as refused:
        rules(mine)
    assert refused.value.key == key
    assert refused.value.file == "mine.toml"


def test_a_role_is_reached_by_all_its_words_and_by_inverses_where_they_fail() -> None:
    boss = rules().role("boss")
    assert {"reports_to", "has_manager", "boss"} <= boss.forward
    assert {"manager_of", "kin_boss", "manages"} <= boss.backward
    assert "manages" in boss.weak_backward
    own = rules().role("piano tuner")
    assert "has_piano_tuner" in own.forward
    assert "piano_tuner_of" in own.backward
