from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lila_app.errors import UsageError
from lila_app.storage import events
from lila_app.storage.connection import Store
from lila_app.storage.driver import DatabaseError, sqlite
from tests.storage.builders import AT


def _append(store: Store, text: str, subject: str = "t1") -> events.Event:
    with store.write() as connection:
        return events.append(
            connection, "said", subject=subject, session_id="s1", at=AT, body={"text": text}
        )


def _verify(store: Store) -> list[events.Problem]:
    with store.read() as connection:
        return events.verify(connection)


def _tamper(path: Path, *statements: str) -> None:
    """Change rows as someone with the file could, past the triggers."""
    connection = sqlite.connect(path)
    triggers = connection.execute("select name from sqlite_master where type = 'trigger'")
    for (name,) in triggers.fetchall():
        connection.execute(f"drop trigger {name}")
    for statement in statements:
        connection.execute(statement)
    connection.commit()
    connection.close()


@pytest.mark.usefixtures("copied_stores")
@settings(max_examples=40)
@given(
    texts=st.lists(st.text(max_size=20), min_size=1, max_size=25),
    erased=st.lists(st.sets(st.integers(1, 40), max_size=8), max_size=4),
)
def test_the_chain_verifies_after_any_erasing(
    tmp_path_factory: pytest.TempPathFactory, texts: list[str], erased: list[set[int]]
) -> None:
    texts = [text.encode("utf-8", "ignore").decode() for text in texts]
    path = tmp_path_factory.mktemp("chain") / "default.db"
    with Store.open(path) as store:
        for text in texts:
            _append(store, text)
        gone: set[int] = set()
        for sequences in erased:
            with store.write() as connection:
                events.erase(connection, sequences, at=AT)
            gone |= sequences
            _append(store, "after it")
        assert _verify(store) == []
        with store.read() as connection:
            kept = events.list_events(connection, kind="said")
        bodies = {event.sequence: event.body for event in kept}
        for sequence, text in enumerate(texts, 1):
            assert bodies[sequence] == (None if sequence in gone else {"text": text})


def test_each_event_follows_from_the_one_before(store: Store) -> None:
    first, second = _append(store, "one"), _append(store, "two")
    assert (first.sequence, second.sequence) == (1, 2)
    assert first.hash != second.hash
    assert len(bytes.fromhex(second.digest)) == 32


def test_equal_contents_have_different_digests(store: Store) -> None:
    assert _append(store, "same").digest != _append(store, "same").digest


def test_nothing_of_an_erased_payload_is_left(store: Store, path: Path) -> None:
    event = _append(store, "wisteria on the south wall")
    with store.write() as connection:
        assert events.erase(connection, [event.sequence], at=AT) == 1
        assert events.erase(connection, [event.sequence], at=AT) == 0
    store.scrub()
    assert b"wisteria" not in path.read_bytes()
    assert bytes.fromhex(event.digest) in path.read_bytes()
    assert _verify(store) == []


def test_the_log_cannot_be_changed_through_sql(store: Store) -> None:
    _append(store, "one")
    for statement in (
        "update events set at = 'x'",
        "delete from events",
        "update payloads set body = 'x'",
    ):
        with (
            pytest.raises(DatabaseError, match="append-only"),
            store.write() as connection,
        ):
            connection.execute(statement)


@pytest.mark.parametrize(
    ("statement", "kind", "where"),
    [
        ("update events set at = '2020-01-01T00:00:00+00:00' where sequence = 2", "chain", "v2"),
        ("update events set session_id = 9 where sequence = 2", "chain", "v2"),
        ('update payloads set body = \'{"text":"other"}\' where sequence = 2', "payload", "v2"),
        ("delete from payloads where sequence = 2", "payload", "v2"),
        ("delete from events where sequence = 3", "chain", "v2"),
        ("delete from events where sequence = 2", "chain", "v3"),
    ],
)
def test_tampering_is_found(
    store: Store, path: Path, statement: str, kind: str, where: str
) -> None:
    for text in ("one", "two", "three"):
        _append(store, text)
    store.close()
    _tamper(path, "pragma foreign_keys = off", statement)
    with Store.open(path) as again:
        found = _verify(again)
    assert (kind, where) in [(problem.kind, problem.where) for problem in found]


def test_an_erasure_cannot_itself_be_erased(store: Store) -> None:
    first = _append(store, "one")
    with store.write() as connection:
        events.erase(connection, [first.sequence], at=AT)
    with store.write() as connection:
        assert events.erase(connection, [first.sequence + 1], at=AT) == 0
    assert _verify(store) == []


def test_events_outside_a_transaction_are_a_mistake(store: Store) -> None:
    with store.exclusive() as connection, pytest.raises(RuntimeError):
        events.append(connection, "said", subject="t1", session_id=None, at=AT, body={})


@pytest.mark.parametrize("at", ["2026-11-30T11:58:33", "yesterday", ""])
def test_a_time_without_zone_is_refused(store: Store, at: str) -> None:
    with pytest.raises(UsageError) as caught, store.write() as connection:
        events.append(connection, "said", subject="t1", session_id=None, at=at, body={})
    assert caught.value.hint


def test_times_are_kept_in_one_form(store: Store) -> None:
    with store.write() as connection:
        event = events.append(
            connection,
            "said",
            subject="t1",
            session_id=None,
            at="2026-11-30T12:58:33.75+01:00",
            body={},
        )
    assert event.at == "2026-11-30T11:58:33+00:00"


def test_any_unicode_comes_back_as_it_was(store: Store) -> None:
    text = "a\0b \x07 “q” 𝔘 \u202e עברית 🫠"
    _append(store, text)
    with store.read() as connection:
        body: Any = events.list_events(connection)[0].body
    assert body == {"text": text}
    assert json.loads(json.dumps(body)) == {"text": text}


def test_bytes_that_were_never_text_are_refused(store: Store) -> None:
    with pytest.raises(UsageError, match="UTF-8"):
        _append(store, "caf\udce9")
    assert _verify(store) == []
