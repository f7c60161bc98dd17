"""The terminal front-end. Import it only to open the chat: it loads Textual."""

from __future__ import annotations

from datetime import tzinfo
from typing import TYPE_CHECKING

from lila_app.tui.facade import Assistant

if TYPE_CHECKING:
    from lila_app.tui.talking import Voice

__all__ = ["Assistant", "run"]


def run(
    lila: Assistant,
    *,
    session: str | None = None,
    model: str | None = None,
    zone: tzinfo | None = None,
    voice: Voice | None = None,
) -> int:
    """Open the chat and return the exit code when the person leaves; raises what broke the app.

    `session` is the id of the conversation to open, None begins a new one; `model` answers instead
    of the default; times are shown in `zone` (None: the machine's own); `voice` is how one talks
    with LILA beside the chat.
    """
    import logging

    from lila_app.tui.app import LilaApp
    from lila_app.tui.native_output import quiet_native_stderr
    from lila_app.tui.terminal_keys import accept_alt_enter

    # Python prints warnings of loggers nobody listens to on stderr, which is the screen here.
    logging.getLogger("lila_app").addHandler(logging.NullHandler())
    accept_alt_enter()
    app = LilaApp(lila, session=session, model=model, zone=zone, voice=voice)
    with quiet_native_stderr():
        app.run()
    if app.broken is not None:
        raise app.broken
    return app.return_code or 0
