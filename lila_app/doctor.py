"""What this machine has and lacks, each with what to do about it; nothing is changed."""

from __future__ import annotations

import asyncio
import os
import platform
import shutil
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from lila_app.errors import LilaError
from lila_app.keys.model import KeyInfo
from lila_app.paths import Home
from lila_app.views import Check

_SPACE_TIGHT = 500_000_000
"""Bytes: the embedded model is 98 MB, and forgetting writes the store a second time."""


def examine(home: Home, profile: str) -> tuple[Check, ...]:
    """Check the machine around `home` and the store of one profile; needs neither to be whole."""
    return (
        _python(),
        _writable(home),
        _private(home),
        _settings(home),
        _store(home, profile),
        _weights(home),
        _chosen(home),
        _space(home),
        _servers(),
        _sound(home),
        _terminal(),
        _keyring(),
        *_keys(home),
    )


def _python() -> Check:
    return Check("python", sys.version_info >= (3, 11), platform.python_version())


def _writable(home: Home) -> Check:
    folder = _existing(home.data_dir)
    try:
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        return Check(
            "home",
            ok=False,
            detail=f"{folder} cannot be written: {error.strerror}",
            hint="make it writable for you, or point LILA_HOME at a folder that is",
        )
    return Check("home", ok=True, detail=str(home.root or home.data_dir))


def _private(home: Home) -> Check:
    folders = [home.config_dir, home.data_dir, home.state_dir]
    loose = [folder for folder in folders if folder.is_dir() and folder.stat().st_mode & 0o077]
    if loose and os.name == "posix":
        listed = " ".join(f"'{folder}'" for folder in loose)
        return Check(
            "privacy",
            ok=False,
            detail=f"others on this machine can look into {listed}",
            hint=f"chmod 700 {listed}",
            needed=False,
        )
    return Check("privacy", ok=True, detail="LILA's folders are yours alone")


def _settings(home: Home) -> Check:
    from lila_app import settings

    try:
        chosen = settings.load(home)
    except LilaError as error:
        return Check("settings", ok=False, detail=error.message, hint=error.hint)
    return Check("settings", ok=True, detail=f"time zone {chosen.zone.key}")


def _store(home: Home, profile: str) -> Check:
    from lila_app.storage.connection import Store

    try:
        path = home.profile_db(profile)
        if not path.exists():
            return Check("store", ok=True, detail=f"{profile} is made when you first use it")
        with Store.open(path, read_only=True) as store, store.read() as connection:
            connection.execute("select count(*) from sqlite_schema").fetchone()
    except LilaError as error:
        return Check("store", ok=False, detail=error.message, hint=error.hint)
    size = path.stat().st_size / 1e6
    return Check(
        "store", ok=True, detail=f"{profile} opens, {size:.1f} MB; `lila db check` reads all"
    )


def _weights(home: Home) -> Check:
    from lila_app.gateway.embedded.weights import installed, verify

    found = installed(home.models_dir)
    if not found:
        return Check(
            "weights",
            ok=False,
            detail="no embedded model is here yet",
            hint="the first chat fetches it, and so does `lila models pull`; "
            "`lila models adopt FILE.gguf` takes a file of yours",
            needed=not _another_model(home),
        )
    try:
        for weights in found:
            verify(weights)
    except LilaError as error:
        return Check("weights", ok=False, detail=error.message, hint=error.hint)
    return Check("weights", ok=True, detail=", ".join(weights.name for weights in found))


def _chosen(home: Home) -> Check:
    """Whether the model that is to reply can be asked; nothing is sent to it."""
    from lila_app import settings
    from lila_app.errors import MissingKeyError, MissingWeightsError
    from lila_app.gateway.embedded.weights import DEFAULT
    from lila_app.models import Roster

    name = DEFAULT
    try:
        roster = Roster(home, settings.load(home))
        name = roster.default
        roster.provider(name)
    except MissingWeightsError:
        return Check("model", ok=True, detail=f"{name}, once its weights are here")
    except MissingKeyError as error:
        detail = f"{name} is to reply and cannot: {error.message}; the embedded model steps in"
        return Check("model", ok=False, detail=detail, hint=error.hint, needed=False)
    except LilaError as error:
        return Check("model", ok=False, detail=error.message, hint=error.hint)
    return Check("model", ok=True, detail=f"{name} replies")


