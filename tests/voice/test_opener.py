"""What a spoken conversation needs is loaded once for many, and let go of when nobody talks."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from lila_app.assistant import Lila, open_lila
from lila_app.embedding.port import Embedder
from lila_app.errors import SoundError
from lila_app.paths import Home
from lila_app.settings import set_value
from lila_app.testing import ScriptedProvider
from lila_app.views import Progress
from lila_app.voice.alone import alone
from lila_app.voice.opener import IDLE_SECONDS, Opener
from lila_app.voice.session import Machinery, Options
from lila_app.voice.testing import Loudness, ToneRecogniser, Tones, ToneSynthesiser
from tests.waiting import until


class Loads:
    """Loads tones, and keeps what it loaded."""

    def __init__(self) -> None:
        self.voices: list[ToneSynthesiser] = []
        self.error: SoundError | None = None

    def __call__(self, lila: Lila, progress: Progress) -> Machinery:
        if self.error is not None:
            raise self.error
        tones = Tones()
        self.voices.append(ToneSynthesiser(tones))
        return Machinery(Loudness(), ToneRecogniser(tones), self.voices[-1])

    @property
    def kept(self) -> list[bool]:
        return [not voice.closed for voice in self.voices]


@pytest.fixture
def lila(home: Path, embedder: Embedder) -> Iterator[Lila]:
    Home.at(home).create()
    with open_lila(home, provider=ScriptedProvider("Hello."), embedder=embedder) as opened:
        yield opened


def _open(opener: Opener) -> None:
    """Open a conversation, and have it be over before it began."""
    talk = opener.open(Options(), lambda done, total, label: None)
    assert talk.session is None
    opener.done()


def test_it_is_loaded_once_for_all_conversations_and_let_go_of_at_the_end(lila: Lila) -> None:
    loads = Loads()
    opener = Opener(lila, load=loads)
    for _ in range(3):
        _open(opener)
    assert loads.kept == [True]
    opener.close()
    opener.close()
    assert loads.kept == [False]


def test_other_settings_load_it_anew_and_the_first_is_let_go_of_before(lila: Lila) -> None:
    loads = Loads()
    opener = Opener(lila, load=loads)
    _open(opener)
    set_value(lila.home, "voice.language", "de")
    _open(opener)
    assert loads.kept == [False, True]
    (lila.home.policies_dir / "voice.toml").write_text("[recogniser]\nbeam = 2\n")
    loads.error = SoundError("nothing can speak")
    with pytest.raises(SoundError):
        _open(opener)
    assert loads.kept == [False, False]
    loads.error = None
    _open(opener)
    assert loads.kept == [False, False, True]
    opener.close()


def test_nobody_talking_for_a_while_lets_go_of_it(lila: Lila) -> None:
    loads = Loads()
    opener = Opener(lila, load=loads, idle_seconds=0.01)
    _open(opener)
    until(lambda: loads.kept == [False])
    _open(opener)
    assert len(loads.voices) == 2
    opener.close()


def test_it_is_kept_while_somebody_talks(lila: Lila) -> None:
    loads = Loads()
    opener = Opener(lila, load=loads, idle_seconds=IDLE_SECONDS)
    _open(opener)
    opener.open(Options(), lambda done, total, label: None)
    assert not opener.waiting
    opener.done()
    assert opener.waiting
    opener.close()
    assert not opener.waiting


def test_from_opening_to_the_end_nobody_else_listens_in_this_home(lila: Lila) -> None:
    opener = Opener(lila, load=Loads())
    opener.open(Options(), lambda done, total, label: None)
    with pytest.raises(SoundError, match="`lila chat`"), alone(lila.home, "lila voice"):
        pass
    opener.done()
    with alone(lila.home, "lila voice"), pytest.raises(SoundError, match="`lila voice`"):
        opener.open(Options(), lambda done, total, label: None)
    talk = opener.open(Options(), lambda done, total, label: None)
    talk.close()
    assert opener.waiting
    with alone(lila.home, "lila voice"):
        pass
    opener.close()


def test_a_conversation_that_cannot_be_opened_keeps_nobody_from_another(lila: Lila) -> None:
    loads = Loads()
    loads.error = SoundError("nothing can speak")
    opener = Opener(lila, load=loads)
    with pytest.raises(SoundError, match="nothing can speak"):
        opener.open(Options(), lambda done, total, label: None)
    with alone(lila.home, "lila voice"):
        pass
    opener.close()


def test_what_hangs_is_not_used_again(lila: Lila) -> None:
    loads = Loads()
    opener = Opener(lila, load=loads)
    opener.open(Options(), lambda done, total, label: None)
    opener.done(stuck=True)
    assert not opener.waiting
    _open(opener)
    assert loads.kept == [True, True], "a new one was loaded, and what hangs was not waited for"
    opener.close()
    assert loads.kept == [True, False]
