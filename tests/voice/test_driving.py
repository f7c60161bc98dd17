"""What the machine decides is seen to, whatever goes wrong with a part of it."""

from __future__ import annotations

import pytest

from lila_app.voice.driving import Driver, Showing
from lila_app.voice.machine import Rules, start
from lila_app.voice.model import Action, Ask, Frame, Open, Recognised, Show
from lila_app.voice.policy import VoicePolicy
from lila_app.voice.testing import Recorder
from lila_app.voice.tracing import Tracing


class _Hands:
    """Writes down what it is to do, and fails at beginning a turn."""

    def __init__(self) -> None:
        self.done: list[Action] = []

    def do(self, action: Action, now: int) -> None:
        del now
        self.done.append(action)
        if isinstance(action, Open):
            raise ValueError("no")


class _Broken(Recorder):
    """Fails at showing what was heard."""

    def heard(self, turn: int, text: str, final: bool) -> None:
        raise ValueError(text)


def test_an_action_that_fails_keeps_no_other_from_being_done(policy: VoicePolicy) -> None:
    hands, view = _Hands(), _Broken()
    tracing = Tracing(policy.activity.ends, lambda _: None, lambda _: None)
    driver = Driver(start(Rules(policy), duplex=True), hands, Showing(view), tracing)
    driver.take(Frame(0, 950), 32)
    driver.take(Frame(1, 950), 64)
    with pytest.raises(ValueError, match="no"):
        driver.take(Frame(2, 950), 96)
    assert [type(action) for action in hands.done] == [Open, Show]
    assert view.lines == ["hearing you"]
    for number in range(3, 40):
        driver.take(Frame(number, 950 if number < 30 else 20), number * 32 + 32)
    with pytest.raises(ValueError, match="What is it"):
        driver.take(Recognised(1, 1, "What is it?"), 1_300)
    assert Ask(1, 1, "What is it?") in hands.done
