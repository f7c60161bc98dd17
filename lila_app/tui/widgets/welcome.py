"""What an empty conversation shows: what to do first."""

from __future__ import annotations

from textual.content import Content
from textual.widgets import Static

from lila_app.tui.plain import plain

_KEYS = (
    ("Enter", "send"),
    ("Ctrl+J", "new line"),
    ("Esc", "stop a reply"),
    ("F2", "earlier conversations"),
    ("F3", "what the model saw"),
    ("F1", "help"),
)


class Welcome(Static):
    """A greeting with the six keys worth knowing."""

    def __init__(self, profile: str) -> None:
        lines = [plain("Good to see you.\n", "bold")]
        if profile != "default":
            lines.append(plain(f"This is the profile {profile}.\n"))
        lines.append(plain("\nWhat you say is kept on this machine and found again later.\n\n"))
        for key, what in _KEYS:
            lines += [plain(f"{key:>8}  ", "bold"), plain(f"{what}\n")]
        super().__init__(Content("").join(lines), classes="welcome")
