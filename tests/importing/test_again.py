"""An import that is done again, goes on, or was stopped at any point."""

from __future__ import annotations

import itertools
import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from lila_app.errors import Cancelled, DocumentError
from lila_app.importing import running
from lila_app.storage import check, imports, sessions, turns
from lila_app.storage.connection import Store
from tests.importing.support import NOW, bring, chat, lines, node, rows, said, written

AT = "2026-01-02T03:04:05Z"


def talk(count: int) -> list[dict[str, Any]]:
    return [
        {
            "id": str(number),
            "session": f"s{number // 7}",
            "at": 1_700_000_000 + number,
            "role": "assistant" if number % 7 % 2 else "user",
            "text": f"message {number} about larch",
        }
        for number in range(count)
    ]


def everything(store: Store) -> list[tuple[Any, ...]]:
    return rows(
        store,
        "select t.user, t.reply, t.at, t.external_ids, s.title, s.started_at, s.last_at "
        "from turns t join sessions s on s.id = t.session_id order by t.sequence",
    )


def test_the_same_file_twice_adds_nothing(store: Store, tmp_path: Path) -> None:
    path = lines(tmp_path / "t.jsonl", *talk(40))
    bring(store, path)
    before = rows(store, "select count(*) from events")
    done = bring(store, path)
    assert (done.outcome.messages, done.outcome.known) == (0, 40)
    assert rows(store, "select count(*) from events") == before


def test_a_file_that_grew_adds_what_is_new(store: Store, tmp_path: Path) -> None:
    bring(store, lines(tmp_path / "t.jsonl", *talk(20)))
    done = bring(store, lines(tmp_path / "t.jsonl", *talk(33)))
    assert (done.outcome.messages, done.outcome.known) == (13, 20)
    with Store.open(tmp_path / "other" / "x.db") as other:
        bring(other, lines(tmp_path / "t.jsonl", *talk(33)))
        assert everything(store) == everything(other)


def test_a_newer_export_under_another_name_adds_what_is_new(store: Store, tmp_path: Path) -> None:
    old = [node("a", None, "user", "Q")]
    bring(store, written(tmp_path / "march.json", [chat(*old)]))
    new = [*old, node("b", "a", "assistant", "A"), node("c", "b", "user", "Q2")]
    done = bring(store, written(tmp_path / "june.json", [chat(*new)]))
    assert (done.outcome.messages, done.outcome.sessions) == (2, 0)
    assert said(store) == [("Q", "A"), ("Q2", None)]


def test_a_message_whose_words_changed_is_named_and_stays(store: Store, tmp_path: Path) -> None:
    bring(store, written(tmp_path / "c.json", [chat(node("a", None, "user", "Before"))]))
    done = bring(store, written(tmp_path / "c.json", [chat(node("a", None, "user", "After"))]))
    assert said(store) == [("Before", None)]
    assert done.reasons == ["it was imported as t1 with other words, which stay"]


def test_an_id_that_comes_twice_in_a_file_is_named(store: Store, tmp_path: Path) -> None:
    first = {"id": "1", "session": "s", "at": AT, "role": "user", "text": "one"}
    path = lines(tmp_path / "t.jsonl", first, first, {**first, "text": "two"})
    done = bring(store, path)
    assert (done.outcome.messages, done.outcome.known) == (1, 1)
    assert done.reasons == ["the source has another message of that id"]


def test_what_was_forgotten_does_not_come_back(store: Store, tmp_path: Path) -> None:
    path = lines(tmp_path / "t.jsonl", *talk(14))
    bring(store, path)
    sessions.delete(store, "s1", at=NOW)
    done = bring(store, path)
    assert (done.outcome.messages, done.outcome.known) == (0, 7)
    assert set(done.reasons) == {"it was forgotten here"}
    later = {**talk(1)[0], "id": "new"}
    assert bring(store, lines(path, *talk(14), later)).reasons[-1] == "its session was deleted here"
    assert rows(store, "select external_id from imported_sessions order by session_id") == [
        ("",),
        ("s1",),
    ]
    assert check.check(store).problems == ()


