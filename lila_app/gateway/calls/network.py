"""Whether models beyond this machine can be reached at all, found out once and remembered."""

from __future__ import annotations

from collections.abc import Sequence

from lila_app.errors import UnreachableError
from lila_app.gateway.calls.breaker import Admission
from lila_app.gateway.calls.means import Means
from lila_app.gateway.port import Provider

KEY = "network"
"""Its breaker stands in the ledger, so that the next process need not find out again."""


class Network:
    """The network as one call through the candidates sees it."""

    def __init__(self, means: Means) -> None:
        self._means = means
        self._admission: Admission | None = None
        self._unreached: set[str] = set()

    def need(self) -> None:
        """Refuse at once what needs a network while there is none. Raises `UnreachableError`."""
        if self._admission is None:
            self._admission = self._means.network.admit(KEY)
        if not self._admission.passes:
            raise UnreachableError(
                "no model beyond this machine could be reached a moment ago",
                hint="check the network; the embedded model answers without one",
            )

    def reached(self) -> None:
        """Somebody beyond this machine answered, whatever it was."""
        self._means.network.succeeded(KEY)
        self._admission = Admission(passes=True)

    def unreached(self, provider: Provider, others: Sequence[Provider]) -> bool:
        """No connection came about; whether that means that there is no network.

        One provider that cannot be reached may be that provider's bad afternoon. The second says
        that it is ours, and so does the first when there is no other to ask.
        """
        self._unreached.add(_vendor(provider))
        elsewhere = {_vendor(o) for o in others if not self._means.about(o.name).local}
        if len(self._unreached) < 2 and elsewhere - self._unreached:
            return False
        admission = self._admission or Admission(passes=True)
        self._means.network.failed(KEY, admission, "ill", reason=UnreachableError.__name__)
        self._admission = Admission(passes=False)
        return True

    def leave(self) -> None:
        """Give the probe back if nothing was learnt with it."""
        if self._admission is not None and self._admission.probe:
            self._means.network.failed(KEY, self._admission, "unknown")


def _vendor(provider: Provider) -> str:
    return provider.name.partition("/")[0]
