from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import lila_app
from lila_app.cli.root import lila
from tests.cli.fake import FakeLila, opener

Say = Callable[..., Result]


@pytest.fixture
def fake(home: Path, monkeypatch: pytest.MonkeyPatch) -> FakeLila:
    made = FakeLila()
    monkeypatch.setattr(lila_app, "open", opener(made), raising=False)
    return made


@pytest.fixture
def say(fake: FakeLila) -> Say:
    """Runs a command line against the fake; standard input is empty unless given."""

    def run(*args: str, stdin: str | bytes = b"") -> Result:
        return CliRunner().invoke(lila, args, input=stdin)

    return run
