"""Servers that speak Chat Completions, by base URL."""
