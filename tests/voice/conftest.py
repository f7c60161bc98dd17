"""What the tests of the spoken assistant share."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from lila_app.context import Source
from lila_app.fetching.hub import Hub
from lila_app.paths import shipped
from lila_app.speech.fetch import Means, fetch
from lila_app.speech.published import PUBLISHED
from lila_app.voice.policy import VoicePolicy, load


@pytest.fixture(scope="session")
def policy() -> VoicePolicy:
    """The shipped table."""
    path = shipped("policies") / "voice.toml"
    return load([Source(path.name, path.read_text(encoding="utf-8"))])


@pytest.fixture(scope="session")
def speech_models() -> Path:
    """A folder with whisper-base and whisper-tiny.en in it (LILA_TEST_MODELS names another)."""
    chosen = os.environ.get("LILA_TEST_MODELS", "")
    folder = Path(chosen) if chosen else Path.home() / ".cache" / "lila-tests"
    means = Means(Hub(os.environ))
    for name in ("whisper-base", "whisper-tiny.en"):
        fetch(PUBLISHED[name], folder, lambda done, total, label: None, os.environ, means)
    return folder
