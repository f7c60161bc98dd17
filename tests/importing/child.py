"""An import in a process of its own, to be killed; says after each batch how far it is."""

from __future__ import annotations

import sys
from pathlib import Path
from zoneinfo import ZoneInfo

from lila_app.importing.running import Choice, Watch, run
from lila_app.storage.connection import Store


def main(database: str, path: str) -> None:
    def progress(_done: int, _total: int, label: str) -> None:
        print(label, flush=True)

    watch = Watch(progress, lambda _: None, lambda: False, lambda: "2026-11-30T08:00:00+00:00")
    with Store.open(Path(database)) as store:
        run(store, Path(path), Choice(ZoneInfo("UTC")), watch)
    print("done", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
