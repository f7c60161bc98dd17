from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from lila_app.documents import index
from lila_app.documents.index import ingest
from lila_app.documents.pending import BATCH, embed_pending
from lila_app.embedding import Counter, MiniLM
from lila_app.errors import Cancelled, UsageError
from lila_app.storage import documents, erasure, vectors
from lila_app.storage.connection import Store
from lila_app.storage.search import search_text
from lila_app.views import DocumentProblem, IngestReport
from tests.documents import files
from tests.documents.conftest import Digests

NOW = "2026-11-30T12:00:00+00:00"
LATER = "2026-12-01T12:00:00+00:00"

Ingest = Callable[..., IngestReport]


@pytest.fixture
def take(store: Store, digests: Digests, counter: Counter) -> Ingest:
    def run(*paths: Path, now: str = NOW) -> IngestReport:
        return ingest(store, digests, counter, paths, now=now)

    return run


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "trip.md").write_text(
        "# Trip\n\n## Lisbon\n\nWe fly on Friday.\n\n## Porto\n\nTwo nights."
    )
    (folder / "list.txt").write_text("flour\nwater\nsalt\n")
    (folder / "deep").mkdir()
    (folder / "deep" / "boiler.md").write_text("# Boiler\n\nServiced every October.")
    return folder


def outcome(report: IngestReport) -> tuple[int, int, int, int]:
    return report.added, report.changed, report.unchanged, report.removed


def titles(store: Store) -> list[str]:
    return [row.title for row in documents.list_documents(store)]


def test_a_folder_is_taken_in_with_chunks_text_index_and_vectors(
    store: Store, take: Ingest, notes: Path
) -> None:
    report = take(notes)
    assert outcome(report) == (3, 0, 0, 0)
    assert report.chunks == 4
    assert report.problems == ()
    assert titles(store) == ["Boiler", "list.txt", "Trip"]
    trip = documents.find_document(store, str(notes / "trip.md"))
    assert trip is not None
    assert (trip.kind, trip.ingested_at, trip.chunks) == ("markdown", NOW, 2)
    assert [(c.heading, c.text, c.first_line) for c in documents.list_chunks(store, trip.id)] == [
        ("Trip › Lisbon", "We fly on Friday.", 5),
        ("Trip › Porto", "Two nights.", 9),
    ]
    assert vectors.pending_count(store, "chunks", "digests") == 0
    assert [hit.id for hit in search_text(store, "chunks", "october", k=3)] == ["d1.1"]


def test_every_path_of_headings_starts_with_the_title_once(
    store: Store, take: Ingest, tmp_path: Path
) -> None:
    pages = [("Part I", 0), ("manual.pdf", 1)]
    (tmp_path / "manual.pdf").write_bytes(
        files.pdf_with_outline(["one", "two"], [(0, title, page) for title, page in pages])
    )
    (tmp_path / "two.md").write_text("# A\n\nx\n\n# B\n\ny")
    take(tmp_path / "manual.pdf", tmp_path / "two.md")
    found = [c.heading for d in ("d1", "d2") for c in documents.list_chunks(store, d)]
    assert found == ["manual.pdf › Part I", "manual.pdf", "A", "A › B"]


def test_a_second_run_reads_nothing_again(
    take: Ingest, notes: Path, monkeypatch: pytest.MonkeyPatch, digests: Digests
) -> None:
    take(notes)
    digests.seen.clear()

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("read again")

    monkeypatch.setattr(index, "load", refuse)
    monkeypatch.setattr(index, "sha256", refuse)
    assert outcome(take(notes)) == (0, 0, 3, 0)
    assert digests.seen == []


