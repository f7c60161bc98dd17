from __future__ import annotations

import numpy as np
import pytest

from lila_app.errors import NotFoundError
from lila_app.storage import documents, erasure, search, vectors
from lila_app.storage.connection import Store
from lila_app.storage.documents import DocumentRow
from tests.storage.builders import AT, ingest


def _chunks(store: Store, document: DocumentRow) -> list[tuple[str, str]]:
    return [(chunk.id, chunk.text) for chunk in documents.list_chunks(store, document.id)]


def test_a_document_is_stored_with_its_chunks(store: Store) -> None:
    document = ingest(store, ["green", "black"])
    assert (document.id, document.chunks, document.mtime) == ("d1", 2, 1_700_000_000_123_456_789)
    assert documents.find_document(store, "/notes/tea.md") == document
    first, second = documents.get_chunks(store, ["d1.1", "d1.2"])
    assert (first.text, first.heading, first.first_line, first.page) == (
        "green",
        "Tea › Kinds",
        1,
        None,
    )
    assert (second.ordinal, second.document_id) == (1, "d1")
    assert documents.get_chunks(store, ["d1.2", "d1.9", "d9.1"]) == [second]
    assert documents.get_chunks(store, ["d1.2", "d1.1"]) == [second, first]
    assert documents.get_chunks(store, []) == []


def test_what_stays_the_same_keeps_its_id_and_its_vector(store: Store) -> None:
    ingest(store, ["green", "black", "white"])
    rows = vectors.pending(store, "chunks", "one", 10)
    vectors.add(store, "chunks", rows.ids, np.eye(3, 8, dtype=np.float32), "one")
    before = documents.get_chunks(store, ["d1.3"])
    document = ingest(store, ["oolong", "white", "green"])
    assert document.id == "d1"
    assert _chunks(store, document) == [("d1.4", "oolong"), ("d1.3", "white"), ("d1.1", "green")]
    assert documents.get_chunks(store, ["d1.2"]) == []
    assert documents.get_chunks(store, ["d1.3"])[0].digest == before[0].digest
    assert vectors.pending(store, "chunks", "one", 10).ids == ("d1.4",)
    assert [hit.id for hit in search.search_text(store, "chunks", "black", k=5)] == []


def test_a_number_is_never_used_for_another_text(store: Store) -> None:
    ingest(store, ["one", "two"])
    ingest(store, ["one"])
    assert _chunks(store, ingest(store, ["one", "three"])) == [("d1.1", "one"), ("d1.3", "three")]


def test_equal_chunks_are_kept_apart(store: Store) -> None:
    document = ingest(store, ["same", "same"])
    assert _chunks(store, document) == [("d1.1", "same"), ("d1.2", "same")]
    assert _chunks(store, ingest(store, ["same", "same", "same"])) == [
        ("d1.1", "same"),
        ("d1.2", "same"),
        ("d1.3", "same"),
    ]


def test_a_removed_document_leaves_neither_rows_nor_index(store: Store) -> None:
    ingest(store, ["green"])
    other = ingest(store, ["black"], "/notes/other.md")
    documents.remove(store, "d1", at=AT)
    assert documents.list_documents(store) == [other]
    assert search.search_text(store, "chunks", "green", k=5) == []
    assert vectors.pending(store, "chunks", "one", 10).ids == ("d2.1",)
    with pytest.raises(NotFoundError):
        documents.get_document(store, "d1")
    assert ingest(store, ["green"]).id == "d3"


def test_a_failure_in_the_middle_keeps_the_old_document_whole(store: Store) -> None:
    document = ingest(store, ["green", "black"])
    with pytest.raises(Exception, match="UTF-8"):
        ingest(store, ["new", "caf\udce9"])
    assert _chunks(store, document) == [("d1.1", "green"), ("d1.2", "black")]


def test_an_ingest_that_a_forgetting_overtook_stores_nothing(store: Store) -> None:
    before = erasure.generation(store)
    with store.write() as connection:
        erasure.bump(connection)
    with pytest.raises(erasure.OvertakenError):
        documents.upsert_document(
            store,
            path="/x",
            title="x",
            kind="text",
            sha256="",
            size=0,
            mtime=0,
            chunks=[],
            at=AT,
            generation=before,
        )
    assert documents.list_documents(store) == []


def test_touching_changes_times_alone(store: Store) -> None:
    document = ingest(store, ["green"])
    documents.touch(store, document.id, size=11, mtime=5)
    touched = documents.get_document(store, document.id)
    assert (touched.size, touched.mtime, touched.sha256) == (11, 5, document.sha256)
