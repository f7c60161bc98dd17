"""Names are found without a word to anybody, and the same ones every time."""

from __future__ import annotations

from pathlib import Path

import pytest

from lila_app.privacy.detection import Detector
from lila_app.privacy.names import Names
from lila_app.privacy.spans import resolved
from tests.privacy.conftest import rules
from tests.processes import printed

ALL = '[wire]\nalso = ["person", "location", "organisation", "date", "group", "internet"]'

_DENIED = """
import pathlib, socket, sys
def never(*given, **named):
    raise SystemExit("somebody was to be asked")
class Never(socket.socket):  # urllib3 makes one to see whether there is IP version 6
    connect = connect_ex = sendto = never
socket.socket = Never
for name in ("create_connection", "getaddrinfo", "gethostbyname"):
    setattr(socket, name, never)
from lila_app.privacy.names import Names
import tldextract
found = [one.kind for one in Names().find("Ada Lovelace wrote to Charles Babbage from London.")]
assert found == ["person", "person", "place"], found
extract = tldextract.tldextract.TLD_EXTRACTOR
assert extract.suffix_list_urls == () and not extract._cache.enabled
assert tldextract.extract("mail.example.co.uk").suffix == "co.uk"
"""


@pytest.mark.slow
def test_nothing_is_asked_of_the_network_and_no_cache_is_written(tmp_path: Path) -> None:
    environment = {
        "HOME": str(tmp_path),
        "XDG_CACHE_HOME": str(tmp_path / "cache"),
        "PATH": "/usr/bin:/bin",
        "OPENBLAS_NUM_THREADS": "1",
    }
    printed(_DENIED, env=environment)
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


@pytest.mark.slow
def test_names_and_places_are_found_by_choice(names: Names) -> None:
    detector = Detector(rules(ALL), names)
    text = (
        "Dr. Ada Lovelace of Babbage Engines Ltd. lives at 12 St James's Square, London, and\n"
        "is 36 years old; see www.example.org or ask @ada_l on Tuesday."
    )
    found = {
        (one.kind, text[one.start : one.end])
        for one in resolved(detector.find(text, rules(ALL).wire.kinds))
    }
    assert {("age", "36"), ("domain", "www.example.org"), ("username", "ada_l")} <= found
    assert ("person", "Ada Lovelace") in found
    assert ("organisation", "Babbage Engines Ltd.") in found or (
        "organisation",
        "Babbage Engines Ltd",
    ) in found
    assert any(kind == "address" and value.startswith("12 St James") for kind, value in found)


@pytest.mark.slow
def test_the_same_text_gives_the_same_finds(names: Names) -> None:
    text = "Maria met Tomás Ruiz in Lisbon; Acme Corp paid. " * 3
    kinds = rules(ALL).wire.kinds
    once = Detector(rules(ALL), names).find(text, kinds)
    assert once == Detector(rules(ALL), names).find(text, kinds)


@pytest.mark.slow
def test_a_message_with_names_takes_tens_of_milliseconds(names: Names) -> None:
    import time

    list(names.find("Ada wrote to Charles."))
    texts = [f"Ada Lovelace met Charles Babbage in London on day {day}." for day in range(40)]
    start = time.process_time()
    for text in texts:
        list(names.find(text))
    assert (time.process_time() - start) / len(texts) < 0.05
