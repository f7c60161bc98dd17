"""`lila voice devices` and `lila voice test`, by a person with and without a sound card."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from lila_app.voice.devices import portaudio
from tests.cli.lila import here
from tests.voice.sound import Card, until, virtual_card


@pytest.fixture
def card() -> Iterator[Card]:
    with virtual_card() as started:
        yield started


def test_without_portaudio_a_sentence_says_what_to_install(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(name: str) -> None:
        raise OSError("PortAudio library not found")

    monkeypatch.setattr(portaudio, "import_module", missing)
    done = here(home, "voice", "devices")
    assert done.code == 10
    assert done.out == ""
    assert done.err.startswith("error: PortAudio")
    assert "apt install libportaudio2" in done.err


@pytest.mark.slow
@pytest.mark.audio
def test_devices_are_listed_with_those_that_are_taken(card: Card, home: Path) -> None:
    done = here(home, "voice", "devices")
    assert done.code == 0
    lines = done.out.splitlines()
    assert any(line.startswith("*") and "lila_mic.monitor" in line for line in lines)
    assert any(line.startswith("*") and "lila-spk" in line for line in lines)
    assert "headphones" in done.err
    found = here(home, "voice", "devices", "--json").json
    taken = [device["name"] for device in found["devices"] if device["chosen"]]
    assert taken == ["lila_mic.monitor", "lila_spk"]
    assert found["duplex"] is False


@pytest.mark.slow
@pytest.mark.audio
def test_a_name_that_fits_nothing_is_told_beside_the_list(card: Card, home: Path) -> None:
    config = home / "config"
    config.mkdir(parents=True)
    (config / "settings.toml").write_text('[voice]\nspeaker = "lila-spkr"\n')
    done = here(home, "voice", "devices")
    assert done.code == 0
    assert "no speaker is called 'lila-spkr'; did you mean 'lila-spk'?" in done.err
    refused = here(home, "voice", "test")
    assert refused.code == 2


@pytest.mark.slow
@pytest.mark.audio
def test_the_trial_speaks_and_says_how_loud_one_is(card: Card, home: Path) -> None:
    done: list[str] = []

    def try_it() -> None:
        done.append(here(home, "voice", "test").out)

    with card.recording("lila_spk.monitor") as recording:
        trial = threading.Thread(target=try_it)
        trial.start()
        tone = 3_000 * np.sin(2 * np.pi * 300 * np.arange(16_000) / 16_000)
        while trial.is_alive():
            card.say(tone.astype(np.int16))
        trial.join()
        assert until(lambda: bool(np.abs(recording.samples).max() > 3_000))
    (out,) = done
    # A sine of 3,000 is 20 log10(3,000 / 32,768 / sqrt 2) = -23.8 dB.
    assert "level: -24 dB" in out and out.rstrip().endswith("good")


@pytest.mark.slow
@pytest.mark.audio
def test_the_trial_fails_where_nothing_is_heard(card: Card, home: Path) -> None:
    done = here(home, "voice", "test", "--json")
    found = json.loads(done.out)
    assert found["verdict"] == "nothing was heard" and found["microphone"]
    assert done.code == 10
    assert "nothing but silence" in done.err
