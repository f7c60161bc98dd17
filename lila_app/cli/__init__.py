"""The command line: one module a noun, each imported only when it is asked for."""

from __future__ import annotations

__all__ = ["main"]


def main() -> None:
    """Run `lila`; what the console script calls."""
    from lila_app.cli.root import lila

    lila(prog_name="lila")
