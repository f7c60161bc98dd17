"""LILA: a local-first assistant for one person that can say what its model saw, and what not.

import lila_app
with lila_app.open() as lila:
    print(lila.preview("What should I feed my pet?").text)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lila_app.version import VERSION as __version__

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from lila_app.assistant import Lila
    from lila_app.views import Progress

__all__ = ["__version__", "open"]


def open(
    home: Path | str | None = None,
    profile: str = "default",
    *,
    progress: Progress | None = None,
    keys: Mapping[str, str] | None = None,
) -> Lila:
    """Open the assistant of one profile; a context manager. Raises LilaError.

    `home` is where everything lives; None takes LILA_HOME, else the platform's folders.
    `progress` is told how far the filling of the sample profile is, on its first use. `keys` are
    keys of model providers by name, before those in the environment and those that are kept.
    """
    from lila_app.assistant import open_lila

    return open_lila(home, profile, progress=progress, keys=keys)
