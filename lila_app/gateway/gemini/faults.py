"""The SDK's errors, and the transport's that it lets through, as LILA's.

Google words an error as `{"error": {"code", "message", "status", "details": [...]}}`, with what a
program needs in the details: how long to wait (RetryInfo), which quota was exceeded
(QuotaFailure), the reason as a word (ErrorInfo).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, cast

from lila_app.errors import (
    AuthenticationError,
    ContextTooLarge,
    GatewayError,
    RateLimitedError,
    SpendLimitError,
    TimedOutError,
    UnavailableError,
    UnreachableError,
)
from lila_app.gateway import loose
from lila_app.gateway.access import Access
from lila_app.gateway.chat.reader import quote, refusal
from lila_app.gateway.loose import Table
from lila_app.gateway.retry_after import wait_asked

if TYPE_CHECKING:
    from google.genai.errors import APIError


_TOO_LARGE = re.compile(r"exceeds the maximum number of tokens", re.IGNORECASE)
_NO_MONEY = re.compile(
    r"spend(?:ing)? (?:cap|limit)|credits? (?:\w+ )*depleted|enable billing", re.IGNORECASE
)
"""A plain "check your plan and billing details" stands in every 429, also in one for a minute."""

_GONE = re.compile(r"cached? ?content", re.IGNORECASE)
_DELAY = re.compile(r"(\d+(?:\.\d+)?)s")
_TOO_SMALL = re.compile(r"total_token_count=(\d+), min_total_token_count=(\d+)")


def kinds() -> tuple[type[Exception], ...]:
    """What the SDK raises when a call fails. ValueError is how it says "this is no JSON".

    TypeError comes out of an error inside a stream that has no code.
    """
    import httpx2
    from google.genai.errors import APIError

    return APIError, httpx2.TransportError, httpx2.StreamError, ValueError, TypeError


def explained(error: Exception, name: str, access: Access, address: str) -> GatewayError:
    """One of ours for one of theirs, without the key in it."""
    import httpx2
    from google.genai.errors import APIError

    match error:
        case APIError():
            return _refused(error, name, access)
        case httpx2.ConnectError() | httpx2.ConnectTimeout() | httpx2.ProxyError():
            return UnreachableError(
                f"nothing answered for {name} at {address}",
                hint="check the connection, or choose another model with --model",
            )
        case httpx2.TimeoutException():
            return TimedOutError(
                f"{name} did not answer in time", hint="try again, or another model"
            )
        case httpx2.TransportError():
            return UnavailableError(
                f"the connection to {name} broke off", hint="ask again, or ask another model"
            )
        case _:
            return not_ours(name, address)


def not_ours(name: str, address: str) -> UnavailableError:
    """What came is not what Gemini sends."""
    return UnavailableError(
        f"{name} sent something that is not an answer of Gemini",
        hint=f"check that {address} is the right address",
    )


def is_gone(error: Exception) -> bool:
    """Whether a request failed because the cache it named is not there (any more).

    Google says 403 "CachedContent not found (or permission denied)", gateways also 404 and 400.
    """
    from google.genai.errors import ClientError

    if not isinstance(error, ClientError):
        return False
    return error.code in (403, 404) or (error.code == 400 and bool(_GONE.search(_said(error))))


def too_small(error: Exception) -> tuple[int, int] | None:
    """Tokens of a prefix that was too short for a cache, and the least that is taken."""
    from google.genai.errors import ClientError

    if not isinstance(error, ClientError):
        return None
    found = _TOO_SMALL.search(_said(error))
    return (int(found[1]), int(found[2])) if found else None


def _refused(error: APIError, name: str, access: Access) -> GatewayError:
    said, code = access.without_key(_said(error)), error.code
    reasons = {str(detail.get("reason", "")) for detail in _details(error)}
    quoted = f": {quote(said)}" if said else ""
    if code == 402 or "BILLING_DISABLED" in reasons or (code < 500 and _NO_MONEY.search(said)):
        return _spent(name, quoted)
    if any(reason.startswith("API_KEY_") for reason in reasons):
        return AuthenticationError(
            f"{name} refused the key{quoted}", hint="check the key that is set for this provider"
        )
    if code == 429:
        return _spent(name, quoted) if _for_the_day(error) else _rate_limited(error, name, quoted)
    if _TOO_LARGE.search(said):
        return ContextTooLarge(
            f"the prompt is larger than {name} takes{quoted}",
            hint="lower the model's `context_budget`, or choose a model with a larger window",
        )
    return refusal(code, said, who=name)


def _spent(name: str, quoted: str) -> SpendLimitError:
    return SpendLimitError(
        f"the account of {name} has reached its limit{quoted}",
        hint="look at plan and billing at aistudio.google.com, or ask another model",
    )


def _rate_limited(error: APIError, name: str, quoted: str) -> RateLimitedError:
    wait = _retry_after(error)
    return RateLimitedError(
        f"{name} asks to wait{quoted}",
        hint=f"try again in {wait:.0f} s" if wait is not None else "try again in a minute",
        retry_after=wait,
    )


def _for_the_day(error: APIError) -> bool:
    """Whether a quota of a whole day is used up; the delay Google names is then of no use."""
    quotas = [
        str(loose.table(violation).get("quotaId", ""))
        for detail in _details(error)
        for violation in _list(detail.get("violations"))
    ]
    return any("PerDay" in quota for quota in quotas)


def _retry_after(error: APIError) -> float | None:
    """Seconds from RetryInfo ("34s", "0.5s"), else from a Retry-After header."""
    for detail in _details(error):
        found = _DELAY.fullmatch(str(detail.get("retryDelay", "")))
        if found is not None:
            return float(found[1])
    answered: object = getattr(error, "response", None)
    headers: object = getattr(answered, "headers", None)
    return wait_asked(cast("Mapping[str, str]", headers)) if headers else None


def _said(error: APIError) -> str:
    return str(error.message or "")


def _details(error: APIError) -> list[Table]:
    body: object = getattr(error, "details", None)  # the whole answer, whatever its name says
    inner = loose.table(loose.table(body).get("error"))
    return [loose.table(detail) for detail in _list(inner.get("details"))]


def _list(value: object) -> list[object]:
    return cast("list[object]", value) if isinstance(value, list) else []
