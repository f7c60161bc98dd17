"""A part of the sound that is away for more than one reason."""

from __future__ import annotations

import pytest

from lila_app.voice.away import Away
from lila_app.voice.model import Back, Lost

UNPLUGGED = Lost("microphone", "it was unplugged")
HANGS = Lost("microphone", "its model does not answer", gone=False)
SPEAKER = Lost("speaker", "the sound server ended")


class Taken:
    def __init__(self) -> None:
        self.events: list[Lost | Back] = []
        self.told: list[str] = []
        self.away = Away(self.events.append, lambda text, hint: self.told.append(text))


@pytest.fixture
def taken() -> Taken:
    return Taken()


def test_it_is_back_once_the_last_reason_is_over(taken: Taken) -> None:
    taken.away.lost("model", HANGS)
    assert taken.away.known("microphone", "model")
    taken.away.lost("card", UNPLUGGED)
    assert taken.events[-1] == UNPLUGGED
    assert taken.told == ["it was unplugged"], "of the first, the machine tells itself"
    taken.away.back("card", Back("microphone", duplex=True))
    assert taken.events[-1] == HANGS, "the device is there, and hears nobody"
    taken.away.back("model", Back("microphone", duplex=True))
    assert taken.events[-1] == Back("microphone", duplex=True)
    assert not taken.away.known("microphone", "model")
    assert sum(isinstance(event, Back) for event in taken.events) == 1


def test_a_device_that_is_gone_is_gone_whatever_else_is_wrong(taken: Taken) -> None:
    taken.away.lost("card", UNPLUGGED)
    taken.away.lost("model", HANGS)
    last = taken.events[-1]
    assert isinstance(last, Lost) and last.gone
    taken.away.back("model", Back("microphone"))
    assert taken.events[-1] == UNPLUGGED


def test_another_reason_of_the_same_kind_is_told_too(taken: Taken) -> None:
    taken.away.lost("card", Lost("microphone", "it is muted", gone=False))
    for _ in range(2):
        taken.away.lost("card", UNPLUGGED)
    assert taken.told == ["it was unplugged"]
    taken.away.back("card", Back("microphone"))
    assert taken.events[-1] == Back("microphone")


def test_one_part_is_not_the_other(taken: Taken) -> None:
    taken.away.lost("model", HANGS)
    taken.away.lost("card", SPEAKER)
    taken.away.back("card", Back("speaker"))
    assert taken.events == [HANGS, SPEAKER, Back("speaker")]
    assert taken.told == []


def test_what_is_only_another_device_is_handed_on(taken: Taken) -> None:
    taken.away.back("card", Back("microphone", duplex=True))
    assert taken.events == [Back("microphone", duplex=True)]
