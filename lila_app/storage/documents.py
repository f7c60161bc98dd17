"""Documents and their chunks, replaced whole in one transaction per document.

The truth of a chunk is the file it came from. A chunk that is the same after a change keeps its
id and its vector; a new one gets a number that no chunk of that document had before, so "d4.12"
never comes to mean another text.
"""

from __future__ import annotations

import secrets
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from lila_app.errors import NotFoundError
from lila_app.storage import erasure, events, vectors
from lila_app.storage.connection import Source, reading, writing
from lila_app.storage.driver import Connection
from lila_app.storage.values import instant, number, pair, storable

_DOCUMENT = "id, path, title, kind, sha256, size, mtime, ingested_at, problem, external_id, chunks"
_CHUNK = "document_id, number, ordinal, heading, text, tokens, first_line, page, digest"


@dataclass(frozen=True, slots=True)
class NewChunk:
    """A piece of a document; `heading` is its path of headings, "A › B"."""

    heading: str
    text: str
    tokens: int
    first_line: int | None = None
    page: int | None = None


@dataclass(frozen=True, slots=True)
class ChunkRow:
    """A stored chunk; `ordinal` is its place in the document, from 0."""

    id: str
    document_id: str
    ordinal: int
    heading: str
    text: str
    tokens: int
    first_line: int | None
    page: int | None
    digest: str


@dataclass(frozen=True, slots=True)
class DocumentRow:
    """An ingested document; `mtime` is in nanoseconds, `problem` says why it has no text."""

    id: str
    path: str
    title: str
    kind: str
    sha256: str
    size: int
    mtime: int
    ingested_at: str
    problem: str
    external_id: str
    chunks: int


def upsert_document(
    source: Source,
    *,
    path: str,
    title: str,
    kind: str,
    sha256: str,
    size: int,
    mtime: int,
    chunks: Sequence[NewChunk],
    at: str,
    problem: str = "",
    external_id: str = "",
    generation: int | None = None,
) -> DocumentRow:
    """Store a document and its chunks in place of what was stored under this path."""
    at = instant(at)
    with writing(source) as connection:
        erasure.require(connection, generation)
        connection.execute(
            "insert into documents (path, title, kind, sha256, size, mtime, ingested_at, problem, "
            "external_id, chunks, next_number) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 1) "
            "on conflict (path) do update set title = excluded.title, kind = excluded.kind, "
            "sha256 = excluded.sha256, size = excluded.size, mtime = excluded.mtime, "
            "ingested_at = excluded.ingested_at, problem = excluded.problem, "
            "external_id = excluded.external_id, chunks = excluded.chunks",
            (
                storable(path),
                storable(title),
                kind,
                sha256,
                size,
                mtime,
                at,
                problem,
                external_id,
                len(chunks),
            ),
        )
        document = find_document(connection, path)
        assert document is not None
        _replace_chunks(connection, number(document.id, "d"), chunks)
        events.append(
            connection,
            "document_ingested",
            subject=document.id,
            session_id=None,
            at=at,
            body={"path": path, "title": title, "sha256": sha256, "chunks": len(chunks)},
        )
        return document


def touch(source: Source, id: str, *, size: int, mtime: int) -> None:
    """Note that a file's times changed while its content did not."""
    with writing(source) as connection:
        connection.execute(
            "update documents set size = ?, mtime = ? where id = ?", (size, mtime, number(id, "d"))
        )


def get_document(source: Source, id: str) -> DocumentRow:
    """One document."""
    with reading(source) as connection:
        row = connection.execute(
            f"select {_DOCUMENT} from documents where id = ?", (number(id, "d"),)
        ).fetchone()
    if row is None:
        raise NotFoundError(f"there is no document {id}", hint="`lila ingest` adds documents")
    return _document(row)


def by_ids(source: Source, ids: Iterable[str]) -> list[DocumentRow]:
    """The documents of these ids that exist, in the order asked for."""
    wanted = [number(id, "d") for id in ids]
    marks = ", ".join("?" * len(wanted))
    with reading(source) as connection:
        rows = connection.execute(
            f"select {_DOCUMENT} from documents where id in ({marks})", wanted
        ).fetchall()
    found = {row[0]: _document(row) for row in rows}
    return [found[one] for one in wanted if one in found]


