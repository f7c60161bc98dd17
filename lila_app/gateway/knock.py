"""Whether a key opens the door: one request that costs nothing, asking for the list of models."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import cast

from lila_app.errors import AuthenticationError, GatewayError, RateLimitedError, UnavailableError
from lila_app.gateway.access import Access
from lila_app.gateway.addresses import is_loopback
from lila_app.gateway.chat.reader import error_text, quote, refusal
from lila_app.gateway.remote import REMOTES

_CONNECT_SECONDS = 5.0
_ANSWER_SECONDS = 20.0
_LARGEST_ANSWER = 4_000_000
"""Bytes; a router's list of models is long, and whatever else answers may have no end."""

_ANTHROPIC_VERSION = "2026-10-21"
"""What anthropic 2.14 sends; from this version on the key goes as a bearer token (2026-11-30)."""


async def knock(provider: str, access: Access) -> str:
    """Ask for the provider's list of models with its key; the address that took the key.

    Raises `AuthenticationError`, `RateLimitedError`, `RequestRefusedError` or `UnavailableError`.
    """
    import httpx2

    url, headers = _door(provider, access)
    local = is_loopback(url)
    timeout = httpx2.Timeout(_ANSWER_SECONDS, connect=_CONNECT_SECONDS)
    try:
        # Redirects are not followed: the key is for this address.
        async with (
            httpx2.AsyncClient(timeout=timeout, trust_env=not local) as client,
            client.stream("GET", url, headers={"user-agent": "lila", **headers}) as response,
        ):
            status, wait = response.status_code, response.headers.get("retry-after", "")
            body = bytearray()
            async for piece in response.aiter_bytes():
                body += piece
                if len(body) > _LARGEST_ANSWER:
                    break
    except (httpx2.HTTPError, httpx2.InvalidURL):
        # Not said why: the text of a transport may quote what was sent.
        raise UnavailableError(
            f"nothing answered for {provider} at {_place(url)}",
            hint="check the address and the network",
        ) from None
    if status == 200 and _lists_models(bytes(body)):
        return _place(url)
    raise _refused(provider, status, access.without_key(_said(bytes(body))), wait, _place(url))


def _door(provider: str, access: Access) -> tuple[str, dict[str, str]]:
    remote = REMOTES.get(provider)
    bearer = {"authorization": f"Bearer {access.api_key}"} if access.api_key else {}
    if remote is None:
        return f"{access.base_url.rstrip('/')}/models", bearer
    models = f"{(access.base_url or remote.address).rstrip('/')}{remote.version}/models"
    match remote.family:
        case "anthropic":
            return f"{models}?limit=1", {"anthropic-version": _ANTHROPIC_VERSION, **bearer}
        case "openai":
            return models, bearer
        case "gemini":
            return f"{models}?pageSize=1", {"x-goog-api-key": access.api_key}


def _refused(provider: str, status: int, said: str, wait: str, place: str) -> GatewayError:
    if status == 429:
        return RateLimitedError(
            f"{provider} asks to wait: {quote(said)}",
            hint="try again in a minute",
            retry_after=float(wait) if wait.isdigit() else None,
        )
    # Gemini calls a wrong key a wrong request (its error reference, 2026-11-30).
    if status == 400 and ("API_KEY_INVALID" in said or "API key not valid" in said):
        status = 401
    if status < 400:
        return UnavailableError(
            f"{place} answers, but not with a list of models ({status})",
            hint=f"check that it is the address of {provider}",
        )
    error = refusal(status, said, who=provider, hint=f"check that {place} is the right address")
    if isinstance(error, AuthenticationError):
        error.hint = f"`lila keys set {provider}` sets another"
    return error


def _said(body: bytes) -> str:
    try:
        return error_text(json.loads(body))
    except ValueError:
        return ""


def _lists_models(body: bytes) -> bool:
    try:
        answer: object = json.loads(body)
    except ValueError:
        return False
    if not isinstance(answer, Mapping):
        return False
    table = cast("Mapping[str, object]", answer)
    return isinstance(table.get("data", table.get("models")), list)


def _place(url: str) -> str:
    return url.partition("?")[0].removesuffix("/models")
