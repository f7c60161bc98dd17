"""OpenAI's own models over the Responses API, and what Chat Completions servers share with them."""

from lila_app.gateway.openai.provider import OpenAIProvider

__all__ = ["OpenAIProvider"]
