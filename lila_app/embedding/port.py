"""The port every source of vectors fits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Embedder(Protocol):
    """Turns texts into vectors; a vector depends on its text and the model alone."""

    @property
    def model_id(self) -> str:
        """Name of the vector space; kept with every vector, changed with every change of bits."""
        ...

    @property
    def dimension(self) -> int:
        """Length of one vector."""
        ...

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Embed the texts, in order: float32 of shape [n, dimension], each row of length 1.

        Blocking and free of side effects; raises `WeightsError` when the model is not usable.
        """
        ...
