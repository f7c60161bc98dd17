"""`lila.privacy`: what is found, what is held and where, who is told what."""

from __future__ import annotations

from collections.abc import Mapping

from lila_app.errors import ConfigError
from lila_app.facade.contexts import Contexts
from lila_app.models import on_this_machine
from lila_app.privacy.rules import Sink
from lila_app.privacy.spans import ALWAYS, KINDS, Kind
from lila_app.resources import Resources
from lila_app.sending import as_request
from lila_app.storage import backup
from lila_app.storage import vault as table
from lila_app.views.privacy import Count, Found, PrivacyReport, SinkInfo, Trial, WirePiece

NEVER = (
    "Recall is never 1: what nothing recognises is neither counted here nor replaced. What must "
    "not leave this machine belongs to a model on this machine."
)

LOOKED_AT = 2_000
"""Texts of each kind a report looks through unless it is told to take all: some seconds."""

_EVERY: frozenset[Kind] = frozenset(KINDS) | ALWAYS


class PrivacyRules:
    """Privacy of one profile."""

    def __init__(self, resources: Resources) -> None:
        self._resources = resources
        self._privacy = resources.privacy

    def test(self, text: str, *, names: bool = True) -> Trial:
        """What would become of a text; nothing is kept of it.

        Without `names` the model of language is not asked, which otherwise takes some seconds the
        first time.
        """
        from lila_app.privacy.detection import NAMED, Detector
        from lila_app.privacy.redaction import Redactor
        from lila_app.privacy.spans import resolved
        from lila_app.privacy.trying import TrialVault

        privacy, rules = self._privacy, self._privacy.rules
        wire, storage = rules.wire.kinds, rules.storage.kinds
        every = _EVERY if names else (_EVERY - NAMED) | wire | storage
        detector = Detector(rules)
        redactor = Redactor(detector, TrialVault(privacy.vault))
        found = (*detector.find(text, every), *privacy.vault.spans(text, every))
        # A sink looks for its own kinds alone: a longer find of another kind takes nothing from it.
        spans = resolved(
            (one for one in found if one.kind in wire),
            (one for one in found if one.kind in storage),
            found,
        )
        sent = redactor.redacted(text, wire)
        restored = redactor.restored(sent) if wire else sent
        return Trial(
            tuple(
                Found(
                    one.start,
                    one.end,
                    one.kind,
                    text[one.start : one.end],
                    one.kind in wire,
                    one.kind in storage,
                )
                for one in spans
            ),
            sent,
            redactor.redacted(text, storage),
            restored,
            restored == text,
        )

    def report(self, *, whole: bool = False) -> PrivacyReport:
        """What is held where, and who is told what; `whole` looks through every text.

        Asks no provider; for where the vault's key lies it asks the keyring.
        """
        resources, privacy = self._resources, self._privacy
        rules = privacy.rules
        looked, held = self._held(None if whole else LOOKED_AT)
        remote, local = self._models()
        counts, unreadable, key = self._vault()
        with resources.store.read() as connection:
            backups = tuple(map(str, backup.known(connection, resources.store.path)))
        return PrivacyReport(
            sinks=(
                _sink("wire", rules.wire, "request bodies to models that are not on this machine"),
                _sink("storage", rules.storage, f"what is kept in {resources.store.path}"),
            ),
            held=held,
            texts=looked,
            vault=tuple(Count("vault", kind, 0, number) for kind, number in sorted(counts.items())),
            unreadable=unreadable,
            key=key,
            remote=remote,
            local=local,
            store=str(resources.store.path),
            backups=backups,
            files=rules.files,
            note=NEVER,
        )

    def wire(self, record: str = "last") -> tuple[WirePiece, ...]:
        """The messages of a record's prompt as a model on the network is sent them.

        Under the rules in force now. Raises NotFoundError where the prompt is erased.
        """
        context = Contexts(self._resources).context(record)
        request = as_request(context, context.record["meta"]["use_case"])
        texts, _ = self._privacy.screened([one.content for one in request.messages], add=False)
        return tuple(
            WirePiece(one.role, text) for one, text in zip(request.messages, texts, strict=True)
        )

    def reset(self) -> int:
        """Empty the vault; how many entries there were. What holds placeholders keeps them."""
        return self._privacy.vault.clear()

    def _vault(self) -> tuple[Mapping[Kind, int], int, str]:
        """Values by kind, how many nobody can read, and where the key lies or what is wrong."""
        vault = self._privacy.vault
        try:
            return vault.counts(), vault.unreadable, self._privacy.key.where()
        except ConfigError as error:
            return {}, table.size(self._resources.store), error.message

    def _held(self, limit: int | None) -> tuple[int, tuple[Count, ...]]:
        """Counts of what patterns find surely, and of placeholders, a place and a kind."""
        from lila_app.privacy.detection import Detector
        from lila_app.privacy.placeholders import LABELS
        from lila_app.privacy.spans import SURE, resolved

        detector, store = Detector(self._privacy.rules), self._resources.store
        plain: dict[tuple[str, str], int] = {}
        looked = 0
        for place, text in table.texts(store, limit):
            looked += 1
            for one in resolved(detector.find(text, frozenset(SURE))):
                plain[place, one.kind] = plain.get((place, one.kind), 0) + 1
        with store.read() as connection:
            found = table.places(connection) if self._privacy.restoring else {}
        kinds: Mapping[str, str] = {label: kind for kind, label in LABELS.items()}
        replaced = {
            (place, kinds[label]): number
            for place, labels in found.items()
            for label, number in labels.items()
            if label in kinds
        }
        keys = sorted({*plain, *replaced})
        return looked, tuple(Count(*key, plain.get(key, 0), replaced.get(key, 0)) for key in keys)

    def _models(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The models of the declared chains and the default: not on this machine, and on it."""
        roster = self._resources.roster
        names = dict.fromkeys(
            (roster.default, *(n for c in roster.table.chains.values() for n in c))
        )
        local = tuple(n for n in names if on_this_machine(n, roster.place(n)))
        return tuple(name for name in names if name not in local), local


def _sink(name: str, sink: Sink, note: str) -> SinkInfo:
    return SinkInfo(name, sink.redact, tuple(sorted(sink.kinds - ALWAYS)), note)
