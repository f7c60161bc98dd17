"""A model server on loopback that says what it is told to and keeps what it was asked."""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, cast

from lila_app.paths import Home


class ModelServer(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.pieces: tuple[str, ...] = ("Hello", " there.")
        self.hang = False
        """Whether it falls silent after the pieces until the other side leaves."""
        self.prompts: list[str] = []
        self.gone = threading.Event()

    @property
    def settings(self) -> str:
        """The settings file of a home whose model this is."""
        return (
            f'model = "local/test"\n[providers.local]\n'
            f'base_url = "http://127.0.0.1:{self.server_port}/v1"\n'
        )

    def serve_home(self, root: Path) -> None:
        home = Home.at(root)
        home.create()
        home.settings_file.write_text(self.settings, encoding="utf-8")


class _Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        server = cast("ModelServer", self.server)
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        server.prompts.append("\n".join(m["content"] for m in body["messages"]))
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.end_headers()
        for piece in server.pieces:
            self._chunk(choices=[{"index": 0, "delta": {"content": piece}}])
        if server.hang:
            with contextlib.suppress(ConnectionResetError):
                self.connection.recv(1)  # empty, or an error, when the client closes
            server.gone.set()
            return
        self._chunk(choices=[{"index": 0, "delta": {}, "finish_reason": "stop"}])
        self._chunk(choices=[], usage={"prompt_tokens": 30, "completion_tokens": 3})
        self.wfile.write(b"data: [DONE]\n\n")

    def _chunk(self, **fields: Any) -> None:
        chunk = {"id": "1", "object": "chat.completion.chunk", "created": 1, "model": "test"}
        self.wfile.write(b"data: " + json.dumps({**chunk, **fields}).encode() + b"\n\n")
        self.wfile.flush()

    def log_message(self, format: str, *args: Any) -> None:
        pass


@contextmanager
def model_server() -> Iterator[ModelServer]:
    server = ModelServer()
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
