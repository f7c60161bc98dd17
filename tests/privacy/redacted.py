"""A home whose store holds placeholders, and values that must not be in it."""

from __future__ import annotations

from pathlib import Path

from lila_app.assistant import Lila, open_lila
from lila_app.paths import Home
from lila_app.testing import FakeClock, ScriptedProvider
from tests.stories.crash_child import HashEmbedder

MAIL, PHONE, CARD = "ada.lovelace@example.org", "+44 20 7946 0018", "4111 1111 1111 1111"
IBAN, OFFICE, DESK = "GB29 NWBK 6016 1331 9268 19", "office@example.net", "555-010-0200"
NEW, OLD, SSN = "new.address@example.com", "imported@example.org", "123-45-6789"
VALUES = (MAIL, PHONE, CARD, IBAN, OFFICE, DESK, NEW, OLD, SSN)


def redacting(home: Path, own: str = "") -> Home:
    place = Home.at(home)
    place.create()
    (place.policies_dir / "privacy.toml").write_text(f"[storage]\nredact = true\n{own}")
    return place


def opened(home: Path, provider: ScriptedProvider) -> Lila:
    clock = FakeClock("2026-11-30T08:00:00+00:00")
    return open_lila(home, provider=provider, clock=clock, embedder=HashEmbedder())
