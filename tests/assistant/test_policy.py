"""What `lila policy check` finds doubtful."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lila_app import boundaries
from lila_app.assistant import Lila
from lila_app.boundaries import TITLE
from lila_app.errors import PolicyError


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


def test_a_chain_with_a_name_that_leads_nowhere_is_named(lila: Lila) -> None:
    lila.home.policies_dir.joinpath("gateway.toml").write_text(
        '[jobs]\nsummary = ["anthropic/claude-haiku-5-5", "olama/qwen3"]\n'
    )
    (found,) = lila.policy.check()
    assert found == (
        "gateway.toml: jobs.summary: no provider is called 'olama'; did you mean ollama/qwen3?"
    )


def test_every_boundary_is_listed_with_its_schema_its_model_and_its_checks(lila: Lila) -> None:
    listed = {one.name: one for one in lila.policy.boundaries()}
    summary = listed["conversation summary"]
    assert summary.schema == "assets/schemas/conversation-summary.json"
    assert summary.job == "summary" and "/" in summary.model and summary.checks
    assert listed["arguments of memory_add"].schema == "assets/schemas/tool-memory_add.json"


def test_a_schema_no_strict_mode_can_express_is_named_by_the_check(
    lila: Lila, monkeypatch: pytest.MonkeyPatch
) -> None:
    endless = replace(TITLE, schema="context-record")
    monkeypatch.setattr(boundaries, "DECLARED", (endless,))
    assert any(
        "context-record.json" in line and "numeric ranges" in line for line in lila.policy.check()
    )


def test_a_wrong_table_of_the_voice_is_named(lila: Lila) -> None:
    lila.home.policies_dir.joinpath("voice.toml").write_text("[endpoint]\nwiat = 1\n")
    with pytest.raises(PolicyError, match=r"endpoint\.wiat"):
        lila.policy.check()


def test_the_table_of_the_voice_is_shown_as_it_is_in_force(lila: Lila) -> None:
    lila.home.policies_dir.joinpath("voice.toml").write_text("[endpoint]\nwait = 600\n")
    shown = lila.policy.show()
    assert shown["voice"]["endpoint"]["wait"] == 600
    assert [file.endswith("voice.toml") for file in shown["files"]].count(True) == 2
