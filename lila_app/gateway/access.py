"""How a provider is reached: its address and the key, which must never be seen."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Access:
    """An address ("" is the provider's own) and a key ("" is none).

    The key is in no `repr`, so that no traceback and no log can show it.
    """

    base_url: str = ""
    api_key: str = field(default="", repr=False)

    @property
    def credential(self) -> str:
        """What stands for the key in the ledger: eight hexadecimal digits of its SHA-256."""
        return hashlib.sha256(self.api_key.encode()).hexdigest()[:8] if self.api_key else ""

    def without_key(self, said: str) -> str:
        """A provider's sentence without the key in it."""
        return said.replace(self.api_key, "(key)") if self.api_key else said
