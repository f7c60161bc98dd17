"""Models that read speech on the command line: listing and fetching them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from lila_app.assistant import open_lila
from lila_app.errors import MissingWeightsError
from lila_app.speech import published
from tests.cli.lila import here
from tests.gateway.chat_server import ChatServer, serving
from tests.speech.serving import FILES, MODEL, Places


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[ChatServer]:
    """A hub on loopback with one small model, which LILA knows by name."""
    with serving(Places()) as server:
        monkeypatch.setenv("HF_ENDPOINT", server.origin)
        monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "cache"))
        monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
        monkeypatch.setitem(published.PUBLISHED, MODEL.name, MODEL)
        yield server


def listed(home: Path) -> dict[str, tuple[bool, bool]]:
    models = here(home, "models", "list", "--json").json["speech"]
    return {one["name"]: (one["installed"], one["default"]) for one in models}


def test_a_speech_model_is_fetched_by_name_and_listed(home: Path, hub: ChatServer) -> None:
    assert listed(home) == {"whisper-base": (False, True), "whisper-tiny.en": (False, False)}
    pulled = here(home, "models", "pull", MODEL.name)
    assert (pulled.code, pulled.err) == (0, f"{MODEL.name} is ready\n")
    assert listed(home)[MODEL.name] == (True, False)
    assert "reads your speech" in here(home, "models", "list").out


def test_the_facade_gives_the_folder_of_a_model_that_is_here(home: Path, hub: ChatServer) -> None:
    with open_lila(home=home) as lila:
        with pytest.raises(MissingWeightsError, match="whisper-test is not here yet"):
            lila.models.speech(MODEL.name)
        notice = lila.models.speech_notice(MODEL.name)
        assert notice is not None and "Whisper test" in notice
        lila.models.pull(MODEL.name, lambda done, total, label: None)
        assert (lila.models.speech(MODEL.name) / "model.bin").read_bytes() == FILES["model.bin"]
        assert lila.models.speech_notice(MODEL.name) is None
        assert lila.models.speech_notice("/a/folder/of/mine") is None


def test_a_speech_model_never_answers_a_chat(home: Path, hub: ChatServer) -> None:
    here(home, "models", "pull", MODEL.name)
    models = here(home, "models", "list", "--json").json["models"]
    assert not any(one["name"].startswith("whisper-") for one in models)


def test_what_cannot_be_fetched_is_told_what_can(home: Path, hub: ChatServer) -> None:
    seen = here(home, "models", "pull", "whisper-bse")
    assert seen.code == 2
    assert "lila models pull whisper-base" in seen.err.replace("\n", " ")
