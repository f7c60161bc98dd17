"""`lila keys test`: whether a key is accepted where it would be sent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from lila_app.errors import GatewayError

if TYPE_CHECKING:
    from lila_app.models import Roster


@dataclass(frozen=True, slots=True)
class KeyTrial:
    """What came of trying one provider's key; `source` and `key` as in `KeyInfo`."""

    provider: str
    ok: bool
    source: str
    where: str
    key: str
    detail: str
    hint: str = ""


async def try_key(roster: Roster, provider: str) -> KeyTrial:
    """Ask the provider for its list of models, which costs nothing.

    Raises `MissingKeyError` and `ConfigError` when there is no key to try.
    """
    import asyncio

    from lila_app.gateway.access import Access
    from lila_app.gateway.knock import knock

    key = await asyncio.to_thread(roster.keys.need, provider)
    access = Access(roster.address(provider), key.value)
    try:
        place = await knock(provider, access)
    except GatewayError as error:
        return KeyTrial(
            provider, False, key.source, key.where, key.shown, error.message, error.hint
        )
    detail = f"the key is accepted by {place}"
    return KeyTrial(provider, True, key.source, key.where, key.shown, detail)