def _another_model(home: Home) -> bool:
    """Whether the person chose a model that needs no weights here."""
    from lila_app import settings

    try:
        chosen = settings.load(home).model
    except LilaError:
        return False
    return bool(chosen) and not chosen.startswith("embedded/")


def _space(home: Home) -> Check:
    free = shutil.disk_usage(_existing(home.data_dir)).free
    detail = f"{free / 1e9:.1f} GB free"
    if free < _SPACE_TIGHT:
        return Check("disk", ok=False, detail=detail, hint="free some space; 0.5 GB is plenty")
    return Check("disk", ok=True, detail=detail)


def _servers() -> Check:
    from lila_app.gateway.chat.discover import discover, places

    # In a thread of its own, since the caller may have an event loop running.
    with ThreadPoolExecutor(1) as pool:
        found = pool.submit(asyncio.run, discover(places(os.environ))).result()
    if not found:
        return Check("servers", ok=True, detail="no other model server runs on this machine")
    return Check(
        "servers",
        ok=True,
        detail="; ".join(
            f"{server.provider} at {server.base_url} with {', '.join(server.models) or 'no model'}"
            for server in found
        ),
        hint="`lila models list` names them; `lila models default NAME` lets one answer",
    )


def _sound(home: Home) -> Check:
    from lila_app import settings
    from lila_app.sound import cure, lacking

    try:
        chosen = settings.load(home).voice
    except LilaError:
        chosen = settings.VoiceSettings()  # `_settings` has said why
    lacks = lacking(chosen)
    if not lacks:
        return Check("sound", ok=True, detail="all that talking needs is here", needed=False)
    listed = ", ".join(lack.what for lack in lacks)
    return Check(
        "sound",
        ok=False,
        detail=f"talking with LILA needs what is missing here, chat does not: {listed}",
        hint=cure(lacks),
        needed=False,
    )


def _terminal() -> Check:
    if not sys.stdout.isatty():
        return Check("terminal", ok=True, detail="none: output goes to a file or a pipe")
    size = shutil.get_terminal_size()
    detail = f"{os.environ.get('TERM', 'unnamed')}, {size.columns}x{size.lines}"
    if os.environ.get("TERM") in (None, "", "dumb"):
        return Check(
            "terminal",
            ok=False,
            detail=f"{detail}: it cannot draw a full screen",
            hint="use `lila chat --plain`",
            needed=False,
        )
    encoding = (sys.stdout.encoding or "").lower().replace("-", "")
    if encoding != "utf8":
        return Check(
            "terminal",
            ok=False,
            detail=f"{detail}, {sys.stdout.encoding}: many letters cannot be shown",
            hint="set a UTF-8 locale, such as LANG=C.UTF-8",
            needed=False,
        )
    return Check("terminal", ok=True, detail=detail)


def _keyring() -> Check:
    from lila_app.keys.ring import Ring

    try:
        return Check("keyring", ok=True, detail=Ring("lila").name(), needed=False)
    except LilaError as error:
        return Check(
            "keyring",
            ok=False,
            detail=error.message,
            hint="`lila keys set` keeps keys in a file for you alone instead",
            needed=False,
        )


def _keys(home: Home) -> tuple[Check, ...]:
    """A line for every provider that has or may have a key; none of them is needed."""
    from lila_app import settings
    from lila_app.keys import Keys

    try:
        found = Keys(home, settings.load(home).providers).list()
    except LilaError:
        return ()  # `_settings` has said why
    return tuple(map(_key, found))


def _key(info: KeyInfo) -> Check:
    name = f"key of {info.provider}"
    if info.trouble and not info.source:
        return Check(name, False, info.trouble, "`lila keys list` shows them all", needed=False)
    if not info.source:
        return Check(name, True, "none; `lila keys set` keeps one", needed=False)
    return Check(name, True, f"{info.key} from {info.source} ({info.where})", needed=False)


def _existing(folder: Path) -> Path:
    """The nearest folder above that is there."""
    while not folder.is_dir():
        folder = folder.parent
    return folder
