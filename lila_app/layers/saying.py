"""How a turn of the past reads: who said what, by name where there is one."""

from __future__ import annotations

from lila_app.layers.conversation import reply_text
from lila_app.storage.turns import TurnRow

ME, LILA, OTHER = "They", "LILA", "Assistant"
"""The person; LILA; whichever assistant answered in a chat that was imported."""


def said(row: TurnRow) -> str:
    """The turn's words under the names of those who said them.

    What came from elsewhere may be a message nobody answered, or one of an assistant alone; only of
    what was said to LILA does it say that no reply was given.
    """
    elsewhere = bool(row.source or row.speaker)
    lines = [f"{row.speaker or ME}: {row.user}"] if row.user or not elsewhere else []
    if row.reply or not elsewhere:
        lines.append(f"{OTHER if row.source else LILA}: {reply_text(row)}")
    return "\n".join(lines)
