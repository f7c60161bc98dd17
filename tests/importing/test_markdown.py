from __future__ import annotations

import os
from pathlib import Path

import pytest

from lila_app.storage.connection import Store
from tests.importing.support import bring, rows, said


def folder(tmp_path: Path, **files: str) -> Path:
    made = tmp_path / "notes"
    for name, content in files.items():
        path = made / f"{name.replace('__', '/')}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")
        os.utime(path, (1_600_000_000, 1_600_000_000))
    return made


@pytest.mark.parametrize(
    "content",
    [
        "# Tea\n\n**User:** Green?\n\n**Assistant:** Yes.\nTwo minutes.\n",
        "# Tea\n\n## You\nGreen?\n\n## ChatGPT\n\nYes.\nTwo minutes.\n",
        "# Tea\nHuman: Green?\n\nClaude: Yes.\nTwo minutes.",
        "### You said:\nGreen?\n### ChatGPT said:\nYes.\nTwo minutes.",
    ],
)
def test_who_speaks_is_read_from_the_usual_marks(
    store: Store, tmp_path: Path, content: str
) -> None:
    bring(store, folder(tmp_path, tea=content))
    assert said(store) == [("Green?", "Yes.\nTwo minutes.")]


def test_marks_in_code_and_of_one_side_alone_are_words(store: Store, tmp_path: Path) -> None:
    coded = "```\nUser: a\nAssistant: b\n```\nthat was a log"
    alone = "Shopping\n\nYou: buy oats\n"
    bring(store, folder(tmp_path, alone=alone, coded=coded))
    assert said(store) == [(alone.strip(), None), (coded, None)]


def test_what_stands_before_the_first_message_is_named(store: Store, tmp_path: Path) -> None:
    done = bring(store, folder(tmp_path, t="Exported by X\n\nUser: a\nAssistant: b"))
    assert [(skip.where, skip.count) for skip in done.skips] == [("t.md: line 1", 0)]


def test_the_time_is_looked_for_in_front_matter_heading_name_and_file(
    store: Store, tmp_path: Path
) -> None:
    made = folder(
        tmp_path,
        a="---\ntitle: 'Named'\ndate: 2024-05-01 18:30\n---\nIn summer the clock is at +2",
        b="# Trip on 2024-01-05\nsnow",
        **{"2023-12-24-eve": "tree", "sub__d": "older"},
    )
    bring(store, made)
    assert rows(store, "select title, started_at from sessions order by started_at desc") == [
        ("Named", "2024-05-01T16:30:00+00:00"),
        ("Trip on 2024-01-05", "2024-01-04T23:00:00+00:00"),
        ("2023-12-24-eve", "2023-12-23T23:00:00+00:00"),
        ("d", "2020-09-13T12:26:40+00:00"),
    ]


def test_other_files_links_and_hidden_ones_are_left(store: Store, tmp_path: Path) -> None:
    made = folder(tmp_path, a="kept", **{".obsidian__x": "hidden"})
    (made / "photo.JPG").write_bytes(b"\xff\xd8")
    (made / "bad.md").write_bytes(b"caf\xe9")
    (made / "empty.md").write_bytes(b"")
    secret = tmp_path / "secret.md"
    secret.write_text("not yours")
    (made / "link.md").symlink_to(secret)
    done = bring(store, made)
    assert said(store) == [("kept", None)]
    assert {skip.where: skip.reason for skip in done.skips} == {
        "photo.JPG": "images, sound and films are not imported",
        "bad.md": "it is not UTF-8 (byte 4)",
        "empty.md: line 1": "it is empty",
    }


def test_a_file_that_grew_adds_what_is_new_and_names_what_changed(
    store: Store, tmp_path: Path
) -> None:
    made = folder(tmp_path, tea="User: Green?\nAssistant: Yes.")
    bring(store, made)
    folder(tmp_path, tea="User: Green?\nAssistant: No.\nUser: Black?")
    done = bring(store, made)
    assert said(store) == [("Green?", "Yes."), ("Black?", None)]
    assert done.reasons == ["it was imported as t1 with other words, which stay"]
