from __future__ import annotations

import threading
from pathlib import Path

import numpy as np
import pytest

from lila_app.storage import check, cuts, memories, relations, sessions, state, vectors
from lila_app.storage.connection import Store
from lila_app.storage.driver import sqlite
from tests.storage.builders import AT, answered, exchange, ingest, save, session


def _fill(store: Store) -> None:
    one = session(store)
    memory = memories.add(store, "Anna likes tea", at=AT)
    memories.add(store, "Ben likes coffee", at=AT)
    answered(store, one, "hello", "hi", [(memory.id, memory.digest, memory.text)])
    exchange(store, one, "what now?", "tea")
    sessions.fork(store, one, at=AT)
    cuts.cut(store, one, upto_sequence=3, summary="They met.", reason="window", at=AT)
    sessions.enter_epoch(store, one, "x", body={}, at=AT)
    state.set_goal(store, "ship", session_id=one, at=AT)
    state.add_note(store, "tests are red", session_id=one, at=AT)
    relations.add(store, "Anna", "likes", "tea", at=AT)
    ingest(store, ["green", "black"])
    vectors.add(store, "memories", ["m1", "m2"], np.eye(2, 8, dtype=np.float32), "one")
    for _ in range(16):
        save(store, one, [])
    from lila_app.storage import records

    records.cool(store, keep_recent=0)


def _damage(path: Path, *statements: str) -> None:
    """Change what no part of LILA would, with triggers and foreign keys off."""
    connection = sqlite.connect(path, isolation_level=None)
    import sqlite_vec

    connection.enable_load_extension(True)
    sqlite_vec.load(connection)
    connection.execute("pragma recursive_triggers = off")
    saved = connection.execute("select name, sql from sqlite_master where type = 'trigger'")
    triggers = saved.fetchall()
    for name, _ in triggers:
        connection.execute(f"drop trigger {name}")
    for statement in statements:
        connection.execute(statement)
    for _, sql in triggers:
        connection.execute(sql)
    connection.close()


def test_a_store_that_was_used_is_whole(store: Store) -> None:
    _fill(store)
    report = check.check(store)
    assert report.problems == ()
    counts = dict(report.counts)
    assert (counts["turns"], counts["memories"], counts["chunks"], counts["records"]) == (
        2,
        2,
        2,
        17,
    )
    assert report.pending_vectors == 4


def test_an_empty_store_is_whole(store: Store) -> None:
    assert check.check(store).problems == ()


def test_a_store_open_for_reading_only_can_be_checked(path: Path) -> None:
    with Store.open(path) as store:
        _fill(store)
    with Store.open(path, read_only=True) as store:
        report = check.check(store)
    assert report.problems == ()


@pytest.mark.parametrize(
    ("statement", "kind", "where"),
    [
        ("update memories set text = 'Anna hates tea' where id = 1", "full text", "memories"),
        ("update memories set text = 'Anna hates tea' where id = 1", "log", "m1"),
        ("update turns set user = 'bye' where id = 1", "log", "t1"),
        ("delete from turns where id = 2", "log", "t2"),
        ("delete from turns where id = 2", "full text", "turns"),
        ("delete from chunks where id = 1", "full text", "chunks"),
        ("delete from chunks where id = 1", "documents", "d1"),
        ("insert into goals values (9, null, 'x', 'active', '', '')", "log", "g9"),
        ("update goals set session_id = 77", "foreign key", "goals row 1"),
        ("delete from memories where id = 1", "vectors", "vec_memories_1"),
        ("delete from vec_memories_1 where id = 1", "vectors", "vec_memories_1"),
        ("delete from vector_rows where row_id = 2", "vectors", "vec_memories_1"),
        ("delete from payloads where sequence = 2", "payload", "v2"),
        ("update events set kind = 'other' where sequence = 2", "chain", "v2"),
        ("update records set inputs = x'00' where id = 17", "records", "c17"),
        ("update records set body = null where id = 17", "records", "c17"),
        ("delete from policies", "records", "c1"),
        ("update record_batches set body = x'00'", "records", "batch 1"),
        ("update records set batch_id = null where id = 3", "records", "batch 1"),
        ("drop index turns_by_session", "structure", "turns_by_session"),
        ("create table turns_of_mine (x)", "structure", "turns_of_mine"),
    ],
)
def test_damage_is_found_and_named(path: Path, statement: str, kind: str, where: str) -> None:
    with Store.open(path) as store:
        _fill(store)
    _damage(path, "pragma foreign_keys = off", statement)
    with Store.open(path) as store:
        problems = check.check(store).problems
    assert (kind, where) in {(problem.kind, problem.where) for problem in problems}
    assert all(problem.detail for problem in problems)


def test_overwritten_pages_are_reported_and_not_raised(path: Path) -> None:
    with Store.open(path) as store:
        _fill(store)
        with store.exclusive() as connection:
            root = connection.execute(
                "select rootpage from sqlite_master where name = 'turns_by_session'"
            ).fetchone()[0]
    raw = bytearray(path.read_bytes())
    raw[(root - 1) * 4096 : root * 4096] = b"\x5a" * 4096
    path.write_bytes(raw)
    with Store.open(path) as store:
        problems = check.check(store).problems
    assert "structure" in {problem.kind for problem in problems}


def test_checking_does_not_disturb_others(store: Store) -> None:
    _fill(store)
    failures: list[BaseException] = []

    def work() -> None:
        try:
            for count in range(20):
                memories.add(store, f"memory {count}", at=AT)
        except BaseException as error:
            failures.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    reports = [check.check(store) for _ in range(5)]
    thread.join()
    assert failures == []
    assert [report.problems for report in reports] == [()] * 5


def test_a_check_on_a_connection_that_searched_long_ago_finds_the_index_whole(
    store: Store, path: Path
) -> None:
    its_own = session(store)
    exchange(store, its_own, "the lighthouse keeper", "keeps a ledger")
    with Store.open(path, read_only=True) as reader:
        with reader.read() as connection:
            search = "select count(*) from turns_fts where turns_fts match 'lighthouse'"
            assert connection.execute(search).fetchone() == (1,)
        for number in range(40):
            exchange(store, its_own, f"ship {number}", "passes")
        with store.write() as connection:
            connection.execute("insert into turns_fts (turns_fts) values ('optimize')")
        assert check.check(reader).problems == ()
