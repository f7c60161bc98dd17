from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lila_app.storage import bulk, check, events, sessions, turns
from lila_app.storage.bulk import Message
from lila_app.storage.connection import Store

AT = "2026-01-01T00:00:00+00:00"

MESSAGES = st.lists(
    st.builds(
        Message,
        st.sampled_from(["s1", "s2"]),
        st.sampled_from(["user", "assistant"]),
        st.text(st.characters(codec="utf-8"), min_size=1, max_size=12).filter(str.strip),
        st.sampled_from([f"2026-01-0{day}T00:00:00+00:00" for day in range(1, 6)]),
        st.sampled_from(["", "x1", "x2"]),
        st.sampled_from(["", "", "Ann"]),
    ),
    min_size=1,
    max_size=12,
)


def opened(path: Path) -> Store:
    store = Store.open(path)
    for _ in range(2):
        sessions.create(store, at=AT, use_case="chat", title="t")
    return store


def shown(store: Store) -> tuple[Any, ...]:
    """All that both ways must agree on: salts differ, and with them digests and hashes."""
    with store.read() as connection:
        log = [
            (event.sequence, event.kind, event.subject, event.session_id, event.at, event.body)
            for event in events.list_events(connection)
        ]
        rows = connection.execute(
            "select id, session_id, sequence, use_case, at, user, reply, user_erased, "
            "reply_erased, stopped, record_id, model, external_ids, speaker, source, learned "
            "from turns order by id"
        ).fetchall()
        used = connection.execute("select id, last_at from sessions").fetchall()
    return log, rows, used


@pytest.mark.usefixtures("copied_stores")
@settings(max_examples=10)
@given(MESSAGES, st.integers(0, 12))
def test_many_at_once_are_the_same_rows_and_log_as_one_by_one(
    tmp_path_factory: Any, messages: list[Message], cut: int
) -> None:
    folder = tmp_path_factory.mktemp("bulk")
    with opened(folder / "one" / "a.db") as one, opened(folder / "many" / "a.db") as many:
        for message in messages:
            turns.append_message(
                one,
                message.session_id,
                message.role,
                message.text,
                at=message.at,
                external_id=message.external_id,
                speaker=message.speaker,
                origin="import:1",
            )
        for batch in (messages[:cut], messages[cut:]):
            with many.write() as connection:
                bulk.append_messages(connection, batch, origin="import:1")
        assert shown(many) == shown(one)
        with many.read() as connection:
            assert events.verify(connection) == []
        assert check.check(many).problems == ()


def test_a_turns_digest_follows_from_its_words_and_its_reply(tmp_path: Path) -> None:
    with opened(tmp_path / "d" / "a.db") as store:
        said = [Message("s1", "user", "q", AT), Message("s1", "assistant", "a", AT)]
        with store.write() as connection:
            bulk.append_messages(connection, said, origin="import:1")
            log = events.list_events(connection, session_id="s1")
            digest = connection.execute("select digest from turns").fetchone()[0]
        assert digest == events.combine(log[-2].digest, log[-1].digest)


def test_the_turn_and_side_of_each_message_are_told(tmp_path: Path) -> None:
    with opened(tmp_path / "d" / "a.db") as store:
        said = [
            Message("s1", "user", "q", AT),
            Message("s2", "assistant", "alone", AT),
            Message("s1", "assistant", "a", AT),
            Message("s1", "assistant", "more", AT),
        ]
        with store.write() as connection:
            placed = bulk.append_messages(connection, said, origin="import:1", learn=False)
        assert placed == [("t1", "user"), ("t2", "reply"), ("t1", "reply"), ("t3", "reply")]
