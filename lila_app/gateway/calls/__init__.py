"""Asking a chain of models for one reply: attempts, deadlines, breakers, fallback."""
