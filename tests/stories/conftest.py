"""The same assistant on an empty home that tests/assistant uses."""

from __future__ import annotations

from tests.assistant.conftest import clock, lila, open_again, provider

__all__ = ["clock", "lila", "open_again", "provider"]
