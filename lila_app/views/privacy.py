"""Plain data about privacy for front-ends."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Found:
    """Something found in a text: where, what it is, and which sinks replace it."""

    start: int
    end: int
    kind: str
    text: str
    wire: bool
    storage: bool


@dataclass(frozen=True, slots=True)
class Trial:
    """What would become of a text. `wire` is what a model on the network would be sent.

    `stored` is what the store would hold, `restored` what a reply that repeats `wire` would come
    back as; `exact` says whether that is the text again.
    """

    found: tuple[Found, ...]
    wire: str
    stored: str
    restored: str
    exact: bool


@dataclass(frozen=True, slots=True)
class WirePiece:
    """A message of a prompt as it is sent."""

    role: str
    text: str


@dataclass(frozen=True, slots=True)
class SinkInfo:
    """A sink and the kinds that are replaced before it; none where nothing is."""

    name: str
    redact: bool
    kinds: tuple[str, ...]
    note: str


@dataclass(frozen=True, slots=True)
class Count:
    """How many finds of a kind there are in a place; `placeholders` of them are replaced."""

    place: str
    kind: str
    plain: int
    placeholders: int


@dataclass(frozen=True, slots=True)
class PrivacyReport:
    """What is held where, and who is told what.

    `remote` are the configured models that are not on this machine, `local` those that are;
    `unreadable` entries of the vault were hidden with a key that is not there.
    """

    sinks: tuple[SinkInfo, ...]
    held: tuple[Count, ...]
    texts: int
    vault: tuple[Count, ...]
    unreadable: int
    key: str
    remote: tuple[str, ...]
    local: tuple[str, ...]
    store: str
    backups: tuple[str, ...]
    files: tuple[str, ...]
    note: str
