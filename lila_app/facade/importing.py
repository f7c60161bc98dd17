"""`lila.imports`: conversations from elsewhere."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from datetime import tzinfo
from pathlib import Path
from zoneinfo import ZoneInfo

from lila_app import moments, settings
from lila_app.errors import ConfigError, UsageError
from lila_app.importing import running
from lila_app.importing.model import Format, Skip
from lila_app.importing.running import Choice, Outcome, Watch
from lila_app.importing.sources import is_own_export
from lila_app.paths import Home
from lila_app.privacy import key as vault_key
from lila_app.resources import Resources
from lila_app.storage import imports, vault, vectors
from lila_app.storage.connection import Store
from lila_app.views import Progress
from lila_app.views.importing import (
    Coverage,
    Following,
    ImportInfo,
    ImportReport,
    ImportStatus,
    RestoreReport,
    SkipInfo,
)

FORMATS: tuple[Format, ...] = ("chatgpt", "claude", "markdown", "jsonl")

Named = Callable[[SkipInfo], None]


class Importing:
    """Imports into one profile."""

    def __init__(self, resources: Resources) -> None:
        self._resources = resources

    def run(
        self,
        path: Path | str,
        *,
        kind: str | None = None,
        source: str = "",
        zone: tzinfo | None = None,
        learn: bool = True,
        progress: Progress | None = None,
        named: Named | None = None,
    ) -> ImportReport:
        """Import a file, zip or folder; going on where an earlier run ended, adding nothing twice.

        `kind` is one of `FORMATS`, found out by looking where it is None. `source` names what ids
        of JSONL and Markdown belong to, the path's last part by default. `zone` is that of times
        without one in JSONL and Claude's export, which are refused else. Without `learn` nothing is
        learned from it. Vectors follow in the background. Raises LilaError; what was imported by
        then stays.
        """
        if is_export(Path(path)):
            raise UsageError(
                f"{path} is an export of LILA's own",
                hint="it is put back with `imports.restore`, which `lila import` does",
            )
        resources = self._resources
        kept = resources.privacy.kept if resources.privacy.storing else None
        choice = Choice(resources.settings.zone, _format(kind), source, zone, learn, kept=kept)
        watch = _watch(progress, named, lambda: moments.stored(resources.clock()))
        try:
            return _report(running.run(resources.store, Path(path), choice, watch))
        finally:
            resources.learn()

    def restore(self, path: Path | str, *, progress: Progress | None = None) -> RestoreReport:
        """Put an export of LILA's own into this profile, which must be empty. Raises LilaError.

        An export never holds the vault's key: where values in it are hidden with one that is not
        here, the report's `warning` says so.
        """
        from lila_app.storage import restoring

        rows = restoring.restore(self._resources.store, Path(path), progress or _quiet)
        self._resources.learn()
        return RestoreReport(str(path), rows, self._warning())

    def _warning(self) -> str:
        resources = self._resources
        privacy = resources.privacy
        held = vault.size(resources.store)
        if not held:
            return ""
        try:
            unreadable = privacy.vault.unreadable
            found = f"the key that is here reads {held - unreadable:,} of {held:,} of them"
        except ConfigError as error:
            unreadable, found = held, error.message
        if not unreadable:
            return ""
        place = resources.home.config_dir / vault_key.FILE
        return (
            "values are hidden in it behind placeholders, and the key that shows them is in no "
            f"export ({found}). Copy config/{vault_key.FILE} of the home it comes from to {place}, "
            "or take the key from that machine's keyring; or `lila privacy reset` empties the "
            "vault, and the placeholders stay for good"
        )

    def following(self) -> Following:
        """What is left to do for what was said, by this LILA's settings; 0.1 s for a million."""
        learns = self._resources.learns
        turns = imports.unlearned(self._resources.store) if learns else 0
        return Following(self.coverage().missing, turns)

    def status(self) -> ImportStatus:
        """Every source, and how far vectors and learning are."""
        store = self._resources.store
        return ImportStatus(
            tuple(_info(row) for row in imports.list_imports(store)),
            self.coverage(),
            imports.unlearned(store),
        )

    def coverage(self, table: vectors.Table = "turns") -> Coverage:
        """How many turns (or memories) can be found by meaning; costs 0.1 s for a million."""
        model = self._resources.embedder.model_id
        return Coverage(*vectors.coverage(self._resources.store, table, model))


def is_export(path: Path) -> bool:
    """Whether a path is an export of LILA's own, which is put back and not read as messages."""
    return is_own_export(path.expanduser())


def rehearse_restore(path: Path) -> RestoreReport:
    """What an export of LILA's own would put back; rows a file, without the messages told twice."""
    from lila_app.storage import portable, restoring

    rows = restoring.told(path)
    return RestoreReport(str(path), tuple(row for row in rows if row[0] != portable.MESSAGES))


def rehearse(
    home: Home,
    profile: str,
    path: Path,
    *,
    kind: str | None = None,
    source: str = "",
    zone: tzinfo | None = None,
    progress: Progress | None = None,
    named: Named | None = None,
) -> ImportReport:
    """Count what an import would do; nothing is opened for writing, no store is made."""
    own: ZoneInfo = settings.load(home).zone
    choice = Choice(own, _format(kind), source, zone, dry=True)
    watch = _watch(progress, named, lambda: moments.stored(moments.system_clock()))
    file = home.profile_db(profile)
    if not file.exists():
        return _report(running.run(None, path, choice, watch))
    with Store.open(file, read_only=True) as store:
        return _report(running.run(store, path, choice, watch))


def _format(kind: str | None) -> Format | None:
    if kind is None:
        return None
    for one in FORMATS:
        if one == kind:
            return one
    raise UsageError(f"{kind!r} is no format", hint=f"use one of {', '.join(FORMATS)}")


def _watch(progress: Progress | None, named: Named | None, clock: Callable[[], str]) -> Watch:
    def name(skip: Skip) -> None:
        if named is not None:
            named(_skip(skip))

    return Watch(progress or _quiet, name, lambda: False, clock)


def _quiet(_done: int, _total: int, _label: str) -> None:
    """For callers that do not watch."""


def _skip(skip: Skip) -> SkipInfo:
    return SkipInfo(**asdict(skip))


def _report(outcome: Outcome) -> ImportReport:
    return ImportReport(
        outcome.path,
        outcome.kind,
        outcome.sessions,
        outcome.messages,
        outcome.known,
        outcome.skipped,
        outcome.resumed_at,
        outcome.seconds,
        tuple(outcome.reasons.most_common()),
        tuple(_skip(one) for one in outcome.named),
        tuple(outcome.besides.most_common()),
    )


def _info(row: imports.ImportRow) -> ImportInfo:
    return ImportInfo(
        row.id,
        row.path,
        row.kind,
        row.sessions,
        row.messages,
        row.skipped,
        row.position,
        row.state,
        row.at,
        row.last_at,
    )
