"""Opening the assistant for the profile that was asked for."""

from __future__ import annotations

import os
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

import click

from lila_app.cli.progress import progress
from lila_app.paths import Home

if TYPE_CHECKING:
    from lila_app.assistant import Lila


@dataclass(frozen=True, slots=True)
class Invocation:
    """What the global options said; `key_files` are still `PROVIDER=PATH`."""

    profile: str
    key_files: tuple[str, ...] = ()


def profile() -> str:
    """The profile of this invocation."""
    found = click.get_current_context().find_object(Invocation)
    return found.profile if found else "default"


def home() -> Home:
    """The home of this process; no store is opened."""
    return Home.find(os.environ)


def given_keys() -> dict[str, str]:
    """The keys in the files --key-file names, by provider. Raises `UsageError`."""
    found = click.get_current_context().find_object(Invocation)
    if found is None or not found.key_files:
        return {}
    from lila_app.keys.chain import read_key_file

    return dict(map(read_key_file, found.key_files))


@contextmanager
def opened() -> Generator[Lila]:
    """The assistant, its log going to the log file, closed at the end."""
    import lila_app
    from lila_app import logs

    with logs.writing(home()):
        with progress(f"filling {profile()}") as report:
            lila = lila_app.open(profile=profile(), progress=report, keys=given_keys())
        with lila:
            yield lila


def zone() -> ZoneInfo:
    """The zone the person's clock shows."""
    from lila_app import settings

    return settings.load(home()).zone
