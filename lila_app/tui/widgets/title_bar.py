"""The top line: whose program this is, which conversation, which profile."""

from __future__ import annotations

from textual.app import RenderResult
from textual.content import Content
from textual.reactive import reactive
from textual.widget import Widget

from lila_app.tui.plain import one_line, plain


class TitleBar(Widget):
    """One line."""

    conversation: reactive[str] = reactive("")

    def __init__(self, profile: str) -> None:
        super().__init__(id="title", name="Title")
        self._profile = profile

    def render(self) -> RenderResult:
        """LILA, the conversation, and the profile at the right."""
        right = f"profile {self._profile}"
        room = max(self.size.width - len(right) - 10, 8)
        middle = one_line(self.conversation or "new conversation", room)
        gap = max(self.size.width - 6 - len(middle) - len(right), 1)
        return Content("").join(
            [plain("LILA", "bold"), plain(f"  {middle}{' ' * gap}"), plain(right, "dim")]
        )
