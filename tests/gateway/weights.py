"""Files of weights, written out by hand."""

from __future__ import annotations

import struct
from pathlib import Path


def gguf(
    architecture: str = "llama",
    *,
    context_length: int = 2_048,
    tokens: tuple[tuple[str, int], ...] = (),
    tensors: int = 0,
    body: bytes = b"",
) -> bytes:
    """A GGUF file as its specification says, written out by hand."""

    def text(said: str) -> bytes:
        return struct.pack("<Q", len(said.encode())) + said.encode()

    pairs = [
        text("general.architecture") + struct.pack("<I", 8) + text(architecture),
        text(f"{architecture}.context_length") + struct.pack("<II", 4, context_length),
        text("general.odd") + struct.pack("<IIQ", 9, 4, 2) + struct.pack("<II", 1, 2),
        text("tokenizer.ggml.tokens")
        + struct.pack("<IIQ", 9, 8, len(tokens))
        + b"".join(text(token) for token, _ in tokens),
        text("tokenizer.ggml.token_type")
        + struct.pack("<IIQ", 9, 5, len(tokens))
        + b"".join(struct.pack("<i", kind) for _, kind in tokens),
    ]
    listed = b"".join(
        text(f"t{at}") + struct.pack("<IQIQ", 1, 32, 0, at * 128) for at in range(tensors)
    )
    start = b"GGUF" + struct.pack("<IQQ", 3, tensors, len(pairs))
    return start + b"".join(pairs) + listed + body


def write(path: Path, data: bytes) -> Path:
    path.write_bytes(data)
    return path
