from __future__ import annotations

import json
from pathlib import Path

from lila_app.storage.connection import Store
from tests.importing.support import bring, chat, node, rows, said, written, zipped


def test_a_conversation_becomes_a_session_with_its_title_times_and_ids(
    store: Store, tmp_path: Path
) -> None:
    path = written(
        tmp_path / "anything.json",
        [
            chat(
                node("root", None, "system", ""),
                node("a", "root", "user", "Are bees deaf?", 1_700_000_060.25),
                node("b", "a", "assistant", "Nearly.", 1_700_000_065),
            )
        ],
    )
    done = bring(store, path)
    assert (done.outcome.kind, done.outcome.messages, done.skips) == ("chatgpt", 2, ())
    assert said(store) == [("Are bees deaf?", "Nearly.")]
    assert rows(store, "select title, started_at, last_at from sessions") == [
        ("Bees", "2023-11-14T22:13:20+00:00", "2023-11-14T22:14:25+00:00")
    ]
    assert rows(store, "select at, external_ids, source, speaker from turns") == [
        ("2023-11-14T22:14:20+00:00", '["a", "b"]', "import:1", "")
    ]
    assert rows(store, "select external_id from imported_sessions") == [("c-1",)]


def test_only_the_branch_of_the_current_node_is_taken_and_the_others_are_counted(
    store: Store, tmp_path: Path
) -> None:
    path = written(
        tmp_path / "c.json",
        [
            chat(
                node("a", None, "user", "A name for a boat?"),
                node("b", "a", "assistant", "Heron"),
                node("x", "b", "user", "Longer"),
                node("y", "x", "assistant", "Grey Heron"),
                node("z", "a", "assistant", "Otter"),
                current="z",
            )
        ],
    )
    done = bring(store, path)
    assert said(store) == [("A name for a boat?", "Otter")]
    assert [(skip.reason, skip.count) for skip in done.skips] == [
        ("they are on a branch that was left", 3)
    ]
    assert done.outcome.skipped == 3


def test_without_a_current_node_the_branch_written_last_is_taken(
    store: Store, tmp_path: Path
) -> None:
    path = written(
        tmp_path / "c.json",
        [
            chat(
                node("a", None, "user", "Hello?", 1),
                node("b", "a", "assistant", "New", 900),
                node("c", "a", "assistant", "Old", 500),
                current="gone",
            )
        ],
    )
    bring(store, path)
    assert said(store) == [("Hello?", "New")]


def test_parents_that_are_left_out_are_found_by_their_children(
    store: Store, tmp_path: Path
) -> None:
    one, two = node("a", None, "user", "Ping"), node("b", None, "assistant", "Pong")
    one["children"] = ["b"]
    del two["parent"]
    bring(store, written(tmp_path / "c.json", [chat(one, two)]))
    assert said(store) == [("Ping", "Pong")]


def test_a_circle_of_parents_ends(store: Store, tmp_path: Path) -> None:
    path = written(
        tmp_path / "c.json",
        [chat(node("a", "b", "user", "One"), node("b", "a", "assistant", "Two"))],
    )
    bring(store, path)
    assert said(store) == [("One", "Two")]


def test_tools_reasoning_and_system_messages_are_named_and_not_imported(
    store: Store, tmp_path: Path
) -> None:
    thoughts = {"content_type": "thoughts", "thoughts": [{"summary": "hm", "content": "hm"}]}
    call = {"content_type": "code", "language": "python", "text": "1+1"}
    path = written(
        tmp_path / "c.json",
        [
            chat(
                node("s", None, "system", "Be brief"),
                node("a", "s", "user", "Sum?"),
                node("t", "a", "assistant", content=thoughts),
                node("c", "t", "assistant", content=call, recipient="python"),
                node("r", "c", "tool", "2"),
                node(
                    "h",
                    "r",
                    "user",
                    "hidden",
                    metadata={"is_visually_hidden_from_conversation": True},
                ),
                node("q", "h", "critic", "no"),
                node("b", "q", "assistant", "Two."),
            )
        ],
    )
    done = bring(store, path)
    assert said(store) == [("Sum?", "Two.")]
    assert done.reasons == [
        "it is a system message",
        "it is the assistant's reasoning",
        "it calls the tool python",
        "a tool returned it",
        "it is hidden in ChatGPT",
        "nobody known said it (role 'critic')",
    ]
    assert all(skip.where.startswith("c.json: conversation 1, ") for skip in done.skips)
    assert {skip.conversation for skip in done.skips} == {"Bees"}


