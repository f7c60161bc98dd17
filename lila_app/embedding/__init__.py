"""Text to numbers, offline: vectors for search and the declared token count.

Everything here is local and total: no network, no cache folder, any Unicode. The model files are
checked against their published SHA-256 each time they are loaded.
"""

from __future__ import annotations

from lila_app.embedding.minilm import MiniLM
from lila_app.embedding.port import Embedder
from lila_app.embedding.tokens import Counter, load_counter, remember

__all__ = ["Counter", "Embedder", "MiniLM", "load_counter", "remember"]