@pytest.mark.parametrize("stop", [1, 2, 6, 34, 60])
def test_stopped_anywhere_it_goes_on_without_loss_or_double(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stop: int
) -> None:
    monkeypatch.setattr(running, "BATCH", 5)
    path = lines(tmp_path / "t.jsonl", *talk(60))
    counting = itertools.count(1)
    with pytest.raises(Cancelled):
        bring(store, path, stopped=lambda: next(counting) >= stop)
    row = imports.list_imports(store)[0]
    assert (row.state, row.position) == ("stopped", (stop - 1) // 5 * 5)
    done = bring(store, path)
    assert done.outcome.resumed_at == row.position
    assert row.messages + done.outcome.messages == 60
    assert imports.list_imports(store)[0].state == "done"
    with Store.open(tmp_path / "other" / "x.db") as other:
        bring(other, path)
        assert everything(store) == everything(other)
    assert check.check(store).problems == ()


def test_a_long_conversation_that_was_stopped_in_its_middle_is_read_again(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running, "BATCH", 10)
    nodes = [
        node(f"n{i}", f"n{i - 1}" if i else None, "assistant" if i % 2 else "user", f"word {i}")
        for i in range(45)
    ]
    path = written(tmp_path / "c.json", [chat(*nodes)])
    write = running.Writer.write
    calls = itertools.count(1)

    def failing(*args: Any, **kwargs: Any) -> Any:
        if next(calls) == 3:
            raise Cancelled("stopped")
        return write(*args, **kwargs)

    with monkeypatch.context() as patch, pytest.raises(Cancelled):
        patch.setattr(running.Writer, "write", failing)
        bring(store, path)
    assert imports.list_imports(store)[0].position == 0
    done = bring(store, path)
    assert (done.outcome.known, done.outcome.messages) == (20, 25)
    assert [user for user, _ in said(store)] == [f"word {i}" for i in range(0, 45, 2)]


def test_a_file_cut_off_keeps_what_came_before_and_goes_on_when_whole(
    store: Store, tmp_path: Path
) -> None:
    whole = written(
        tmp_path / "c.json",
        [chat(node(f"a{i}", None, "user", f"n {i}"), conversation_id=f"c{i}") for i in range(9)],
    ).read_bytes()
    path = tmp_path / "c.json"
    path.write_bytes(whole[: len(whole) * 2 // 3])
    with pytest.raises(DocumentError, match="cut off"):
        bring(store, path)
    assert imports.list_imports(store)[0].state == "stopped"
    path.write_bytes(whole)
    bring(store, path)
    assert [user for user, _ in said(store)] == [f"n {i}" for i in range(9)]


def test_a_dry_run_counts_and_writes_nothing(store: Store, tmp_path: Path) -> None:
    path = lines(tmp_path / "t.jsonl", *talk(10), {"at": 1, "text": "no role"})
    alone = bring(None, path, dry=True)
    assert (alone.outcome.messages, alone.outcome.skipped) == (10, 1)
    bring(store, lines(tmp_path / "t.jsonl", *talk(4)))
    before = rows(store, "select count(*) from events"), imports.list_imports(store)
    lines(tmp_path / "t.jsonl", *talk(10))
    done = bring(store, path, dry=True)
    assert (done.outcome.messages, done.outcome.known) == (6, 4)
    assert (rows(store, "select count(*) from events"), imports.list_imports(store)) == before


def test_without_learning_nothing_waits_to_be_learned_from(store: Store, tmp_path: Path) -> None:
    bring(store, lines(tmp_path / "a.jsonl", *talk(7)), learn=False)
    assert imports.unlearned(store) == 0
    bring(store, lines(tmp_path / "b.jsonl", *talk(7)))
    assert imports.unlearned(store) == 4


def test_a_session_the_person_went_on_with_gets_its_replies_in_the_right_turns(
    store: Store, tmp_path: Path
) -> None:
    bring(store, written(tmp_path / "c.json", [chat(node("a", None, "user", "Q"))]))
    own = turns.append_message(store, "s1", "user", "mine", at=NOW)
    later = chat(node("a", None, "user", "Q"), node("b", "a", "assistant", "A"))
    bring(store, written(tmp_path / "c.json", [later]))
    assert turns.get(store, own.id).reply is None
    assert turns.get(store, "t1").reply == "A"


def test_imported_sessions_stay_out_of_each_others_window(store: Store, tmp_path: Path) -> None:
    bring(store, lines(tmp_path / "t.jsonl", *talk(14)))
    assert len(turns.window(store, "s1")) == 4
    fresh = sessions.create(store, at=NOW, use_case="chat")
    assert turns.window(store, fresh.id) == []


def test_an_imported_session_is_not_gone_on_with_until_the_person_does(
    store: Store, tmp_path: Path
) -> None:
    bring(store, lines(tmp_path / "t.jsonl", *talk(7)))
    assert sessions.latest(store) is None
    own = sessions.create(store, at="2001-01-01T00:00:00+00:00", use_case="chat")
    latest = sessions.latest(store)
    assert latest is not None
    assert latest.id == own.id
    turns.append_message(store, "s1", "user", "mine", at=NOW)
    latest = sessions.latest(store)
    assert latest is not None
    assert latest.id == "s1"


def test_two_processes_that_import_the_same_at_once_add_it_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running, "BATCH", 3)
    path = lines(tmp_path / "t.jsonl", *talk(60))
    database = tmp_path / "data" / "a.db"
    with Store.open(database) as one, Store.open(database) as two:
        with ThreadPoolExecutor(2) as pool:
            done = list(pool.map(lambda store: bring(store, path), (one, two)))
        assert sum(each.outcome.messages for each in done) == 60
        with Store.open(tmp_path / "other" / "x.db") as other:
            bring(other, path)
            assert sorted(everything(one)) == sorted(everything(other))
        assert check.check(one).problems == ()


def test_reasons_are_counted_without_what_is_each_records_own_and_keep_the_names_of_standards(
    store: Store, tmp_path: Path
) -> None:
    times = ("2025-13-01", "2025-14-02")
    texts = [json.dumps({"id": at, "at": at, "role": "user", "text": "hi"}) for at in times]
    path = tmp_path / "x.jsonl"
    path.write_text("\n".join([*texts, '{"id": "3", "at": 1, "role": "user", "text": "\\ud800"}']))
    counted = bring(store, path).outcome.reasons
    assert list(counted.values()) == [2, 1]
    assert next(iter(counted)) == "its time is no ISO 8601 time"
    assert "not valid UTF-8" in list(counted)[1]
