from __future__ import annotations

import json
import shutil
import stat
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from lila_app.errors import DocumentError, UsageError
from lila_app.importing.sources import is_own_export
from lila_app.storage import check, cuts, forget, memories, records, relations, sessions, state
from lila_app.storage.connection import Store
from lila_app.storage.export import export
from lila_app.storage.restoring import restore
from tests.importing.support import bring, lines, rows, said
from tests.storage.builders import AT, answered, exchange, ingest, save, session


def quiet(*_: object) -> None:
    pass


def lived(store: Store, folder: Path) -> None:
    """A bit of everything, some of it forgotten."""
    one = session(store, "Ships")
    memory = memories.add(store, "Anna likes tea", at=AT, external_ids=["x"])
    gone = memories.add(store, "Ben hides gold under the fir", at=AT)
    answered(store, one, "hello", "hi", [(memory.id, memory.digest, memory.text)])
    exchange(store, one, "what now?", "tea \N{GRINNING FACE}")
    sessions.fork(store, one, at=AT)
    cuts.cut(store, one, upto_sequence=3, summary="They met.", reason="window", at=AT)
    sessions.enter_epoch(store, one, "x", body={"a": 1}, at=AT)
    state.set_goal(store, "ship", session_id=one, at=AT)
    state.add_note(store, "tests are red", session_id=one, at=AT)
    relations.add(store, "Anna", "likes", "tea", at=AT)
    ingest(store, ["green", "black"])
    forget.forget_memory(store, gone.id, at=AT)
    ended = session(store, "Ended")
    exchange(store, ended, "nobody may know of the otter", "no")
    sessions.delete(store, ended, at=AT)
    for _ in range(16):
        save(store, one, [(memory.id, memory.digest, memory.text)])
    assert records.cool(store, keep_recent=0)
    bring(
        store,
        lines(
            folder / "talk.jsonl",
            {"id": "1", "session": "s", "at": AT, "speaker": "Ann", "text": "I paint"},
            {"id": "2", "session": "s", "at": AT, "role": "user", "text": "Do you?"},
            {"id": "3", "session": "s", "at": AT, "role": "assistant", "text": "I do not."},
        ),
    )


