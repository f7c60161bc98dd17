"""What of an address is shown, and whether it leaves the machine."""

from __future__ import annotations

import pytest

from lila_app.gateway.addresses import is_loopback, shown


@pytest.mark.parametrize(
    ("url", "seen"),
    [
        ("http://127.0.0.1:8080/v1", "http://127.0.0.1:8080/v1"),
        ("https://someone:s3cret@models.example/v1?a=b", "https://models.example/v1?a=b"),
        ("https://tok%40en@models.example:8443", "https://models.example:8443"),
        ("http://[::1", "an address that cannot be read"),
    ],
)
def test_an_address_is_shown_without_who_it_is_for(url: str, seen: str) -> None:
    assert shown(url) == seen


@pytest.mark.parametrize(
    ("url", "stays"),
    [
        ("http://127.8.9.1/v1", True),
        ("http://[::1]:11434", True),
        ("http://localhost@models.example", False),
        ("http://127.0.0.1.models.example", False),
    ],
)
def test_only_this_machine_is_loopback(url: str, stays: bool) -> None:
    assert is_loopback(url) is stays
