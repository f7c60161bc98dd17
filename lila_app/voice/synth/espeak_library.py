"""libespeak-ng through ctypes: one library, one voice at a time, for the whole process.

The library keeps its voice, its speed and its callback in globals of its own, so everything that
touches them happens under one lock. It is called in its synchronous mode: it makes no sound itself,
calls back with each 40 ms of samples, and stops where the callback returns 1.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable, Iterator
from ctypes.util import find_library
from dataclasses import dataclass
from functools import lru_cache
from threading import Lock

from lila_app.errors import SoundError

_SYNCHRONOUS = 2
_DO_NOT_EXIT = 0x8000
_UTF8 = 1
_RATE = 1
_CHARACTERS = 1
_WORD = 1
_OK = 0
_BUFFER_MS = 40
_NAMES = {
    "darwin": ("libespeak-ng.dylib", "/opt/homebrew/lib/libespeak-ng.dylib"),
    "win32": ("libespeak-ng.dll", r"C:\Program Files\eSpeak NG\libespeak-ng.dll"),
}

INSTALL = "on Debian and Ubuntu: sudo apt install espeak-ng"


class _Id(ctypes.Union):
    _fields_ = (("number", ctypes.c_int), ("name", ctypes.c_char_p), ("text", ctypes.c_char * 8))


class _Event(ctypes.Structure):
    """`espeak_EVENT` of espeak-ng's speak_lib.h."""

    _fields_ = (
        ("type", ctypes.c_int),
        ("unique", ctypes.c_uint),
        ("position", ctypes.c_int),
        ("length", ctypes.c_int),
        ("audio", ctypes.c_int),
        ("sample", ctypes.c_int),
        ("user", ctypes.c_void_p),
        ("id", _Id),
    )


class _Voice(ctypes.Structure):
    """`espeak_VOICE` of espeak-ng's speak_lib.h."""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("languages", ctypes.c_void_p),
        ("identifier", ctypes.c_char_p),
        ("gender", ctypes.c_ubyte),
        ("age", ctypes.c_ubyte),
        ("variant", ctypes.c_ubyte),
        ("reserved", ctypes.c_ubyte),
        ("score", ctypes.c_int),
        ("spare", ctypes.c_void_p),
    )


_Callback = ctypes.CFUNCTYPE(
    ctypes.c_int, ctypes.POINTER(ctypes.c_short), ctypes.c_int, ctypes.POINTER(_Event)
)


@dataclass(frozen=True, slots=True)
class Begun:
    """A word begins `at` ms into the text's sound; `position` is its first character, from 0."""

    at: int
    position: int


@dataclass(frozen=True, slots=True)
class Voice:
    """A voice that is installed: what it is called, by file too, and the languages it speaks."""

    name: str
    identifier: str
    languages: tuple[str, ...]


Take = Callable[[bytes, tuple[Begun, ...]], bool]
"""Is given samples (16 bits, mono) and the words that begin in them; False ends the synthesis."""


class Library:
    """The one libespeak-ng of this process; `library()` gives it."""

    def __init__(self, linked: ctypes.CDLL, rate: int) -> None:
        self.rate = rate
        self._linked = linked
        self._lock = Lock()
        self._set: tuple[str, int] | None = None
        _declare(linked)

    def voices(self) -> tuple[Voice, ...]:
        """Every voice that is installed."""
        with self._lock:
            return tuple(_voices(self._linked))

    def speak(self, text: str, voice: str, words_per_minute: int, take: Take) -> None:
        """Synthesise a text, handing over its sound as it comes; returns when it is done or ended.

        Raises `SoundError` where the voice cannot be loaded.
        """
        # Half of a character's two code units, as a broken stream may bring, is said as "?".
        encoded = text.encode(errors="replace")
        with self._lock:
            self._tune(voice, words_per_minute)
            callback = _calling(take)
            self._linked.espeak_SetSynthCallback(callback)
            self._linked.espeak_Synth(
                encoded, len(encoded) + 1, 0, _CHARACTERS, 0, _UTF8, None, None
            )

    def _tune(self, voice: str, words_per_minute: int) -> None:
        if self._set == (voice, words_per_minute):
            return
        self._set = None
        if self._linked.espeak_SetVoiceByName(voice.encode()) != _OK:
            raise SoundError(f"espeak-ng cannot load its voice {voice}", hint=INSTALL)
        self._linked.espeak_SetParameter(_RATE, words_per_minute, 0)
        self._set = (voice, words_per_minute)


@lru_cache(maxsize=1)
def library() -> Library:
    """Load libespeak-ng, once for the process. Raises `SoundError` where it, or its data, is not
    there."""
    linked = _linked()
    rate = linked.espeak_Initialize(_SYNCHRONOUS, _BUFFER_MS, None, _DO_NOT_EXIT)
    if rate <= 0:
        raise SoundError("espeak-ng is here without its voices", hint=INSTALL)
    return Library(linked, rate)


def _linked() -> ctypes.CDLL:
    found = find_library("espeak-ng") if sys.platform in _NAMES else None
    for name in (*_NAMES.get(sys.platform, ("libespeak-ng.so.1",)), found):
        try:
            if name:
                return ctypes.CDLL(name)
        except OSError:
            continue
    raise SoundError("libespeak-ng, which makes LILA's voice, is not installed", hint=INSTALL)


def _declare(linked: ctypes.CDLL) -> None:
    linked.espeak_SetSynthCallback.argtypes = (_Callback,)
    linked.espeak_SetVoiceByName.argtypes = (ctypes.c_char_p,)
    linked.espeak_ListVoices.argtypes = (ctypes.c_void_p,)
    linked.espeak_ListVoices.restype = ctypes.POINTER(ctypes.POINTER(_Voice))
    linked.espeak_Synth.argtypes = (
        ctypes.c_char_p,
        ctypes.c_size_t,
        ctypes.c_uint,
        ctypes.c_int,
        ctypes.c_uint,
        ctypes.c_uint,
        ctypes.c_void_p,
        ctypes.c_void_p,
    )


def _calling(take: Take) -> ctypes._CFunctionType:  # pyright: ignore[reportPrivateUsage]
    def called(samples: object, count: int, events: object) -> int:
        if not samples:
            return 0
        sound = ctypes.string_at(samples, count * 2)  # pyright: ignore[reportArgumentType]
        return 0 if take(sound, tuple(_begun(events))) else 1

    return _Callback(called)


def _begun(events: object) -> Iterator[Begun]:
    listed = ctypes.cast(events, ctypes.POINTER(_Event))  # pyright: ignore[reportArgumentType]
    index = 0
    while (event := listed[index]).type:
        # Past the end of some texts comes an event for a word of no length.
        if event.type == _WORD and event.length > 0:
            yield Begun(event.audio, event.position - 1)
        index += 1


def _voices(linked: ctypes.CDLL) -> Iterator[Voice]:
    listed = linked.espeak_ListVoices(None)
    index = 0
    while listed[index]:
        voice = listed[index].contents
        yield Voice(
            voice.name.decode(), voice.identifier.decode(), tuple(_languages(voice.languages))
        )
        index += 1


def _languages(address: int) -> Iterator[str]:
    """Unpack pairs of a priority (a byte) and a name that ends in 0; a priority of 0 ends them."""
    while ctypes.string_at(address, 1) != b"\0":
        name = ctypes.string_at(address + 1)
        yield name.decode()
        address += 2 + len(name)
