"""A key, and what may be shown of one."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Literal

from lila_app.errors import ConfigError

Source = Literal["flag", "environment", "keyring", "file"]

_USABLE = re.compile(r"[\x21-\x7e]{1,4096}")
"""What can go into an HTTP header. Anything else a transport would refuse, quoting it."""

_LONG_ENOUGH = 16
"""Characters from which on four of them give nothing away."""


@dataclass(frozen=True, slots=True)
class Key:
    """A provider's key; `where` names its place within the source. The key is in no `repr`."""

    provider: str
    value: str = field(repr=False)
    source: Source
    where: str

    @property
    def shown(self) -> str:
        """What a person recognises it by: its last four characters, if it is long."""
        return f"…{self.value[-4:]}" if len(self.value) >= _LONG_ENOUGH else "…"

    @property
    def origin(self) -> str:
        """Where it comes from, for a sentence."""
        return f"{self.source} ({self.where})"


@dataclass(frozen=True, slots=True)
class KeyInfo:
    """A provider and its key as they are listed; `source` and `key` are "" when there is none.

    `behind` names further places that hold one and do not come first, `trouble` what stood in the
    way of looking.
    """

    provider: str
    source: str = ""
    where: str = ""
    key: str = ""
    behind: tuple[str, ...] = ()
    trouble: str = ""


def usable(text: str, where: str) -> str:
    """A key as it was given, without the blanks around it.

    Raises `ConfigError` that says where, and never what, was wrong.
    """
    key = text.strip()
    if not _USABLE.fullmatch(key):
        raise ConfigError(
            f"what is in {where} is not a key",
            hint="a key is one line of letters, digits and signs, without blanks",
        )
    return key
