from __future__ import annotations

from pathlib import Path
from zoneinfo import ZoneInfo

from lila_app.importing import jsonl
from lila_app.storage.connection import Store
from tests.importing.support import bring, lines, rows, said

AT = "2026-01-02T03:04:05+00:00"


def test_roles_become_one_turn_and_speakers_one_each(store: Store, tmp_path: Path) -> None:
    path = lines(
        tmp_path / "talk.jsonl",
        {"id": "D1:1", "session": "one", "at": AT, "role": "user", "text": "Hello"},
        {"id": "D1:2", "session": "one", "at": AT, "role": "assistant", "text": "Hi"},
        {"id": 7, "session": 2, "at": AT, "speaker": "Ann", "text": "I paint"},
        {"id": 8, "session": 2, "at": AT, "speaker": "Bo", "text": "I know"},
        {"id": 9, "session": 2, "at": AT, "speaker": "Me", "text": "Do you"},
        {"id": 10, "session": 2, "at": AT, "speaker": "Assistant", "text": "I do"},
    )
    assert bring(store, path).skips == ()
    assert rows(store, "select user, reply, speaker, external_ids from turns order by id") == [
        ("Hello", "Hi", "", '["D1:1", "D1:2"]'),
        ("I paint", None, "Ann", '["7"]'),
        ("I know", None, "Bo", '["8"]'),
        ("Do you", "I do", "", '["9", "10"]'),
    ]
    assert rows(store, "select external_id from imported_sessions order by session_id") == [
        ("one",),
        ("2",),
    ]


def test_sessions_may_be_interleaved(store: Store, tmp_path: Path) -> None:
    path = lines(
        tmp_path / "t.jsonl",
        {"session": "a", "at": AT, "role": "user", "text": "A?"},
        {"session": "b", "at": AT, "role": "user", "text": "B?"},
        {"session": "a", "at": AT, "role": "assistant", "text": "A!"},
        {"session": "b", "at": AT, "role": "assistant", "text": "B!"},
    )
    bring(store, path)
    assert said(store) == [("A?", "A!"), ("B?", "B!")]


def test_without_a_session_the_file_is_one(store: Store, tmp_path: Path) -> None:
    path = lines(tmp_path / "diary.jsonl", {"at": AT, "role": "user", "text": "Rain", "title": "D"})
    bring(store, path)
    assert rows(store, "select title from sessions") == [("D",)]
    assert rows(store, "select external_id from imported_sessions") == [("diary",)]


def test_times_are_iso_with_a_zone_or_unix_times_of_any_unit(store: Store, tmp_path: Path) -> None:
    second = 1_704_164_645
    path = lines(
        tmp_path / "t.jsonl",
        *(
            {"at": at, "role": "user", "text": "x"}
            for at in (
                "2024-01-02T03:04:05Z",
                "2024-01-02T04:04:05+01:00",
                second,
                second * 1000,
                second * 1_000_000,
                second * 1_000_000_000,
                str(second),
                second + 0.75,
            )
        ),
    )
    assert bring(store, path).skips == ()
    assert rows(store, "select distinct at from turns") == [("2024-01-02T03:04:05+00:00",)]


def test_a_time_without_a_zone_is_refused_or_read_in_the_zone_that_is_given(
    store: Store, tmp_path: Path
) -> None:
    path = lines(tmp_path / "t.jsonl", {"at": "2024-07-01T12:00:00", "role": "user", "text": "x"})
    done = bring(store, path)
    assert done.outcome.messages == 0
    assert done.skips[0].where == "t.jsonl: line 1"
    assert bring(store, path, zone=ZoneInfo("Asia/Tokyo")).outcome.messages == 1
    assert rows(store, "select at from turns") == [("2024-07-01T03:00:00+00:00",)]


def test_every_bad_line_is_named_with_its_number_and_the_others_are_imported(
    store: Store, tmp_path: Path
) -> None:
    path = tmp_path / "t.jsonl"
    good = b'{"at": 1704164645, "role": "user", "text": "%s"}\n'
    path.write_bytes(
        b"\xef\xbb\xbf"
        + good % b"first"
        + b"\n"
        + b"{oops}\n"
        + b"[1]\n"
        + b'{"at": 1704164645, "role": "user"}\n'
        + b'{"at": 1704164645, "role": "tool", "text": "x"}\n'
        + b'{"at": 1704164645, "text": "x"}\n'
        + b'{"role": "user", "text": "x"}\n'
        + b'{"at": NaN, "role": "user", "text": "x"}\n'
        + b'{"at": 1e400, "role": "user", "text": "x"}\n'
        + b'{"at": true, "role": "user", "text": "x"}\n'
        + b'{"at": "0001-01-01T00:00:00Z", "role": "user", "text": "x"}\n'
        + b'{"at": 1704164645, "role": "user", "text": "half \\ud83d"}\n'
        + good % b"not \xff UTF-8"
        + good % b"  "
        + b"[" * 100_000
        + b"\n"
        + b'{"text": "twice", "text": "last", "at": 1704164645, "role": "user"}\n'
        + (good % b"end").rstrip()
    )
    done = bring(store, path)
    assert [user for user, _ in said(store)] == ["first", "last", "end"]
    assert [int(skip.where.rsplit(" ", 1)[1]) for skip in done.skips] == [*range(3, 17)]
    assert all(skip.reason for skip in done.skips)


def test_a_line_without_end_is_passed_over(store: Store, tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    with path.open("wb") as file:
        file.write(b'{"at": 1704164645, "role": "user", "text": "first"}\n{"text": "')
        for _ in range(20):
            file.write(b"a" * (jsonl.LONGEST_LINE // 8))
        file.write(b'"}\n{"at": 1704164645, "role": "user", "text": "last"}\n')
    done = bring(store, path)
    assert [user for user, _ in said(store)] == ["first", "last"]
    assert [skip.where for skip in done.skips] == ["t.jsonl: line 2"]


def test_equal_ids_of_different_files_are_different_messages(store: Store, tmp_path: Path) -> None:
    for name, text in (("one.jsonl", "mine"), ("two.jsonl", "yours")):
        path = lines(
            tmp_path / name, {"id": "1", "session": "s", "at": AT, "role": "user", "text": text}
        )
        assert bring(store, path).outcome.messages == 1
    assert len(rows(store, "select 1 from sessions")) == 2


def test_the_files_of_a_folder_have_sessions_and_ids_of_their_own(
    store: Store, tmp_path: Path
) -> None:
    folder = tmp_path / "talks"
    folder.mkdir()
    for name in ("a.jsonl", "b.jsonl"):
        lines(
            folder / name,
            {"id": "1", "session": "s", "at": AT, "role": "user", "text": f"{name} with an id"},
            {"session": "s", "at": AT, "role": "user", "text": f"{name} without one"},
        )
    done = bring(store, folder)
    assert (done.outcome.messages, done.outcome.sessions, done.skips) == (4, 2, ())
    assert bring(store, folder).outcome.known == 4
    assert rows(store, "select distinct external_id from imported_sessions") == [("s",)]
