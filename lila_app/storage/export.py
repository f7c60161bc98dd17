"""Everything back out, in open formats: a folder or a zip of JSONL with a manifest.

One snapshot is written, row by row, whatever its size; nothing is under the name that was asked for
until all of it is. What was forgotten is not there, and neither are vectors and full-text indexes,
which are computed from the rows.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import zipfile
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

from lila_app.errors import StorageError, UsageError
from lila_app.storage import cold, migrations, portable
from lila_app.storage.connection import Store
from lila_app.storage.driver import Connection
from lila_app.storage.values import instant
from lila_app.version import VERSION

Progress = Callable[[int, int, str], None]

Rows = Iterator[dict[str, object]]

_REPORTED = 5_000


class Sink(Protocol):
    """Where the files go."""

    def file(self, name: str) -> contextlib.AbstractContextManager[_Writable]:
        """A file to write."""
        ...


class _Writable(Protocol):
    def write(self, data: bytes, /) -> object: ...


def export(store: Store, path: Path, *, at: str, progress: Progress) -> tuple[tuple[str, int], ...]:
    """Write the open form of a store to a new folder, or a new file that ends in `.zip`.

    Files are 0600, folders 0700. Returns rows a file. Raises `UsageError`, `StorageError`.
    """
    path = path.expanduser().absolute()
    if path.exists() and (path.is_file() or any(path.iterdir())):
        raise UsageError(f"{path} exists already", hint="name one that does not exist yet")
    try:
        with _sink(path) as sink, store.read() as connection:
            counts = _files(connection, sink, progress)
            manifest = {
                "lila_export": portable.FORMAT,
                "lila": VERSION,
                "schema": len(migrations.MIGRATIONS),
                "at": instant(at),
                "rows": counts,
                "sequences": _sequences(connection),
                "left_out": {
                    **portable.LEFT,
                    "vectors": "they are computed from the texts",
                    "full text": "it is computed from the texts",
                    "keys": "they are never in the store",
                },
            }
            with sink.file(portable.MANIFEST) as file:
                file.write(json.dumps(manifest, indent=2).encode())
    except OSError as error:
        raise StorageError(
            f"{path} cannot be written ({error.strerror or error})", hint="choose another place"
        ) from error
    return tuple(counts.items())


@contextmanager
def _sink(path: Path) -> Generator[Sink]:
    partial = path.with_name(f"{path.name}.partial")
    _remove(partial)
    try:
        if path.suffix.lower() == ".zip":
            descriptor = os.open(partial, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
            with (
                os.fdopen(descriptor, "wb") as file,
                zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive,
            ):
                yield _Zip(archive)
        else:
            partial.mkdir(mode=0o700, parents=True)
            yield _Folder(partial)
            if path.exists():  # an empty folder
                path.rmdir()
        partial.replace(path)
    finally:
        _remove(partial)


def _remove(partial: Path) -> None:
    if partial.is_dir() and not partial.is_symlink():
        shutil.rmtree(partial)
    else:
        partial.unlink(missing_ok=True)


class _Folder:
    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @contextmanager
    def file(self, name: str) -> Generator[_Writable]:
        place = self._folder / name
        descriptor = os.open(place, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            yield file


class _Zip:
    def __init__(self, archive: zipfile.ZipFile) -> None:
        self._archive = archive

    @contextmanager
    def file(self, name: str) -> Generator[_Writable]:
        with self._archive.open(name, "w", force_zip64=True) as member:
            yield member


def _files(connection: Connection, sink: Sink, progress: Progress) -> dict[str, int]:
    names = portable.tables(connection)
    sizes = {
        name: int(connection.execute(f"select count(*) from {name}").fetchone()[0])
        for name in names
    }
    total = sum(sizes.values()) + sizes["turns"]
    done = 0
    counts: dict[str, int] = {}

    def write(name: str, rows: Rows) -> None:
        nonlocal done
        count = 0
        with sink.file(name) as file:
            for row in rows:
                file.write(json.dumps(row, ensure_ascii=False).encode() + b"\n")
                count += 1
                if count % _REPORTED == 0:
                    progress(min(done + count, total), total, name)
        done += count
        counts[name] = count

    write(portable.MESSAGES, _messages(connection))
    for name in names:
        rows = _records(connection) if name == "records" else _rows(connection, name)
        write(f"{name}.jsonl", rows)
    progress(total, total, "exported")
    return counts


def _sequences(connection: Connection) -> dict[str, int]:
    """The highest number each table ever gave."""
    known = set(portable.tables(connection))
    rows = connection.execute("select name, seq from sqlite_sequence order by name")
    return {name: seq for name, seq in rows if name in known}


def _rows(connection: Connection, table: str) -> Rows:
    names = portable.columns(connection, table)
    for row in connection.execute(f"select {', '.join(names)} from {table}"):
        yield portable.out(table, names, row)


def _records(connection: Connection) -> Rows:
    """Records each by itself, also those that were packed together."""
    batch, held = None, dict[int, cold.Entry]()
    for row in _rows(connection, "records"):
        if row["batch_id"] is not None:
            if row["batch_id"] != batch:
                batch = row["batch_id"]
                held = cold.read(connection, int(str(batch)))
            entry = held[int(str(row["id"]))]
            row |= {"body": entry.record, "inputs": entry.inputs, "batch_id": None}
        yield row


def _messages(connection: Connection) -> Rows:
    """What was said, in order, as `lila import` reads it; sessions that were deleted are gone."""
    rows = connection.execute(
        "select t.id, t.session_id, s.title, t.at, t.speaker, iif(t.user_erased, '', t.user), "
        "iif(t.reply_erased, '', coalesce(t.reply, '')), t.external_ids from turns t "
        "join sessions s on s.id = t.session_id where s.deleted = 0 order by t.sequence"
    )
    for id, session, title, at, speaker, user, reply, external in rows:
        sides = [
            ({"speaker": speaker} if speaker else {"role": "user"}, user, "user"),
            ({"role": "assistant"}, reply, "reply"),
        ]
        said = [(who, text, side) for who, text, side in sides if text.strip()]
        ids: list[str] = json.loads(external)
        own = [f"t{id}.{side}" for _, _, side in said]
        for (who, text, _), one in zip(said, ids if len(ids) == len(said) else own, strict=True):
            yield {
                "id": one,
                "session": f"s{session}",
                "title": title,
                "at": at,
                **who,
                "text": text,
            }