def test_parts_of_many_kinds_keep_their_words_and_name_the_rest(
    store: Store, tmp_path: Path
) -> None:
    parts = [
        {"content_type": "image_asset_pointer", "asset_pointer": "file-service://1"},
        "What is this?",
        {"content_type": "audio_transcription", "text": "spoken"},
        {"content_type": "new_thing"},
        None,
        7,
    ]
    path = written(
        tmp_path / "c.json",
        [
            chat(
                node("a", None, content={"content_type": "multimodal_text", "parts": parts}),
                node(
                    "b",
                    "a",
                    "user",
                    "And this",
                    metadata={"attachments": [{"name": "plan.pdf"}, {}, "odd"]},
                ),
                node("c", "b", "assistant", content={"content_type": "code", "text": "x = 1"}),
            )
        ],
    )
    bring(store, path)
    assert said(store) == [
        ("[image]\nWhat is this?\nspoken\n[new_thing]", None),
        (
            "[attachment plan.pdf]\n[attachment without a name]\n[attachment without a name]\n"
            "And this",
            "```\nx = 1\n```",
        ),
    ]


def test_a_message_without_a_time_has_that_of_the_one_before_it(
    store: Store, tmp_path: Path
) -> None:
    path = written(
        tmp_path / "c.json",
        [
            chat(
                node("a", None, "user", "one", None),
                node("b", "a", "assistant", "two", float("nan")),
                node("c", "b", "user", "three", 1_700_000_600_000),
                node("d", "c", "user", "four", None),
            ),
            chat(
                node("e", None, "user", "five", None),
                create_time=None,
                update_time="soon",
                conversation_id="c-2",
            ),
        ],
    )
    done = bring(store, path)
    assert rows(store, "select user, at from turns order by id") == [
        ("one", "2023-11-14T22:13:20+00:00"),
        ("three", "2023-11-14T22:23:20+00:00"),
        ("four", "2023-11-14T22:23:20+00:00"),
    ]
    assert done.reasons == ["neither it nor its conversation has a time"]


def test_odd_conversations_are_named_and_the_rest_is_imported(store: Store, tmp_path: Path) -> None:
    path = written(
        tmp_path / "c.json",
        [
            {"title": "Empty", "mapping": {}},
            None,
            {"title": None, "mapping": {"a": None, "b": {"message": None, "parent": "zzz"}}},
            chat(
                node("a", None, "user", "Here", content={"content_type": "text"}),
                conversation_id="x",
            ),
            {"mapping": {"n": node("n", None, "user", "Bare")}, "create_time": 5},
        ],
    )
    done = bring(store, path)
    assert said(store) == [("Bare", None)]
    assert done.reasons == ["it has no messages", "it has no messages", "it is empty"]


def test_a_zip_is_read_member_by_member_and_names_what_it_leaves(
    store: Store, tmp_path: Path
) -> None:
    one = chat(node("a", None, "user", "First"))
    two = chat(node("b", None, "user", "Second"), conversation_id="c-2")
    path = zipped(
        tmp_path / "export.zip",
        [
            ("conversations-001.json", json.dumps([two]).encode()),
            ("conversations-000.json", json.dumps([one]).encode()),
            ("user.json", b'{"id": "u"}'),
            ("chat.html", b"<html>"),
            ("../../dalle/file-1.png", b"\x89PNG"),
        ],
    )
    done = bring(store, path)
    assert said(store) == [("First", None), ("Second", None)]
    assert {skip.where: skip.reason for skip in done.skips} == {
        "user.json": "it is about the account",
        "chat.html": "it says the same as conversations.json",
        "../../dalle/file-1.png": "images, sound and films are not imported",
    }

    assert not (tmp_path.parent / "dalle").exists()


def test_a_conversation_a_file_in_a_folder_is_read_too(store: Store, tmp_path: Path) -> None:
    folder = tmp_path / "export"
    folder.mkdir()
    written(folder / "one.json", chat(node("a", None, "user", "Alone")))
    assert bring(store, folder).outcome.messages == 1
