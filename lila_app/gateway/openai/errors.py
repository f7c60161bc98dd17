"""What the OpenAI SDK raises and its streams say, as errors of ours."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING

from lila_app.errors import (
    GatewayError,
    RateLimitedError,
    SpendLimitError,
    TimedOutError,
    UnavailableError,
    UnreachableError,
)
from lila_app.gateway.access import Access
from lila_app.gateway.addresses import shown
from lila_app.gateway.chat.reader import error_text, quote, refusal

if TYPE_CHECKING:
    import openai

_SPENT = ("insufficient_quota", "billing_hard_limit_reached", "billing_not_active")
"""Codes of an account that cannot pay; the first comes as a 429 that no waiting cures."""

_STATUSES = {
    "rate_limit_exceeded": 429,
    "insufficient_quota": 429,
    "context_length_exceeded": 400,
    "data_residency_mismatch": 400,
    "bio_policy": 400,
    "misalignment_policy_violation": 400,
}
"""Statuses of codes said inside a stream (`openai.types.responses.response_error`, 3.57, and what
is seen in practice). `invalid_…` is about the request; every other one is the server's trouble."""


@dataclass(frozen=True, slots=True)
class Explainer:
    """Explains the failures of one model of one server; the key is in no sentence it makes.

    `wire` names the protocol, `missing` is the hint for a model the server does not have, and
    `unreachable` for a server that is not there.
    """

    who: str
    access: Access
    wire: str
    missing: str = ""
    unreachable: str = ""

    def explained(self, error: Exception) -> GatewayError:
        """The SDK's or the transport's error as one of ours."""
        import httpx2
        import openai

        match error:
            case openai.APIStatusError():
                wait = retry_after(error.response.headers.get("retry-after"))
                return self.refused(error.status_code, _said(error), wait)
            case openai.APIConnectionError() if isinstance(
                error.__cause__, httpx2.ConnectError | httpx2.ConnectTimeout
            ):
                return UnreachableError(
                    f"nothing answered for {self.who} at {shown(self.access.base_url)}",
                    hint=self.unreachable or "check the network, or choose another model",
                )
            case openai.APITimeoutError():
                return TimedOutError(
                    f"{self.who} did not answer in time", hint="try again, or another model"
                )
            case openai.APIConnectionError() | httpx2.TransportError():
                return UnavailableError(
                    f"the connection to {self.who} broke off", hint="try again, or another model"
                )
            case openai.APIError():  # said inside a stream that had begun well
                return self.said_inside(str(error.code or ""), _said(error))
            case _:
                return self.not_ours(type(error).__name__)

    def said_inside(self, code: str, said: str) -> GatewayError:
        """The error for a code and a sentence inside a stream that had begun with a 200."""
        if code.isdigit():
            return self.refused(int(code), said)
        status = _STATUSES.get(code, 400 if code.startswith("invalid_") else 500)
        return self.refused(status, said if not code or code in said else f"{said} ({code})")

    def refused(self, status: int, said: str, wait: float | None = None) -> GatewayError:
        """The error for a status of 400 and above and the provider's own sentence."""
        said = self.access.without_key(said)
        if status == 402 or (status < 500 and any(code in said for code in _SPENT)):
            return SpendLimitError(
                f"the account for {self.who} has no money left{_quoted(said)}",
                hint="look at the account's billing and limits, or choose another model",
            )
        if status == 429:
            return RateLimitedError(
                f"{self.who} asks to wait{_quoted(said)}",
                hint=f"try again in {wait:.0f} s" if wait is not None else "try again in a minute",
                retry_after=wait,
            )
        hint = self.missing if status == 404 else ""
        return refusal(status, said, who=self.who, hint=hint)

    def not_ours(self, why: str) -> UnavailableError:
        """The error for an answer in no form the protocol knows."""
        return UnavailableError(
            f"{self.who} sent something that is not {self.wire} ({why})",
            hint=f"check that {shown(self.access.base_url)} is the right address",
        )


def _quoted(said: str) -> str:
    line = quote(said)
    return f": {line}" if line else ""


def _said(error: openai.APIError) -> str:
    return error_text(error.body) or error.message


def retry_after(header: str | None) -> float | None:
    """Seconds from a Retry-After header, which says seconds or a date; None without a sense."""
    if header is None:
        return None
    try:
        return max(0.0, float(header))
    except ValueError:
        pass
    try:
        when = parsedate_to_datetime(header)
    except ValueError:
        return None
    return max(0.0, (when - datetime.now(UTC)).total_seconds())
