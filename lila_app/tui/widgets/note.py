"""One line LILA says about itself: a notice, an error with what to do, a stopped reply."""

from __future__ import annotations

from typing import Literal

from textual.content import Content
from textual.widgets import Static

from lila_app.tui.plain import plain

Label = Literal["notice", "error", "stopped"]

_LABELS: dict[Label, str] = {"notice": "Note", "error": "Error", "stopped": "Stopped"}


class Note(Static):
    """A labelled line; the label says in words what the colour says."""

    def __init__(self, kind: Label, text: str, hint: str = "") -> None:
        parts = [plain(_LABELS[kind], "bold"), plain(f": {text}" if text else "")]
        if hint:
            parts.append(plain(f"\n{_sentence(hint)}"))
        super().__init__(Content("").join(parts), classes=f"note -{kind}")


def _sentence(hint: str) -> str:
    whole = hint if hint.endswith((".", "!", "?", "`")) else hint + "."
    return whole[:1].upper() + whole[1:]
