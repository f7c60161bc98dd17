"""Anthropic's models: the wire and its prompt cache, the stream, the errors, the provider."""
