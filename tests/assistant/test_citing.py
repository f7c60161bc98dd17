"""The sources a reply names are held against what it was given."""

from __future__ import annotations

import asyncio

import pytest

from lila_app.assistant import Lila
from lila_app.citing import Citations, check, cited
from lila_app.events import Done, Notice
from lila_app.testing import ScriptedProvider
from tests.assistant.conftest import collect

GIVEN = {"d4.3", "m12", "t9"}


@pytest.mark.parametrize(
    ("reply", "ids"),
    [
        ("It is the pump [d4.3].", ("d4.3",)),
        ("The pump [d4.3, House › Boiler, line 12, 2026-11-30] is old.", ("d4.3",)),
        ("Both say so [m12; t9] and [d4.3][m12].", ("m12", "t9", "d4.3")),
        ("As you said [see m12 and t9].", ("m12", "t9")),
        ("【d4.3】 and [source: r7]", ("d4.3", "r7")),
        ("The reading [d4.3, Gas use in m3, line 4] rose.", ("d4.3",)),
        ("The whole manual [d4]", ("d4",)),
        ("A link [d4.3](file:///manual.md)", ("d4.3",)),
        ("Nothing [here], (m12), [1], [d4.3.2], [m12x], [ d ]", ()),
        ("Code: `a[t1]`, x[t2] and\n```\nrow = [m3]\n```\n", ()),
        ("~~~\n[m3]\n", ()),
    ],
)
def test_ids_are_read_where_a_reply_names_its_sources(reply: str, ids: tuple[str, ...]) -> None:
    assert cited(reply) == ids


def test_a_name_is_given_or_from_earlier_or_made_up() -> None:
    found = check("So it is [d4.3] [d4] [d8.1] [m99] [m12].", GIVEN, ["Look at [d8.1]."])
    assert found == Citations(("d4.3", "d4", "m12"), ("d8.1",), ("m99",))
    assert "m99" in found.notice
    assert not check("So it is [d4.3].", GIVEN).notice


def _events(lila: Lila, provider: ScriptedProvider, reply: str) -> tuple[list[str], str]:
    provider.enqueue(reply)
    events = asyncio.run(collect(lila, "Where does the ferry to Cacilhas leave from?"))
    done = events[-1]
    assert isinstance(done, Done)
    return [event.text for event in events if isinstance(event, Notice)], done.record_id


def test_a_turn_says_which_named_source_the_model_was_not_given(
    lila: Lila, provider: ScriptedProvider
) -> None:
    kept = lila.memory.add("The ferry to Cacilhas leaves from Cais do Sodré")
    notices, record = _events(lila, provider, f"From Cais do Sodré [{kept.id}], daily [d9.9].")
    assert [notice for notice in notices if "d9.9" in notice and kept.id not in notice]
    found = lila.contexts.citations(record)
    assert found is not None
    assert (found.given, found.earlier, found.unknown) == ((kept.id,), (), ("d9.9",))


def test_nothing_is_said_of_sources_the_model_had(lila: Lila, provider: ScriptedProvider) -> None:
    kept = lila.memory.add("The ferry to Cacilhas leaves from Cais do Sodré")
    notices, _ = _events(lila, provider, f"From Cais do Sodré [{kept.id}].")
    assert not notices


def test_after_a_forgetting_the_citations_of_a_reply_are_gone_with_its_prompt(
    lila: Lila, provider: ScriptedProvider
) -> None:
    kept = lila.memory.add("The ferry to Cacilhas leaves from Cais do Sodré")
    _, record = _events(lila, provider, f"Sure [{kept.id}].")
    lila.memory.forget(kept.id)
    assert lila.contexts.citations(record) is None
