"""Conversations from elsewhere, streamed into the store; and everything back out of it."""
