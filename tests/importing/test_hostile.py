"""Files that mean harm, or were made by something gone wrong: an error or a named skip each."""

from __future__ import annotations

import json
import struct
import tracemalloc
import zipfile
from pathlib import Path

import pytest

from lila_app.errors import DocumentError
from lila_app.importing import json_stream, model
from lila_app.storage import check, imports
from lila_app.storage.connection import Store
from tests.importing.support import bring, chat, lines, node, rows, said, written, zipped


def test_a_member_out_of_all_proportion_is_refused_unread(store: Store, tmp_path: Path) -> None:
    path = zipped(tmp_path / "bomb.zip", [("conversations.json", b"[" + b" " * 30_000_000)])
    assert path.stat().st_size < 100_000
    with pytest.raises(DocumentError, match="times its size"):
        bring(store, path)
    assert imports.list_imports(store) == []


def test_a_member_that_says_it_is_small_is_not_read_past_what_it_says(
    store: Store, tmp_path: Path
) -> None:
    path = zipped(tmp_path / "liar.zip", [("conversations.json", b"[" + b" " * 5_000_000 + b"]")])
    raw = bytearray(path.read_bytes())
    for signature, offset in ((b"PK\x03\x04", 22), (b"PK\x01\x02", 24)):
        start = raw.index(signature) + offset
        raw[start : start + 4] = struct.pack("<I", 100)
    path.write_bytes(raw)
    with pytest.raises(DocumentError):
        bring(store, path, kind="chatgpt")


def test_a_damaged_zip_says_so(store: Store, tmp_path: Path) -> None:
    text = json.dumps([chat(node("a", None, "user", "x" * 5000))]).encode()
    path = zipped(tmp_path / "e.zip", [("conversations.json", text)])
    raw = bytearray(path.read_bytes())
    raw[60] ^= 0xFF
    path.write_bytes(raw)
    with pytest.raises(DocumentError):
        bring(store, path)
    assert said(store) == []


def test_names_that_lead_elsewhere_write_nothing(store: Store, tmp_path: Path) -> None:
    text = json.dumps([chat(node("a", None, "user", "hi"))]).encode()
    names = ("../../conversations.json", "/etc/conversations-001.json", "..\\x.json", "\x1b[2J.txt")
    path = tmp_path / "e.zip"
    zipped(path, [(name, text) for name in names[:1]] + [(name, b"{}") for name in names[1:]])
    before = sorted(tmp_path.rglob("*"))
    assert bring(store, path).outcome.messages == 1
    assert [one for one in sorted(tmp_path.rglob("*")) if one not in before] == []


def test_a_locked_zip_says_so(store: Store, tmp_path: Path) -> None:
    path = zipped(tmp_path / "e.zip", [("conversations.json", b"[]")])
    raw = bytearray(path.read_bytes())
    for signature, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        raw[raw.index(signature) + offset] |= 1
    path.write_bytes(raw)
    with pytest.raises(DocumentError, match="encrypted"):
        bring(store, path)


def test_a_conversation_too_large_is_named_and_memory_stays_small(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(json_stream, "LARGEST_ELEMENT", 1_000_000)
    monkeypatch.setattr(json_stream.elements, "__kwdefaults__", {"largest": 1_000_000})
    path = tmp_path / "c.json"
    with path.open("w") as file:
        file.write(
            "[" + json.dumps(chat(node("a", None, "user", "first"))) + ', {"mapping": {"x": "'
        )
        for _ in range(60):
            file.write('\\"]}' + "y" * 1_000_000)
        file.write('"}},' + json.dumps(chat(node("b", None, "user", "last"), conversation_id="z")))
        file.write("]")
    tracemalloc.start()
    done = bring(store, path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert [user for user, _ in said(store)] == ["first", "last"]
    assert done.skips[0].where == "c.json: conversation 2"
    assert peak < 20_000_000


def test_a_message_too_long_is_named(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(model, "LONGEST_MESSAGE", 1000)
    path = lines(
        tmp_path / "t.jsonl",
        {"at": 1, "role": "user", "text": "x" * 1001},
        {"at": 1, "role": "user", "text": "y" * 1000},
    )
    done = bring(store, path)
    assert done.reasons == ["it has 1,001 characters and at most 1,000 are read"]
    assert done.outcome.messages == 1


def test_half_characters_in_titles_ids_and_words(store: Store, tmp_path: Path) -> None:
    path = written(
        tmp_path / "c.json",
        [
            chat(
                node("a\ud83d", None, "user", "whole"),
                node("b", "a\ud83d", "assistant", "half \udc00"),
                title="T \ud83d",
                conversation_id="\udfff",
            )
        ],
    )
    done = bring(store, path)
    assert said(store) == [("whole", None)]
    assert rows(store, "select title from sessions") == [("T ?",)]
    assert done.reasons == [model.UNUSABLE]
    assert bring(store, path).outcome.known == 1
    assert check.check(store).problems == ()


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "empty"),
        (b"\xef\xbb\xbf  \n", "empty"),
        (b"[]", "no conversations"),
        (b'[{"a": 1}]', "no conversations"),
        (b"\x00\x01\x02" * 100, "no text"),
        ("[1]".encode("utf-16"), "no text"),
        (b"PK\x05\x06" + b"\0" * 18, "no conversations"),
    ],
)
def test_what_is_no_export_says_what_it_is(
    store: Store, tmp_path: Path, content: bytes, says: str
) -> None:
    path = tmp_path / "file"
    path.write_bytes(content)
    with pytest.raises(DocumentError, match=says) as caught:
        bring(store, path)
    assert caught.value.hint
    assert imports.list_imports(store) == []


