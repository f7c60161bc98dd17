"""What no front-end checked is refused with a sentence, whichever door it comes in by."""

from collections.abc import Callable

import pytest

from lila_app.assistant import Lila
from lila_app.errors import UsageError

HALF = "caf\udcff"  # what Python makes of an argument that is not UTF-8


@pytest.mark.parametrize(
    "ask",
    [
        lambda lila: lila.preview(HALF),
        lambda lila: lila.memory.search(HALF),
        lambda lila: lila.sessions.search(HALF),
        lambda lila: lila.graph.show(HALF),
        lambda lila: lila.goals.set(HALF),
        lambda lila: lila.sessions.append(None, "user", HALF),
    ],
)
def test_text_that_utf8_cannot_carry_is_refused(lila: Lila, ask: Callable[[Lila], object]) -> None:
    with pytest.raises(UsageError, match="UTF-8"):
        ask(lila)


@pytest.mark.parametrize(
    "time",
    [
        "0001-01-01T00:00:00+14:00",
        "9999-12-31T23:59:59-14:00",
        "2026-11-30T08:00:00",
        "2026-13-01T08:00:00Z",
        "soon",
    ],
)
def test_a_time_that_is_none_or_has_no_place_in_every_zone_is_refused(
    lila: Lila, time: str
) -> None:
    with pytest.raises(UsageError, match="time"):
        lila.preview("hello", now=time)
    with pytest.raises(UsageError, match="time"):
        lila.graph.add("Ann", "knows", "Ben", valid_from=time)


def test_a_day_that_does_not_exist_is_no_time(lila: Lila) -> None:
    with pytest.raises(UsageError, match="2026-02-30"):
        lila.graph.add("Ann", "knows", "Ben", valid_from="2026-02-30")


def test_a_session_for_an_unknown_use_case_is_not_started(lila: Lila) -> None:
    with pytest.raises(UsageError, match="nope"):
        lila.sessions.create("A title", use_case="nope")
    assert lila.sessions.list() == ()
