"""`python -m lila_app` is `lila`."""

from __future__ import annotations

from lila_app.cli import main

if __name__ == "__main__":
    main()
