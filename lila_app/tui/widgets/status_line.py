"""The bottom line: which model, how full the context is, what came from the cache, what goes on."""

from __future__ import annotations

from textual.app import RenderResult
from textual.reactive import reactive
from textual.widget import Widget

from lila_app.tui.plain import one_line, plain
from lila_app.tui.session_model import Status

_HINT = "F1 help"


class StatusLine(Widget):
    """One line; the least important parts go first when there is no room."""

    status: reactive[Status] = reactive(Status())
    seconds: reactive[int | None] = reactive[int | None](None)

    def __init__(self) -> None:
        super().__init__(id="status", name="Status")

    def render(self) -> RenderResult:
        """The line at the width there is."""
        return plain(status_text(self.status, self.seconds, self.size.width))


def status_text(status: Status, seconds: int | None, width: int) -> str:
    """State first, since it is what one looks for; then model, context, cache; the hint right."""
    state = str(status.phase)
    if seconds is not None:
        state += f" {seconds} s"
    parts = [state]
    if status.voice:
        parts.append(f"voice: {status.voice}")
    if status.model:
        parts.append(one_line(status.model.rsplit("/", 1)[-1], 28))
    if status.used is not None and status.limit is not None:
        parts.append(f"context {status.used:,}/{status.limit:,}")
    if status.prompt is not None:
        missed = ", promised: `lila cache report`" if status.missed else ""
        parts.append(f"cached {_tokens(status.cached)}/{status.prompt:,}{missed}")
    while len(parts) > 1 and len(" · ".join(parts)) > width:
        parts.pop()
    left = " · ".join(parts)
    gap = width - len(left) - len(_HINT)
    return left + " " * gap + _HINT if gap >= 2 else left


def _tokens(number: int | None) -> str:
    return "?" if number is None else f"{number:,}"
