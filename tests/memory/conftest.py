"""The same model and embedder that tests/assistant uses; a model that may help with memory."""

from __future__ import annotations

from tests.assistant.conftest import embedder, provider

__all__ = ["embedder", "provider"]

CAPABLE = '[limits."scripted/test"]\nwindow = 100_000\ncontext_budget = 50_000\ncapable = true\n'
