"""What `lila policy check` finds doubtful."""

from __future__ import annotations

from lila_app.assistant import Lila


def test_the_shipped_tables_are_in_order(lila: Lila) -> None:
    assert lila.policy.check() == ()


def test_a_file_whose_name_is_no_table_is_named_with_the_one_that_was_meant(lila: Lila) -> None:
    lila.home.policies_dir.joinpath("alocation.toml").write_text("")
    (found,) = lila.policy.check()
    assert "alocation.toml is not read" in found
    assert "did you mean allocation.toml?" in found


def test_a_table_under_which_nothing_can_be_asked_is_named_with_its_use_case(lila: Lila) -> None:
    lila.home.policies_dir.joinpath("allocation.toml").write_text("[chat]\nbudget = 50\n")
    (found,) = lila.policy.check()
    assert found.startswith("chat: no question can be asked")
