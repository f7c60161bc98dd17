"""What the Anthropic SDK raises, and its streams say, as errors of ours."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from lila_app.errors import (
    ContextTooLarge,
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
from lila_app.gateway.retry_after import wait_asked

if TYPE_CHECKING:
    import anthropic

_STATUSES = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "conflict_error": 409,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "timeout_error": 504,
    "api_error": 500,
    "overloaded_error": 529,
}
"""What an error is worth that is said inside a stream, which began with 200 (the SDK's
`ErrorType`, 2.14.0, and the API's list of errors, 2026-11)."""

_SPENT = ("spend_limit_reached", "billing_unavailable")
"""How the codes end of an account that may not spend more (`anthropic.types.shared`, 2.14.0)."""

_NO_MONEY = "credit balance is too low"
"""An account without credit is told so with a 400."""

_TOO_LONG = ("prompt is too long", "exceed context limit")


@dataclass(frozen=True, slots=True)
class Explainer:
    """Explains the failures of one model; the key is in no sentence it makes."""

    who: str
    access: Access

    def explained(self, error: Exception) -> GatewayError:
        """The SDK's or the transport's error as one of ours."""
        import anthropic

        if isinstance(error, anthropic.APIStatusError):
            return self._refused(error)
        if isinstance(error, anthropic.APIConnectionError):
            return self._unconnected(error.__cause__ or error)
        return self._unconnected(error)

    def _unconnected(self, cause: BaseException) -> GatewayError:
        """What the transport met, which the SDK wraps only until the stream has begun."""
        import anthropic
        import httpx2

        match cause:
            case httpx2.ConnectError() | httpx2.ConnectTimeout():
                return UnreachableError(
                    f"nothing answered for {self.who} at {shown(self.access.base_url)}",
                    hint="check the network, or choose another model",
                )
            case httpx2.TimeoutException() | anthropic.APITimeoutError():
                return TimedOutError(
                    f"{self.who} did not answer in time", hint="try again, or another model"
                )
            case httpx2.TransportError() | anthropic.APIConnectionError():
                return UnavailableError(
                    f"the connection to {self.who} broke off", hint="try again, or another model"
                )
            case _:
                return self.not_ours(type(cause).__name__)

    def not_ours(self, why: str) -> UnavailableError:
        """The error for an answer in no form the protocol knows."""
        return UnavailableError(
            f"{self.who} sent something that is not the Messages API ({why})",
            hint=f"check that {shown(self.access.base_url)} is the right address",
        )

    def _refused(self, error: anthropic.APIStatusError) -> GatewayError:
        status = error.status_code
        if status < 400:  # said inside a stream
            status = _STATUSES.get(error.type or "", 500)
        said = self.access.without_key(_said(error))
        spent = (error.error_code or "").endswith(_SPENT) or _NO_MONEY in said.lower()
        if status == 402 or spent:
            return SpendLimitError(
                f"the account for {self.who} may spend no more{_quoted(said)}",
                hint="look at the account's credit and limits, or choose another model",
            )
        if status == 429:
            wait = wait_asked(error.response.headers)
            return RateLimitedError(
                f"{self.who} asks to wait{_quoted(said)}",
                hint=f"try again in {wait:.0f} s" if wait is not None else "try again in a minute",
                retry_after=wait,
            )
        if status == 413 or any(sign in said.lower() for sign in _TOO_LONG):
            return ContextTooLarge(
                f"the prompt is larger than {self.who} takes{_quoted(said)}",
                hint="lower the model's `context_budget`, or choose one with a larger window",
                model=self.who,
            )
        return refusal(status, said, who=self.who)


def _quoted(said: str) -> str:
    line = quote(said)
    return f": {line}" if line else ""


def _said(error: anthropic.APIStatusError) -> str:
    return error.api_message or error_text(error.body) or type(error).__name__
