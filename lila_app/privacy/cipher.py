"""The two keys of a vault, drawn from one: to find a value without telling it, and to hide it."""

from __future__ import annotations

import hashlib
import hmac
import os
from collections.abc import Callable

from lila_app.privacy.spans import Kind

BYTES = 32
_NONCE = 12
"""Bytes AES-GCM wants (NIST SP 800-38D, 5.2.1.1)."""


class Cipher:
    """Seals (HMAC-SHA-256) and hides (AES-256-GCM) the values of one vault."""

    def __init__(self, key: bytes, random: Callable[[int], bytes] = os.urandom) -> None:
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM

        self._seals = hmac.digest(key, b"lila vault: seals", hashlib.sha256)
        self._gcm = AESGCM(hmac.digest(key, b"lila vault: values", hashlib.sha256))
        self._random = random

    def seal(self, kind: Kind, value: str) -> bytes:
        """By what a value of a kind is found again; it tells nothing of the value."""
        told = f"{kind}\0{value}".encode("utf-8", "surrogatepass")
        return hmac.digest(self._seals, told, hashlib.sha256)

    def hide(self, placeholder: str, value: str) -> bytes:
        """A value, to be read again only with the key and beside its own placeholder."""
        nonce = self._random(_NONCE)
        told = value.encode("utf-8", "surrogatepass")
        return nonce + self._gcm.encrypt(nonce, told, placeholder.encode())

    def read(self, placeholder: str, hidden: bytes) -> str | None:
        """The value; None where it was hidden with another key."""
        from cryptography.exceptions import InvalidTag

        try:
            told = self._gcm.decrypt(hidden[:_NONCE], hidden[_NONCE:], placeholder.encode())
        except InvalidTag:
            return None
        return told.decode("utf-8", "surrogatepass")