def test_a_new_time_with_the_same_content_changes_nothing_and_is_remembered(
    take: Ingest, notes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    take(notes)
    os.utime(notes / "list.txt", ns=(1, 1))
    assert outcome(take(notes)) == (0, 0, 3, 0)
    monkeypatch.setattr(index, "sha256", lambda *_, **__: "read again")
    assert outcome(take(notes)) == (0, 0, 3, 0)


def test_a_changed_file_keeps_its_id_and_embeds_only_what_is_new(
    store: Store, take: Ingest, notes: Path, digests: Digests
) -> None:
    take(notes)
    before = documents.find_document(store, str(notes / "trip.md"))
    digests.seen.clear()
    (notes / "trip.md").write_text(
        "# Trip\n\n## Lisbon\n\nWe fly on Saturday!\n\n## Porto\n\nTwo nights."
    )
    report = take(notes, now=LATER)
    after = documents.find_document(store, str(notes / "trip.md"))
    assert outcome(report) == (0, 1, 2, 0)
    assert before is not None
    assert after is not None
    assert (after.id, after.ingested_at) == (before.id, LATER)
    assert digests.seen == ["Trip › Lisbon\nWe fly on Saturday!"]
    assert search_text(store, "chunks", "friday", k=3) == []
    assert [h.id for h in search_text(store, "chunks", "saturday", k=3)] == [f"{after.id}.3"]


def test_same_size_and_other_content_is_seen_by_its_time(take: Ingest, notes: Path) -> None:
    take(notes)
    (notes / "list.txt").write_text("FLOUR\nwater\nsalt\n")
    os.utime(notes / "list.txt", ns=(5, 5))
    assert outcome(take(notes)) == (0, 1, 2, 0)


def test_files_gone_from_a_folder_are_removed_and_only_those(
    store: Store, take: Ingest, notes: Path, tmp_path: Path
) -> None:
    other = tmp_path / "notes-too"
    other.mkdir()
    (other / "kept.md").write_text("# Kept\n\nx")
    take(notes, other)
    (notes / "list.txt").unlink()
    (notes / "deep" / "boiler.md").unlink()
    (other / "kept.md").unlink()
    assert outcome(take(notes / "deep")) == (0, 0, 0, 1)
    assert outcome(take(notes)) == (0, 0, 1, 1)
    assert titles(store) == ["Trip", "Kept"]
    assert search_text(store, "chunks", "october flour", k=3) == []


def test_a_named_file_that_is_gone_is_removed_and_a_missing_disk_is_not(
    store: Store, take: Ingest, notes: Path
) -> None:
    take(notes)
    (notes / "list.txt").unlink()
    report = take(notes / "list.txt")
    assert (outcome(report), report.problems) == ((0, 0, 0, 1), ())
    notes.rename(notes.with_name("unplugged"))
    report = take(notes / "trip.md")
    assert outcome(report) == (0, 0, 0, 0)
    assert [p.reason for p in report.problems] == ["there is no such file or folder"]
    assert titles(store) == ["Boiler", "Trip"]


def test_what_cannot_be_read_is_named_and_the_rest_done(take: Ingest, notes: Path) -> None:
    (notes / "photo.jpg").write_bytes(b"\xff\xd8\0\0" * 99)
    (notes / "scan.pdf").write_bytes(files.pdf([files.IMAGE]))
    (notes / "empty.md").write_text("")
    report = take(notes, notes / "nowhere" / "x.md")
    assert outcome(report) == (3, 0, 0, 0)
    assert [(Path(p.path).name, p.reason.split(",")[0]) for p in report.problems] == [
        ("empty.md", "there is nothing in it"),
        ("x.md", "there is no such file or folder"),
        ("photo.jpg", "a binary file"),
        ("scan.pdf", "its pages are images without text; make them readable first"),
    ]


def test_a_refused_permission_keeps_what_was_taken_before(
    store: Store, take: Ingest, notes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    take(notes)
    (notes / "list.txt").write_text("changed")

    def refuse(*_: object, **__: object) -> str:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(index, "sha256", refuse)
    report = take(notes)
    assert report.problems == (DocumentProblem(str(notes / "list.txt"), "permission denied"),)
    assert "list.txt" in titles(store)


def test_a_file_that_became_unreadable_no_longer_speaks(
    store: Store, take: Ingest, notes: Path
) -> None:
    take(notes)
    (notes / "list.txt").write_bytes(b"\0\1\2" * 50)
    report = take(notes)
    assert outcome(report) == (0, 0, 2, 1)
    assert report.problems[0].reason == "a binary file, not a document"
    assert "list.txt" not in titles(store)


def test_what_was_read_in_part_is_said_each_time(take: Ingest, tmp_path: Path) -> None:
    (tmp_path / "mixed.pdf").write_bytes(files.pdf(["text", files.IMAGE]))
    first, second = take(tmp_path / "mixed.pdf"), take(tmp_path / "mixed.pdf")
    assert (outcome(first), outcome(second)) == ((1, 0, 0, 0), (0, 0, 1, 0))
    assert first.problems == second.problems
    assert first.problems[0].reason == "pages 2 are images without text"


def test_the_same_file_named_twice_and_by_a_link_is_one_document(
    store: Store, take: Ingest, notes: Path, tmp_path: Path
) -> None:
    (tmp_path / "link.md").symlink_to(notes / "trip.md")
    take(notes, notes / "trip.md", tmp_path / "link.md")
    assert len(documents.list_documents(store)) == 3


def test_names_with_odd_characters_are_taken(store: Store, take: Ingest, tmp_path: Path) -> None:
    folder = tmp_path / "odd"
    folder.mkdir()
    for name in ("new\nline.txt", "[bracket].txt", "ünï 東.txt", "'; drop table chunks;--.txt"):
        (folder / name).write_text("words")
    assert outcome(take(folder)) == (4, 0, 0, 0)
    assert "new line.txt" in titles(store)
    assert outcome(take(folder)) == (0, 0, 4, 0)


def test_progress_counts_files_then_vectors(
    store: Store, digests: Digests, counter: Counter, notes: Path
) -> None:
    calls: list[tuple[int, int, str]] = []
    ingest(store, digests, counter, [notes], now=NOW, progress=lambda *call: calls.append(call))
    assert [(done, total) for done, total, _ in calls] == [
        (0, 3), (1, 3), (2, 3), (3, 3), (0, 4), (4, 4),
    ]  # fmt: skip
    assert calls[0][2].endswith("boiler.md")
    assert calls[-1][2] == "embedding"


def test_stopping_keeps_whole_documents_and_the_next_run_goes_on(
    store: Store, digests: Digests, counter: Counter, notes: Path
) -> None:
    def stop_after_one() -> bool:
        return bool(documents.list_documents(store))

    with pytest.raises(Cancelled):
        ingest(store, digests, counter, [notes], now=NOW, cancelled=stop_after_one)
    assert titles(store) == ["Boiler"]
    assert vectors.pending_count(store, "chunks", "digests") == 1
    report = ingest(store, digests, counter, [notes], now=NOW)
    assert outcome(report) == (2, 0, 1, 0)
    assert vectors.pending_count(store, "chunks", "digests") == 0


def test_stopping_between_batches_keeps_the_vectors_so_far(
    store: Store, digests: Digests, counter: Counter, tmp_path: Path
) -> None:
    path = tmp_path / "long.md"
    path.write_text("\n".join(f"# H{n}\n\ntext {n}\n" for n in range(3 * BATCH)))
    with pytest.raises(Cancelled):
        ingest(
            store, digests, counter, [path], now=NOW, cancelled=lambda: len(digests.seen) >= BATCH
        )
    assert vectors.pending_count(store, "chunks", "digests") == 2 * BATCH
    assert embed_pending(store, digests) == 2 * BATCH
    assert len(digests.seen) == len(set(digests.seen)) == 3 * BATCH


def test_a_time_without_a_zone_is_refused_before_anything_is_stored(
    store: Store, take: Ingest, notes: Path
) -> None:
    with pytest.raises(UsageError, match="no zone"):
        take(notes, now="2026-11-30T12:00:00")
    assert documents.list_documents(store) == []


def test_a_document_forgotten_while_it_is_read_does_not_come_back(
    store: Store, take: Ingest, notes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    take(notes)
    (notes / "list.txt").write_text("flour, water, salt and a secret")
    read = index.load

    def forget_meanwhile(path: Path, **rest: Callable[[], None]) -> object:
        loaded = read(path, **rest)
        row = documents.find_document(store, str(path))
        if row is not None:
            documents.remove(store, row.id, at=NOW)
            with store.write() as connection:
                erasure.bump(connection)
        return loaded

    monkeypatch.setattr(index, "load", forget_meanwhile)
    report = take(notes)
    assert report.problems[0].reason == "forgotten while it was being read"
    assert "list.txt" not in titles(store)
    assert search_text(store, "chunks", "secret", k=3) == []


def test_forgetting_something_else_meanwhile_only_costs_a_second_reading(
    store: Store, take: Ingest, notes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = index.load
    calls: list[Path] = []

    def forget_meanwhile(path: Path, **rest: Callable[[], None]) -> object:
        calls.append(path)
        if len(calls) == 1:
            with store.write() as connection:
                erasure.bump(connection)
        return read(path, **rest)

    monkeypatch.setattr(index, "load", forget_meanwhile)
    assert outcome(take(notes)) == (3, 0, 0, 0)
    assert len(calls) == 4


def test_the_real_model_finds_what_is_meant(store: Store, counter: Counter, notes: Path) -> None:
    vocabulary = Path(__file__).parents[2] / "assets" / "vocabulary" / "minilm-tokenizer.json"
    model = MiniLM(vocabulary)
    ingest(store, model, counter, [notes], now=NOW)
    asked = model.embed(["When is the heating maintained?"])[0]
    best = vectors.search(store, "chunks", asked, k=1, model_id=model.model_id)
    (chunk,) = documents.get_chunks(store, [best[0].id])
    assert chunk.text == "Serviced every October."
