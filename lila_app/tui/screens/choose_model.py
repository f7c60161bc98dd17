"""The first start when another model could answer at once: fetch, take that one, or neither."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from lila_app.tui.plain import plain
from lila_app.tui.weights import Missing


class ChooseModelScreen(ModalScreen[str | None]):
    """The name of the model to take, the missing one's own name to fetch it, or None."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "later", "Not now", id="models.later"),
    ]

    def __init__(self, missing: Missing) -> None:
        super().__init__(classes="small-dialog")
        self._missing = missing

    def compose(self) -> ComposeResult:
        """The sentence and the ways."""
        with Vertical(classes="dialog"):
            yield Static(plain(self._missing.notice), classes="question")
            yield OptionList(
                Option(plain(f"Fetch {self._missing.name}")),
                *(Option(plain(f"Use {name}, which is here")) for name in self._missing.others),
                Option(plain("Not now")),
                id="ways",
                markup=False,
            )

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """The person chose."""
        event.stop()
        ways = (self._missing.name, *self._missing.others, None)
        self.dismiss(ways[event.option_index])

    def action_later(self) -> None:
        """Escape."""
        self.dismiss(None)
