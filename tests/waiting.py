"""How long a test waits, on a machine that may have other things to do."""

from __future__ import annotations

import time
from collections.abc import Callable

PATIENCE = 60.0
"""Seconds within which what must happen happens; only a failure takes as long."""

SOON = 5.0
"""Seconds for what is promised within half of one: ten times as long, because a loaded machine
may not run the test meanwhile, and still far from what would hold it up if the promise were
broken (a server that says nothing does so for 30 s)."""


def until(happened: Callable[[], bool], seconds: float = PATIENCE) -> None:
    """Wait for it, and fail if it does not come."""
    deadline = time.monotonic() + seconds
    while not happened():
        assert time.monotonic() < deadline, "it never came to pass"
        time.sleep(0.01)