@pytest.fixture(scope="module")
def once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store that was lived in, and its export."""
    folder = tmp_path_factory.mktemp("once")
    with Store.open(folder / "data" / "default.db") as opened:
        lived(opened, folder)
        export(opened, folder / "out", at=AT, progress=quiet)
    return folder


@pytest.fixture
def store(once: Path, tmp_path: Path) -> Iterator[Store]:
    copied = shutil.copytree(once / "data", tmp_path / "data")
    with Store.open(copied / "default.db") as opened:
        yield opened


@pytest.fixture
def made(once: Path, tmp_path: Path) -> Path:
    shutil.copy(once / "talk.jsonl", tmp_path)
    return shutil.copytree(once / "out", tmp_path / "out")


@pytest.fixture
def other(tmp_path: Path) -> Any:
    with Store.open(tmp_path / "other" / "x.db") as opened:
        yield opened


def content(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_what_is_put_back_is_whole_and_exports_to_the_same_bytes(
    made: Path, other: Store, tmp_path: Path
) -> None:
    restore(other, made, quiet)
    assert check.check(other).problems == ()
    export(other, tmp_path / "again", at=AT, progress=quiet)
    assert content(tmp_path / "again") == content(made)


def test_a_zip_says_the_same(store: Store, made: Path, other: Store, tmp_path: Path) -> None:
    export(store, tmp_path / "out.zip", at=AT, progress=quiet)
    with zipfile.ZipFile(tmp_path / "out.zip") as archive:
        packed = {name: archive.read(name) for name in archive.namelist()}
    assert packed == content(made)
    assert is_own_export(tmp_path / "out.zip")
    restore(other, tmp_path / "out.zip", quiet)
    assert said(other) == said(store)


def test_everything_is_private_open_and_without_what_was_forgotten(
    store: Store, made: Path
) -> None:
    assert is_own_export(made)
    assert stat.S_IMODE(made.stat().st_mode) == 0o700
    assert {stat.S_IMODE(path.stat().st_mode) for path in made.iterdir()} == {0o600}
    whole = b"".join(content(made).values())
    assert b"otter" not in whole
    assert b"fir" not in whole.replace(b"first", b"")
    assert b"Anna likes tea" in whole
    manifest = json.loads((made / "manifest.json").read_bytes())
    assert manifest["schema"] == 3
    for name, count in manifest["rows"].items():
        found = [json.loads(line) for line in (made / name).read_bytes().splitlines()]
        assert len(found) == count
    assert {"vectors", "keys", "record_batches"} <= manifest["left_out"].keys()
    told = [json.loads(line) for line in (made / "records.jsonl").read_bytes().splitlines()]
    assert len(told) == 17
    assert all(one["body"]["schema_version"] == 1 for one in told)


def test_its_messages_are_what_import_reads(store: Store, made: Path, other: Store) -> None:
    done = bring(other, made / "messages.jsonl")
    assert done.skips == ()
    assert said(other) == said(store)
    titles = "select title from sessions where deleted = 0 order by id"
    assert rows(other, titles) == rows(store, titles)[:1] + rows(store, titles)[2:]
    assert rows(other, "select speaker from turns where speaker != ''") == [("Ann",)]


def test_numbers_once_given_are_not_given_again(store: Store, made: Path, other: Store) -> None:
    restore(other, made, quiet)
    for one in (store, other):
        assert memories.add(one, "new", at=AT).id == "m3"
        assert session(one) == "s5"
        assert records.next_id(one) == "c18"


def test_importing_the_same_source_again_adds_nothing_after_a_restore(
    made: Path, other: Store, tmp_path: Path
) -> None:
    restore(other, made, quiet)
    assert bring(other, tmp_path / "talk.jsonl").outcome.known == 3


def test_it_is_not_put_into_a_store_that_holds_something(store: Store, made: Path) -> None:
    with pytest.raises(UsageError, match="holds something"):
        restore(store, made, quiet)


def test_a_place_that_is_taken_is_refused(store: Store, made: Path) -> None:
    before = content(made)
    with pytest.raises(UsageError, match="exists"):
        export(store, made, at=AT, progress=quiet)
    assert content(made) == before


def test_half_an_export_is_nothing(store: Store, tmp_path: Path) -> None:
    def failing(*_: object) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        export(store, tmp_path / "out", at=AT, progress=failing)
    assert not [path for path in tmp_path.iterdir() if path.name.startswith("out")]


def _edit(name: str, change: Callable[[str], str]) -> Callable[[Path], None]:
    def apply(made: Path) -> None:
        path = made / name
        path.write_text(change(path.read_text()))

    return apply


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (_edit("payloads.jsonl", lambda text: text.replace("likes tea", "likes gin")), "log"),
        (_edit("events.jsonl", lambda text: text.replace('"turn_began"', '"x"', 1)), "log"),
        (_edit("events.jsonl", lambda text: text.split("\n", 1)[1]), "rows its manifest"),
        (_edit("turns.jsonl", lambda text: text + "{"), "turns.jsonl: line 5 is no JSON"),
        (_edit("turns.jsonl", lambda text: text + "7\n"), "turns.jsonl: line 5 is no row"),
        (_edit("turns.jsonl", lambda text: text.replace('"user"', '"u; drop"', 1)), "other fields"),
        (_edit("turns.jsonl", lambda text: text + text.splitlines()[0] + "\n"), "cannot be"),
        (_edit("sessions.jsonl", lambda text: text.replace('"id": 1,', '"id": 77,')), "refers"),
        (_edit("chunks.jsonl", lambda text: text.replace("base64", "hex", 1)), "no such value"),
        (_edit("manifest.json", lambda text: text.replace('"schema": 3', '"schema": 2')), "tables"),
        (_edit("manifest.json", lambda text: text[:-5]), "no JSON"),
        (lambda made: (made / "goals.jsonl").unlink(), "goals.jsonl is missing"),
    ],
)
def test_an_export_that_was_changed_is_refused_and_nothing_is_kept(
    made: Path, other: Store, change: Callable[[Path], None], says: str
) -> None:
    change(made)
    with pytest.raises(DocumentError, match=says):
        restore(other, made, quiet)
    assert rows(other, "select count(*) from events") == [(0,)]
    assert rows(other, "select count(*) from turns") == [(0,)]
    assert check.check(other).problems == ()