def find_document(source: Source, path: str) -> DocumentRow | None:
    """The document stored under a path."""
    with reading(source) as connection:
        row = connection.execute(
            f"select {_DOCUMENT} from documents where path = ?", (path,)
        ).fetchone()
    return None if row is None else _document(row)


def list_documents(source: Source) -> list[DocumentRow]:
    """Every document, by id."""
    with reading(source) as connection:
        rows = connection.execute(f"select {_DOCUMENT} from documents order by id")
        return [_document(row) for row in rows]


def get_chunks(source: Source, ids: Iterable[str]) -> list[ChunkRow]:
    """The chunks of these ids that exist, in the order asked for."""
    wanted = [pair(id, "d") for id in ids]
    if not wanted:
        return []
    marks = ", ".join(["(?, ?)"] * len(wanted))
    with reading(source) as connection:
        rows = connection.execute(
            f"select {_CHUNK} from chunks where (document_id, number) in (values {marks})",
            [value for one in wanted for value in one],
        ).fetchall()
    found = {(row[0], row[1]): row for row in rows}
    return [_chunk(found[one]) for one in wanted if one in found]


def list_chunks(source: Source, document_id: str) -> list[ChunkRow]:
    """A document's chunks in the document's order."""
    with reading(source) as connection:
        rows = connection.execute(
            f"select {_CHUNK} from chunks where document_id = ? order by ordinal",
            (number(document_id, "d"),),
        )
        return [_chunk(row) for row in rows]


def remove(source: Source, id: str, *, at: str) -> DocumentRow:
    """Take out a document whose file is gone: rows, index, vectors and the event's content.

    Context records that saw it keep what they saw; `forget.forget_document` erases that too.
    """
    with writing(source) as connection:
        document = get_document(connection, id)
        row = number(id, "d")
        _delete_chunks(connection, [one[0] for one in _chunk_rows(connection, row)])
        connection.execute("delete from documents where id = ?", (row,))
        events.append(connection, "document_removed", subject=id, session_id=None, at=at, body={})
        events.erase(connection, events.of_subject(connection, id, ("document_ingested",)), at=at)
        return document


def _replace_chunks(connection: Connection, document: int, chunks: Sequence[NewChunk]) -> None:
    kept: dict[tuple[str, str], list[int]] = defaultdict(list)
    for row, heading, text in reversed(_chunk_rows(connection, document)):
        kept[heading, text].append(row)
    next_number: int = connection.execute(
        "select next_number from documents where id = ?", (document,)
    ).fetchone()[0]
    for ordinal, chunk in enumerate(chunks):
        same = kept[chunk.heading, chunk.text]
        if same:
            connection.execute(
                "update chunks set ordinal = ?, tokens = ?, first_line = ?, page = ? where id = ?",
                (ordinal, chunk.tokens, chunk.first_line, chunk.page, same.pop()),
            )
        else:
            _insert_chunk(connection, document, next_number, ordinal, chunk)
            next_number += 1
    _delete_chunks(connection, [row for rows in kept.values() for row in rows])
    connection.execute("update documents set next_number = ? where id = ?", (next_number, document))


def _insert_chunk(
    connection: Connection, document: int, chunk_number: int, ordinal: int, chunk: NewChunk
) -> None:
    salt = secrets.token_bytes(events.SALT_BYTES)
    content = f"{storable(chunk.heading)}\n{storable(chunk.text)}".encode()
    connection.execute(
        "insert into chunks (document_id, number, ordinal, heading, text, tokens, first_line, "
        "page, salt, digest) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            document,
            chunk_number,
            ordinal,
            chunk.heading,
            chunk.text,
            chunk.tokens,
            chunk.first_line,
            chunk.page,
            salt,
            events.sign(salt, content).hex(),
        ),
    )


def _chunk_rows(connection: Connection, document: int) -> list[tuple[int, str, str]]:
    return connection.execute(
        "select id, heading, text from chunks where document_id = ? order by ordinal", (document,)
    ).fetchall()


def _delete_chunks(connection: Connection, rows: Sequence[int]) -> None:
    vectors.delete_rows(connection, "chunks", rows)
    connection.executemany("delete from chunks where id = ?", [(row,) for row in rows])


def _document(row: tuple[Any, ...]) -> DocumentRow:
    return DocumentRow(f"d{row[0]}", *row[1:])


def _chunk(row: tuple[Any, ...]) -> ChunkRow:
    return ChunkRow(f"d{row[0]}.{row[1]}", f"d{row[0]}", *row[2:])
