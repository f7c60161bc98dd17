"""The same model that tests/assistant uses; a model that may help with memory."""

from __future__ import annotations

from tests.assistant.conftest import provider

__all__ = ["provider"]

CAPABLE = '[limits."scripted/test"]\nwindow = 100_000\ncontext_budget = 50_000\ncapable = true\n'
