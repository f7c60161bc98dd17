"""Noticing model servers that already run on this machine."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast
from urllib.parse import urlsplit

from lila_app.gateway.addresses import is_loopback

if TYPE_CHECKING:
    import httpx2

_CONNECT_SECONDS = 0.3
_ANSWER_SECONDS = 1.5
_LARGEST_ANSWER = 2_000_000
"""Bytes; whatever listens on a well-known port may be anything."""


@dataclass(frozen=True, slots=True)
class Found:
    """A server that answered: its name in model names, its base URL, and what it can serve."""

    provider: str
    base_url: str
    models: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Place:
    """Where to look: `models_path` lists models, `owner` is what the server calls itself there."""

    provider: str
    origin: str
    models_path: str = "/v1/models"
    owner: str = ""


PLACES = (
    Place("ollama", "http://127.0.0.1:11434", "/api/tags"),
    Place("llama-server", "http://127.0.0.1:8080", owner="llamacpp"),
    Place("lmstudio", "http://127.0.0.1:1234"),
)
"""Each server's own default port (their documentation, 2026-11-30). 8080 is also everybody
else's, so there the answer must say whose it is."""


def places(environ: Mapping[str, str]) -> tuple[Place, ...]:
    """The well-known places; OLLAMA_HOST moves Ollama's, as long as it stays on this machine."""
    origin = _ollama_origin(environ.get("OLLAMA_HOST", ""))
    if origin is None:
        return PLACES
    return (Place("ollama", origin, "/api/tags"), *PLACES[1:])


async def discover(where: tuple[Place, ...] = PLACES) -> tuple[Found, ...]:
    """Ask every place at once; whoever does not answer at once is not there.

    Never raises and never leaves this machine. Takes 0.3 s at most when nothing listens.
    """
    import httpx2

    timeout = httpx2.Timeout(_ANSWER_SECONDS, connect=_CONNECT_SECONDS)
    async with httpx2.AsyncClient(
        timeout=timeout, trust_env=False, verify=False, follow_redirects=False
    ) as client:
        asked = [_ask(client, place) for place in where if is_loopback(place.origin)]
        answers = await asyncio.gather(*asked)
    return tuple(answer for answer in answers if answer is not None)


async def _ask(client: httpx2.AsyncClient, place: Place) -> Found | None:
    import httpx2

    try:
        async with asyncio.timeout(_CONNECT_SECONDS + _ANSWER_SECONDS):
            body = await _body(client, place.origin + place.models_path)
    except (httpx2.HTTPError, TimeoutError, ValueError):
        return None
    if body is None:
        return None
    models = _models(body, place)
    return None if models is None else Found(place.provider, f"{place.origin}/v1", models)


async def _body(client: httpx2.AsyncClient, url: str) -> Mapping[str, object] | None:
    async with client.stream("GET", url, headers={"user-agent": "lila"}) as response:
        if response.status_code != 200:
            return None
        data = bytearray()
        async for piece in response.aiter_bytes():
            data += piece
            if len(data) > _LARGEST_ANSWER:
                return None
    body: object = json.loads(data)
    return cast(Mapping[str, object], body) if isinstance(body, dict) else None


def _models(body: Mapping[str, object], place: Place) -> tuple[str, ...] | None:
    """The names listed, in the server's order; None where it is not such a server."""
    listed = body.get("models") if place.models_path == "/api/tags" else body.get("data")
    if not isinstance(listed, list):
        return None
    names: list[str] = []
    for entry in cast(list[object], listed):
        if not isinstance(entry, Mapping):
            return None
        table = cast(Mapping[str, object], entry)
        if place.owner and table.get("owned_by") != place.owner:
            return None
        name = table.get("name", table.get("id"))
        if isinstance(name, str) and name:
            names.append(name)
    return tuple(dict.fromkeys(names))


def _ollama_origin(host: str) -> str | None:
    """What OLLAMA_HOST means (`host`, `host:port`, `:port` or a URL); None unless it is loopback.

    Listening on every address includes this one.
    """
    text = host.strip()
    if not text:
        return None
    try:
        parts = urlsplit(text if "://" in text else f"http://{text}")
        name, port = parts.hostname or "127.0.0.1", parts.port or 11434
    except ValueError:
        return None
    if name in ("0.0.0.0", "::"):
        name = "127.0.0.1"
    origin = f"http://[{name}]:{port}" if ":" in name else f"http://{name}:{port}"
    return origin if parts.scheme == "http" and is_loopback(origin) else None
