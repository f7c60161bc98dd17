"""One spoken conversation after the other, without loading everything anew for each."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable
from contextlib import ExitStack
from threading import Lock, Timer, current_thread
from typing import TYPE_CHECKING

from lila_app import policies, settings
from lila_app.voice.alone import alone
from lila_app.voice.session import Machinery, Options, Talk, card, check_sound, machinery

if TYPE_CHECKING:
    from lila_app.assistant import Lila
    from lila_app.settings import VoiceSettings
    from lila_app.views import Progress
    from lila_app.voice.policy import RecogniserRules

    _Chosen = tuple[VoiceSettings, RecogniserRules]

IDLE_SECONDS = 600.0
"""What is loaded is kept so long after a conversation: some 150 MB with whisper-base, against one
to three seconds of loading it anew (two cores)."""


def with_sound(lila: Lila, progress: Progress) -> Machinery:
    """As `session.machinery`, once there is something to hear and to speak with.

    So that nothing is fetched in vain.
    """
    check_sound(lila)
    return machinery(lila, progress)


class Opener:
    """Opens spoken conversations of one chat; thread-safe, one conversation at a time.

    From `open` to `done` nobody else listens in this home (`alone`). What hears, reads and speaks
    is loaded for the first conversation and kept while its settings stay the same, until nobody has
    talked for a while; there is never more than one set of it. `close` it.
    """

    def __init__(
        self,
        lila: Lila,
        *,
        load: Callable[[Lila, Progress], Machinery] = with_sound,
        idle_seconds: float = IDLE_SECONDS,
    ) -> None:
        self._lila = lila
        self._load = load
        self._idle_seconds = idle_seconds
        self._loaded: tuple[_Chosen, Machinery] | None = None
        self._idle: Timer | None = None
        self._lock = Lock()
        self._alone = ExitStack()

    def open(self, options: Options, progress: Progress) -> Talk:
        """As `session.open_talk`; `SoundError` too where another LILA listens already."""
        with self._lock, ExitStack() as taken:
            taken.enter_context(alone(self._lila.home, "lila chat"))
            voice = settings.load(self._lila.home).voice
            chosen = voice, policies.voice(self._lila.home).recogniser
            self._stop_waiting()
            if self._loaded is None or self._loaded[0] != chosen:
                self._let_go()
                self._loaded = chosen, self._load(self._lila, progress)
            talk = Talk(self._lila, options, self._loaded[1], card(voice), self.done)
            self._alone = taken.pop_all()
            return talk

    def done(self, stuck: bool = False) -> None:
        """The conversation is over, or never began: what it needed is kept for a while.

        Where a part of it is `stuck`, it is left to its thread and the next conversation loads
        anew: closing it would wait for what never ends.
        """
        with self._lock:
            self._alone.close()
            self._stop_waiting()
            if stuck:
                self._loaded = None
            if self._loaded is not None:
                self._idle = Timer(self._idle_seconds, self._waited)
                self._idle.daemon = True
                self._idle.start()

    @property
    def waiting(self) -> bool:
        """Whether what is loaded is about to be let go of."""
        return self._idle is not None

    def close(self) -> None:
        """Let go of what is loaded; safe to call twice."""
        with self._lock:
            self._alone.close()
            self._stop_waiting()
            self._let_go()

    def _waited(self) -> None:
        with self._lock:
            if self._idle is current_thread():  # else a conversation began meanwhile
                self._idle = None
                self._let_go()

    def _stop_waiting(self) -> None:
        if self._idle is not None:
            self._idle.cancel()
            self._idle = None

    def _let_go(self) -> None:
        if self._loaded is not None:
            self._loaded[1].close()
            self._loaded = None
            _give_back()


def _give_back() -> None:
    """Have the C library return what was freed: glibc keeps it (whisper-base, loaded twice and let
    go of: 356 MB, 170 MB after this). Nothing where there is no such call."""
    if sys.platform == "linux":
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
        if trim is not None:
            trim(0)
