"""Which speech models there are, where they are looked for, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from lila_app.errors import ChecksumError, ConfigError, MissingWeightsError
from lila_app.fetching.hub import cached
from lila_app.speech import models, published
from lila_app.speech.catalogue import catalogue
from lila_app.speech.models import find
from lila_app.speech.published import BASE, PUBLISHED, TINY_EN
from tests.speech.conftest import Machine
from tests.speech.serving import FILES, MODEL, UNKNOWN


def test_what_the_wheels_should_carry_is_every_file_of_the_model() -> None:
    for model in (BASE, TINY_EN):
        assert {part.file for part in model.parts} == {file.name for file in model.files}
        assert all(len(file.sha256) == 64 for file in model.files)
        assert len(model.revision) == 40


def test_a_model_that_is_not_here_says_how_to_get_it(tmp_path: Path) -> None:
    with pytest.raises(MissingWeightsError, match="whisper-base is not here yet") as caught:
        find("whisper-base", tmp_path, {"HF_HUB_CACHE": str(tmp_path)})
    assert "`lila models pull whisper-base`" in caught.value.hint


def test_a_misspelt_model_is_told_the_near_one(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no speech model whisper-bse") as caught:
        find("whisper-bse", tmp_path, {})
    assert "did you mean whisper-base?" in caught.value.hint


def test_a_changed_model_is_not_loaded(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(published.PUBLISHED, MODEL.name, MODEL)
    folder = machine.fetch(MODEL)
    assert find(MODEL.name, machine.models, machine.environ) == folder
    data = bytearray(FILES["model.bin"])
    data[len(data) // 2] ^= 1
    (folder / "model.bin").write_bytes(data)
    with pytest.raises(ChecksumError, match="not what it should be") as caught:
        find(MODEL.name, machine.models, machine.environ)
    assert "`lila models pull whisper-test`" in caught.value.hint


def test_a_folder_that_nothing_is_known_of_is_not_loaded_under_a_name(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(published.PUBLISHED, UNKNOWN.name, UNKNOWN)
    folder = machine.fetch(UNKNOWN)
    (folder / models.NOTE).unlink()
    with pytest.raises(ChecksumError, match="nothing says"):
        find(UNKNOWN.name, machine.models, machine.environ)


def test_a_folder_of_the_persons_own_is_taken_as_it_is(tmp_path: Path) -> None:
    for name in ("model.bin", "config.json", "tokenizer.json"):
        (tmp_path / name).write_bytes(b"x")
    assert find(str(tmp_path), tmp_path / "models", {}) == tmp_path


def test_a_folder_without_a_model_says_what_is_missing(tmp_path: Path) -> None:
    (tmp_path / "model.bin").write_bytes(b"x")
    with pytest.raises(MissingWeightsError, match=r"config\.json, tokenizer\.json is not in it"):
        find(str(tmp_path), tmp_path, {})
    with pytest.raises(MissingWeightsError, match="there is no folder"):
        find("~/nowhere/at/all", tmp_path, {})


def test_a_folder_of_somebody_who_is_not_there_is_no_folder(tmp_path: Path) -> None:
    with pytest.raises(MissingWeightsError, match="there is no folder ~nobody-here/model"):
        find("~nobody-here/model", tmp_path, {})
    assert not catalogue(tmp_path, {"HF_HUB_CACHE": "/x"}, "~nobody-here/model")[-1].installed


def test_the_hubs_cache_is_where_the_environment_says(tmp_path: Path) -> None:
    tail = Path("models--a--b") / "snapshots" / "c"
    assert cached("a/b", "c", {"HF_HUB_CACHE": "/x"}) == Path("/x") / tail
    assert cached("a/b", "c", {"HF_HOME": "/x"}) == Path("/x/hub") / tail
    assert cached("a/b", "c", {"XDG_CACHE_HOME": "/x"}) == Path("/x/huggingface/hub") / tail
    assert cached("a/b", "c", {}) == Path.home() / ".cache/huggingface/hub" / tail


def test_the_list_names_what_can_be_fetched_and_what_was_chosen(tmp_path: Path) -> None:
    environ = {"HF_HUB_CACHE": str(tmp_path)}
    rows = catalogue(tmp_path, environ, "whisper-small")
    assert [(row.name, row.installed, row.default) for row in rows] == [
        ("whisper-base", False, False),
        ("whisper-tiny.en", False, False),
        ("whisper-small", False, True),
    ]
    assert "`lila models pull whisper-base` fetches 148 MB" in rows[0].note
    own = catalogue(tmp_path, environ, str(tmp_path))[-1]
    assert (own.name, own.installed, own.default) == (str(tmp_path), True, True)
    assert {row.kind for row in rows} == {"speech"}
    assert all(name.startswith("whisper-") for name in PUBLISHED)