def test_what_is_not_there_or_holds_nothing(store: Store, tmp_path: Path) -> None:
    with pytest.raises(DocumentError, match="no such file"):
        bring(store, tmp_path / "gone")
    (tmp_path / "empty").mkdir()
    with pytest.raises(DocumentError, match="no conversations"):
        bring(store, tmp_path / "empty")


def test_text_that_ends_like_a_zip_is_text(store: Store, tmp_path: Path) -> None:
    path = lines(tmp_path / "t.jsonl", {"at": 1, "role": "user", "text": "x" * 5000})
    with zipfile.ZipFile(tmp_path / "tail.zip", "w") as archive:
        archive.writestr("conversations.json", "[]")
    path.write_bytes(path.read_bytes() + (tmp_path / "tail.zip").read_bytes())
    done = bring(store, path)
    assert done.outcome.messages == 1


def test_a_tree_of_twenty_thousand_nodes_in_a_row(store: Store, tmp_path: Path) -> None:
    nodes = [node(f"n{i}", f"n{i - 1}" if i else None, "system", "") for i in range(20_000)]
    nodes.append(node("end", "n19999", "user", "after all"))
    bring(store, written(tmp_path / "c.json", [chat(*nodes)]))
    assert said(store) == [("after all", None)]


@pytest.mark.parametrize("name", ["notzip.zip", "notes.md", "export"])
def test_half_a_zip_is_no_message(store: Store, tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(b"PK\x03\x04garbage")
    with pytest.raises(DocumentError, match=f"{name}: the zip is damaged"):
        bring(store, path)
    assert imports.list_imports(store) == []


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("mk.py", b'"""Make it."""\n\nimport os\n\nUser: str = "a"\nprint(os.name)\n'),
        ("page.html", b"<html><body>I live in Porto</body></html>"),
        ("package.json", b'{\n  "name": "I",\n  "version": "1"\n}\n'),
        ("style.css", b"{ }\nUser: a\nAssistant: b\n"),
        ("report.log", b"started\nUser: a\nAssistant: b\n"),
        ("latin", b"caf\xe9 at nine"),
        ("picture.png", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"),
    ],
)
def test_what_lila_does_not_know_becomes_nobodys_words(
    store: Store, tmp_path: Path, name: str, content: bytes
) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(DocumentError, match=f"LILA does not know what .*{name} is") as caught:
        bring(store, path)
    assert caught.value.hint
    assert imports.list_imports(store) == []


@pytest.mark.parametrize("name", ["a.md", "a.MARKDOWN", "a.txt", "chat", "chat.log"])
def test_a_file_is_markdown_by_its_name_or_by_who_speaks(
    store: Store, tmp_path: Path, name: str
) -> None:
    path = tmp_path / name
    path.write_text("# Tea\n\nUser: Green?\nAssistant: Yes.\n")
    assert bring(store, path).outcome.kind == "markdown"
    assert said(store) == [("Green?", "Yes.")]


def test_a_format_that_is_named_counts_but_makes_no_text_of_bytes(
    store: Store, tmp_path: Path
) -> None:
    code, picture = tmp_path / "mk.py", tmp_path / "picture.png"
    code.write_text("import os")
    picture.write_bytes(b"\x89PNG\0\0")
    assert bring(store, code, kind="markdown").outcome.messages == 1
    with pytest.raises(DocumentError, match="it is no text"):
        bring(store, picture, kind="markdown")
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.md").write_bytes(b"\0\1")
    assert bring(store, tmp_path / "notes").reasons == ["it is no text"]


def test_lines_whose_first_is_broken_are_lines_by_their_name(store: Store, tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text('garbage\n{"at": 1, "role": "user", "text": "x"}\n')
    done = bring(store, path)
    assert done.outcome.kind == "jsonl"
    assert said(store) == [("x", None)]
