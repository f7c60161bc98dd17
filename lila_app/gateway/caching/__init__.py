"""Prompt caches as data: contracts, the rule for lifetimes, and the watch over what was read."""
