"""Messages typed while LILA answers, in the order in which they will be sent."""

from __future__ import annotations

from textual.content import Content
from textual.widgets import Static

from lila_app.tui.plain import one_line, plain

_SHOWN = 3


class WaitingList(Static):
    """Hidden while nothing waits."""

    def __init__(self) -> None:
        super().__init__(plain(""), id="waiting", name="Waiting messages")
        self.display = False
        self._texts: tuple[str, ...] = ()

    def say(self, texts: tuple[str, ...]) -> None:
        """Show what waits; asked often, painted only when it changed."""
        if texts == self._texts:
            return
        self._texts = texts
        self.display = bool(texts)
        lines = [plain("Next (Esc takes back): ", "bold")]
        lines.append(plain("\n".join(one_line(text, 70) for text in texts[:_SHOWN])))
        if len(texts) > _SHOWN:
            lines.append(plain(f"\nand {len(texts) - _SHOWN} more"))
        self.update(Content("").join(lines))
