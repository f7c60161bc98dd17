"""Every key, from the bindings themselves."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from lila_app.tui.plain import plain

Section = tuple[str, Iterable[BindingType]]

_INTRODUCTION = """\
Write, press Enter, read. You may write on while LILA answers: what you send waits its turn.
An unsent message is kept when LILA ends, however it ends.
"""


class HelpScreen(ModalScreen[None]):
    """Keys by place, with the id each can be re-assigned by."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,f1,q", "dismiss(None)", "Close", id="help.close"),
    ]

    def __init__(self, sections: Iterable[Section]) -> None:
        super().__init__()
        self._sections = tuple(sections)

    def compose(self) -> ComposeResult:
        """One scrolling text."""
        with VerticalScroll(classes="dialog", can_focus=True):
            yield Static(plain("Help", "bold"))
            yield Static(help_content(self._sections))


def help_content(sections: Iterable[Section]) -> Content:
    """All bindings that say what they do, of all sections, as text."""
    parts = [plain(_INTRODUCTION)]
    for title, bindings in sections:
        parts.append(plain(f"\n{title}\n", "bold underline"))
        for binding in bindings:
            if isinstance(binding, Binding) and binding.description:
                keys = " or ".join(key_name(key) for key in binding.key.split(","))
                parts.append(plain(f"{keys:12} ", "bold"))
                parts.append(plain(binding.description))
                parts.append(plain(f"  {binding.id}\n", "dim"))
    return Content("").join(parts)


def key_name(key: str) -> str:
    """`ctrl+j` as a person says it: `Ctrl+J`."""
    names = {"pageup": "PgUp", "pagedown": "PgDn", "escape": "Esc", "delete": "Del"}
    parts = key.strip().split("+")
    return "+".join(names.get(part, part.capitalize()) for part in parts)
