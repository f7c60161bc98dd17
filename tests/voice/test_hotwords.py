"""Names that are likely to be said: those that came up most and last, read ahead."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from lila_app.afterwards import Afterwards
from lila_app.assistant import Lila, open_lila
from lila_app.testing import FakeClock, ScriptedProvider
from lila_app.voice.hotwords import Hotwords


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def lila(home: Path, clock: FakeClock, monkeypatch: pytest.MonkeyPatch) -> Iterator[Lila]:
    monkeypatch.setattr(Afterwards, "_embed", lambda *_: None)
    with open_lila(home, provider=ScriptedProvider(), clock=clock) as opened:
        opened._resources.learns = False
        yield opened


def names(lila: Lila, limit: int = 40) -> list[str]:
    return list(lila.spoken.names(limit))


def test_names_alternate_between_most_often_and_last(lila: Lila, clock: FakeClock) -> None:
    for about in ("Porto", "Lisbon", "Faro"):
        lila.graph.add("Anneke", "visited", about)
        clock.advance(60)
    lila.graph.add("Joris", "lives in", "Utrecht")
    # Anneke came up three times, all others once; the last are Joris and Utrecht.
    assert names(lila)[:3] == ["Anneke", "Utrecht", "Porto"]
    assert sorted(names(lila)) == sorted(
        ["Anneke", "Porto", "Lisbon", "Faro", "Joris", "Utrecht"]
    ), "each once"
    assert names(lila, 2) == ["Anneke", "Utrecht"]
    assert names(lila, 0) == []


def test_what_is_no_name_is_not_among_them(lila: Lila) -> None:
    lila.graph.add("Anneke", "likes", "green tea")
    assert names(lila) == ["Anneke"]


def test_two_that_were_found_to_be_one_come_up_as_one(lila: Lila) -> None:
    lila.graph.add("Anneke de Vries", "lives in", "Utrecht")
    lila.graph.add("Anneke", "works at", "Maasveer")
    lila.graph.merge("Anneke de Vries", "Anneke")
    assert "Anneke" not in names(lila) and "Anneke de Vries" in names(lila)


async def test_lila_s_own_name_comes_first_and_counts(lila: Lila) -> None:
    for number in range(5):
        lila.graph.add(f"Anna{number}", "knows", f"Bert{number}")
    hotwords = Hotwords(lila, 4)
    assert hotwords.text == "Lila"
    await hotwords.refresh()
    first, *others = hotwords.text.split(", ")
    assert first == "Lila" and len(others) == 3


async def test_they_follow_what_is_learned_and_what_is_forgotten(lila: Lila) -> None:
    hotwords = Hotwords(lila, 40)
    await hotwords.refresh()
    relation = lila.graph.add("Zebulon", "lives in", "Utrecht")
    hotwords.refresh_later()
    await hotwords.close()
    assert "Zebulon" in hotwords.text
    lila.graph.forget(relation.id)
    hotwords.refresh_later()
    await hotwords.close()
    assert hotwords.text == "Lila"


async def test_memory_is_read_again_only_where_it_changed(
    lila: Lila, monkeypatch: pytest.MonkeyPatch
) -> None:
    lila.graph.add("Anneke", "lives in", "Utrecht")
    hotwords = Hotwords(lila, 40)
    await hotwords.refresh()

    def asked(limit: int) -> tuple[str, ...]:
        raise AssertionError("nothing changed")

    monkeypatch.setattr(lila.spoken, "names", asked)
    await hotwords.refresh()
    await asyncio.sleep(0)
    assert "Anneke" in hotwords.text
