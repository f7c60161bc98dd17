"""What happens before the first reply on a machine that has no model yet."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lila_app.cli.output import note
from lila_app.cli.progress import progress
from lila_app.errors import Cancelled

if TYPE_CHECKING:
    from lila_app.assistant import Lila


def have_model(lila: Lila, model: str | None) -> None:
    """Fetch the default model's weights if they are missing, after saying so.

    Servers already running on this machine are named first: one of them may serve the person
    better. With `model` given there is nothing to fetch.
    """
    if model is not None:
        return
    notice = lila.models.fetch_notice()
    if notice is None:
        return
    offer_servers(lila)
    note(notice)
    fetch(lila, next(known.name for known in lila.models.list() if known.default))


def fetch(lila: Lila, name: str) -> None:
    """Fetch one model's weights with progress; what came whole is kept for the next try."""
    with progress(f"fetching {name}", size=True) as report:
        try:
            lila.models.pull(name, report)
        except KeyboardInterrupt as stop:
            raise Cancelled("stopped", hint=f"`lila models pull {name}` begins again") from stop
    note(f"{name} is ready")


def offer_servers(lila: Lila) -> None:
    """Name a model server found on loopback and the command that uses it."""
    for known in lila.models.list():
        if known.kind != "embedded" and known.installed and not known.default:
            note(
                f"{known.name} is already running here: `lila models default {known.name}` uses it"
            )
            return
