"""The running app, typed."""

from __future__ import annotations

from typing import cast

from textual.app import App
from textual.message_pump import MessagePump


def host(node: MessagePump) -> App[None]:
    """The app `node` belongs to."""
    # Textual leaves the type parameter of `app` open.
    return cast("App[None]", node.app)  # pyright: ignore[reportUnknownMemberType]
