from __future__ import annotations

import json
from pathlib import Path
from zoneinfo import ZoneInfo

from lila_app.storage.connection import Store
from tests.importing.support import bring, claude, message, rows, said, written, zipped


def test_a_conversation_becomes_a_session(store: Store, tmp_path: Path) -> None:
    path = written(
        tmp_path / "x",
        [claude(message("m1", "human", "Rye or wheat?"), message("m2", "assistant", "Rye."))],
    )
    done = bring(store, path)
    assert (done.outcome.kind, done.outcome.messages) == ("claude", 2)
    assert said(store) == [("Rye or wheat?", "Rye.")]
    assert rows(store, "select title, started_at, last_at from sessions") == [
        ("Bread", "2025-02-01T09:00:00+00:00", "2025-02-01T09:01:00+00:00")
    ]
    assert rows(store, "select external_ids from turns") == [('["m1", "m2"]',)]


def test_text_blocks_are_the_words_and_silent_blocks_are_named(
    store: Store, tmp_path: Path
) -> None:
    unsupported = "```\nThis block is not supported on your current device yet.\n```"
    blocks = [
        {"type": "thinking", "thinking": "hm"},
        {"type": "text", "text": "One."},
        {"type": "tool_use", "name": "search", "input": {}},
        {"type": "tool_result", "content": []},
        {"type": "text", "text": "Two."},
    ]
    only_tools = [{"type": "tool_use", "name": "search"}]
    path = written(
        tmp_path / "x",
        [
            claude(
                message("m1", "human", "Go"),
                message("m2", "assistant", unsupported, content=blocks),
                message("m3", "assistant", unsupported, content=only_tools),
            )
        ],
    )
    done = bring(store, path)
    assert said(store) == [("Go", "One.\nTwo.")]
    assert [(skip.reason, skip.count) for skip in done.skips] == [
        ("of it only the words are taken, not 1 thinking, 1 tool_result, 1 tool_use", 0),
        ("it is empty", 1),
    ]


def test_pasted_text_is_imported_and_files_are_named(store: Store, tmp_path: Path) -> None:
    attached = [{"file_name": "paste.txt", "extracted_content": "a long paste"}, {}]
    path = written(
        tmp_path / "x",
        [
            claude(
                message(
                    "m1",
                    "human",
                    "",
                    attachments=attached,
                    files=[{"file_name": "photo.jpg"}],
                    content=[{"type": "text", "text": ""}],
                )
            )
        ],
    )
    bring(store, path)
    assert said(store) == [
        (
            "[attachment paste.txt]\n> a long paste\n[attachment without a name]\n"
            "[attachment photo.jpg]",
            None,
        )
    ]


def test_the_branch_of_the_last_message_is_taken(store: Store, tmp_path: Path) -> None:
    root = "00000000-0000-4000-8000-000000000000"
    path = written(
        tmp_path / "x",
        [
            claude(
                message("m1", "human", "Q", parent_message_uuid=root),
                message("m2", "assistant", "A1", parent_message_uuid="m1"),
                message("m3", "assistant", "A2", parent_message_uuid="m1"),
            )
        ],
    )
    done = bring(store, path)
    assert said(store) == [("Q", "A2")]
    assert done.reasons == ["it is on a branch that was left"]


def test_missing_fields_and_a_time_without_a_zone(store: Store, tmp_path: Path) -> None:
    path = written(
        tmp_path / "x",
        [
            claude(
                {"uuid": "m1", "sender": "human", "text": "no time of its own"},
                message("m2", "human", "no zone", created_at="2025-02-01T09:00:00"),
                message("m3", "robot", "who?"),
                {},
            ),
            claude(),
            claude({"sender": "human", "text": "hi"}, uuid=None),
            7,
        ],
    )
    done = bring(store, path)
    assert rows(store, "select user, at from turns") == [
        ("no time of its own", "2025-02-01T09:00:00+00:00")
    ]
    assert done.reasons == [
        "its time, '2025-02-01T09:00:00', has no zone; `--zone` says which one",
        "nobody known said it (sender 'robot')",
        "nobody known said it (sender '')",
        "it has no messages",
        "neither it nor its messages have an id",
        "it has no messages",
    ]


def test_a_zone_that_was_named_is_that_of_times_without_one(store: Store, tmp_path: Path) -> None:
    path = written(
        tmp_path / "x",
        [claude(message("m1", "human", "no zone", created_at="2025-07-01T09:00:00"))],
    )
    assert bring(store, path, zone=ZoneInfo("Europe/Berlin")).reasons == []
    assert rows(store, "select at from turns") == [("2025-07-01T07:00:00+00:00",)]


def test_of_a_whole_export_the_conversations_are_read_and_the_rest_is_named(
    store: Store, tmp_path: Path
) -> None:
    conversations = json.dumps([claude(message("m1", "human", "Rye?"))]).encode()
    path = zipped(
        tmp_path / "data-2025-02-01.zip",
        [
            ("conversations.json", conversations),
            ("projects.json", b'[{"uuid": "p", "docs": []}]'),
            ("users.json", b'[{"uuid": "u"}]'),
            ("memories.json", b"[]"),
        ],
    )
    done = bring(store, path)
    assert (done.outcome.kind, done.outcome.messages, done.outcome.skipped) == ("claude", 1, 0)
    assert {skip.where: skip.reason for skip in done.skips} == {
        "memories.json": "it is the other assistant's own memory",
        "projects.json": "projects are not conversations",
        "users.json": "it is about the account",
    }
