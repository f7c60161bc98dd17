"""Speech models on this machine: finding one, and checking that it is what it should be.

A model is a folder. The ones LILA fetches are in its models folder under their names; one of the
known revision that faster-whisper fetched before is used where it is; and a setting may name a
folder of the person's own.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import cast

from lila_app.errors import ChecksumError, ConfigError, MissingWeightsError
from lila_app.fetching.files import sha256
from lila_app.fetching.hub import Entry, cached
from lila_app.paths import expanded
from lila_app.speech.published import DEFAULT, PUBLISHED, Published

NOTE = "fetched.json"
"""Written into the folder of a model whose files were not known before: what came, and its sums."""

NEEDED = ("model.bin", "config.json", "tokenizer.json")
"""Without the last, faster-whisper would fetch one from the network each time."""


def published(name: str) -> Published | None:
    """The model of that name; None for a folder. Raises `ConfigError` for neither."""
    if name in PUBLISHED:
        return PUBLISHED[name]
    if _is_path(name):
        return None
    near = difflib.get_close_matches(name, PUBLISHED, 1, 0.5)
    raise ConfigError(
        f"there is no speech model {name}",
        hint=f"did you mean {near[0]}?" if near else "choose one of " + ", ".join(PUBLISHED),
    )


def find(name: str, models_dir: Path, environ: Mapping[str, str]) -> Path:
    """The folder of a model, checked: 0.1 to 0.5 s.

    Raises `MissingWeightsError`, `ChecksumError`, and `ConfigError` for a name that is none.
    """
    model = published(name)
    if model is None:
        return _own(expanded(name))
    folder = present(model, models_dir, environ)
    if folder is None:
        raise MissingWeightsError(
            f"the speech model {name} is not here yet",
            hint=f"run `lila models pull {name}`, or name a folder with a model of "
            "faster-whisper's as `recogniser` under [voice] in settings.toml",
        )
    verify(model, folder)
    return folder


def present(model: Published, models_dir: Path, environ: Mapping[str, str]) -> Path | None:
    """Where a model is with all its files; None where it is not. Nothing is hashed."""
    places = [models_dir / model.name]
    if model.revision:
        places.append(cached(model.repository, model.revision, environ))
    for folder in places:
        names = [file.name for file in expected(model, folder)] or list(NEEDED)
        if all((folder / name).is_file() for name in names):
            return folder
    return None


def installed(models_dir: Path, environ: Mapping[str, str]) -> tuple[Published, ...]:
    """The known models that are here; nothing is hashed."""
    return tuple(
        model for model in PUBLISHED.values() if present(model, models_dir, environ) is not None
    )


def expected(model: Published, folder: Path) -> tuple[Entry, ...]:
    """The files a model should have: as published, or as written down when it was fetched."""
    return model.files or _noted(folder)


def verify(model: Published, folder: Path) -> None:
    """Check that each file is, byte for byte, what was published or fetched.

    Raises `ChecksumError`, or `MissingWeightsError` where one cannot be read.
    """
    files = expected(model, folder)
    if not files:
        raise ChecksumError(
            f"nothing says what should be in {folder}", hint=_again(model, "it will not be loaded")
        )
    for file in files:
        path = folder / file.name
        try:
            right = path.stat().st_size == file.size and sha256(path) == file.sha256
        except OSError as error:
            raise MissingWeightsError(
                f"the model file {path} cannot be read: {error.strerror}",
                hint=f"run `lila models pull {model.name}`",
            ) from error
        if not right:
            raise ChecksumError(
                f"the model file {path} is not what it should be",
                hint=_again(model, "it is damaged or was changed, and will not be loaded"),
            )


def note(folder: Path, files: tuple[Entry, ...], origin: str) -> None:
    """Write down what was fetched into a folder, and from where."""
    said = {
        "schema_version": 1,
        "origin": origin,
        "files": {file.name: [file.size, file.sha256] for file in files},
    }
    (folder / NOTE).write_text(json.dumps(said, indent=1), encoding="utf-8")


def _noted(folder: Path) -> tuple[Entry, ...]:
    try:
        said = cast("dict[str, object]", json.loads((folder / NOTE).read_text(encoding="utf-8")))
        files = cast("dict[str, tuple[int, str]]", said["files"])
        return tuple(Entry(Path(name).name, *sums) for name, sums in files.items())
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return ()  # none was written, or it is not one of ours


def _own(folder: Path) -> Path:
    """A folder of the person's own; what is in it is theirs to know."""
    missing = [name for name in NEEDED if not (folder / name).is_file()]
    if not folder.is_dir():
        raise MissingWeightsError(
            f"there is no folder {folder}",
            hint="correct `recogniser` under [voice] in settings.toml",
        )
    if missing:
        raise MissingWeightsError(
            f"{folder} is no model of faster-whisper's: {', '.join(missing)} is not in it",
            hint="name a folder as `ct2-transformers-converter` makes them, or "
            f"`{DEFAULT}`, as `recogniser` under [voice] in settings.toml",
        )
    return folder


def _again(model: Published, what: str) -> str:
    return f"{what}; `lila models pull {model.name}` puts it right"


def _is_path(name: str) -> bool:
    return name.startswith(("~", ".")) or "/" in name or "\\" in name
