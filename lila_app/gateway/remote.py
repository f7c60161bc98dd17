"""The providers on the network that LILA speaks to through their own SDKs, and what names them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from lila_app.errors import ConfigError

Family = Literal["anthropic", "openai", "gemini"]


@dataclass(frozen=True, slots=True)
class Remote:
    """One of them.

    `key_variables` and `address_variable` are the SDK's own environment variables, the one that
    wins first; `address` is where the SDK goes without any, `version` the path it adds to that.
    `example` is a model's name to show.
    """

    family: Family
    title: str
    key_variables: tuple[str, ...]
    address_variable: str
    address: str
    version: str
    example: str


REMOTES: Mapping[str, Remote] = {
    remote.family: remote
    for remote in (
        Remote(
            "anthropic",
            "Anthropic",
            ("ANTHROPIC_API_KEY",),
            "ANTHROPIC_BASE_URL",
            "https://api.anthropic.com",
            "/v1",
            "anthropic/claude-sonnet-5-5",
        ),
        Remote(
            "openai",
            "OpenAI",
            ("OPENAI_API_KEY",),
            "OPENAI_BASE_URL",
            "https://api.openai.com/v1",
            "",
            "openai/gpt-6.1-terra",
        ),
        Remote(
            "gemini",
            "Gemini",
            ("GOOGLE_API_KEY", "GEMINI_API_KEY"),
            "GOOGLE_GEMINI_BASE_URL",
            "https://generativelanguage.googleapis.com",
            "/v1beta",
            "gemini/gemini-3.8-flash",
        ),
    )
}
"""Variables and addresses as anthropic 2.14, openai 3.57 and google-genai 3.6 read them; example
models from the price data of genai-prices (2026-11-30)."""


def base_url(remote: Remote, configured: str, environ: Mapping[str, str]) -> str:
    """The address from settings, else from the SDK's variable, else "": the SDK's own.

    Raises `ConfigError` when the variable holds no address.
    """
    if configured:
        return configured
    said = environ.get(remote.address_variable, "").strip()
    if said and not re.fullmatch(r"https?://\S+", said):
        raise ConfigError(
            f"{remote.address_variable} is not an address such as {remote.address}",
            hint=f"correct {remote.address_variable}, or unset it",
        )
    return said
