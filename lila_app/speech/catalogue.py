"""The speech models a person can choose from, and what to say about each."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from lila_app.paths import expanded
from lila_app.speech.models import present
from lila_app.speech.published import BASE, PUBLISHED, TINY_EN, Published
from lila_app.views import ModelInfo

KIND = "speech"

_NOTES = {
    BASE.name: "reads your speech, in about a hundred languages",
    TINY_EN.name: "reads English speech alone, in half the time and with more mistakes",
}


def catalogue(models_dir: Path, environ: Mapping[str, str], chosen: str) -> tuple[ModelInfo, ...]:
    """The models that are here, the two LILA is set to take, and the one that is `chosen`."""
    rows = [
        _row(model, present(model, models_dir, environ) is not None, chosen)
        for model in PUBLISHED.values()
    ]
    listed = [row for row in rows if row.installed or row.default or row.name in _NOTES]
    if chosen not in PUBLISHED:
        here = expanded(chosen).is_dir()
        note = "a folder of yours, chosen to read your speech" if here else "chosen, but not here"
        listed.append(ModelInfo(chosen, KIND, here, True, note))
    return tuple(listed)


def _row(model: Published, here: bool, chosen: str) -> ModelInfo:
    note = _NOTES.get(model.name, "reads your speech")
    if not here:
        size = f" {round(model.size / 1_000_000)} MB" if model.size else " it"
        note = f"{note}. Not here yet: `lila models pull {model.name}` fetches{size}"
    return ModelInfo(model.name, KIND, here, model.name == chosen, note)
