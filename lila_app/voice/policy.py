"""The table of `policies/voice.toml`, as the room knows it; `lila_app.voice_policy` parses it."""

from __future__ import annotations

from lila_app.voice_policy import (
    ActivityRules,
    ChunkRules,
    Costs,
    EndpointRules,
    InterruptionRules,
    RecogniserRules,
    VoicePolicy,
    WordRules,
    load,
)

__all__ = [
    "ActivityRules",
    "ChunkRules",
    "Costs",
    "EndpointRules",
    "InterruptionRules",
    "RecogniserRules",
    "VoicePolicy",
    "WordRules",
    "load",
]
