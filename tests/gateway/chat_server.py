"""A loopback server that speaks Chat Completions, and fails in every way such servers do."""

from __future__ import annotations

import json
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

Answer = Callable[["Exchange"], None]


@dataclass
class Exchange:
    """One request as it came, and the means to answer it."""

    handler: BaseHTTPRequestHandler
    path: str
    headers: dict[str, str]
    body: dict[str, object]
    broken: threading.Event = field(default_factory=threading.Event)

    def json(self, status: int, body: object, **headers: str) -> None:
        self.text(status, json.dumps(body), "application/json", **headers)

    def text(self, status: int, text: str, kind: str = "text/html", **headers: str) -> None:
        data = text.encode()
        self.handler.send_response(status)
        for name, value in {"content-type": kind, **headers}.items():
            self.handler.send_header(name.replace("_", "-"), value)
        self.handler.send_header("content-length", str(len(data)))
        self.handler.end_headers()
        self.handler.wfile.write(data)

    def begin(self) -> None:
        self.handler.send_response(200)
        self.handler.send_header("content-type", "text/event-stream")
        self.handler.send_header("transfer-encoding", "chunked")
        self.handler.end_headers()

    def data(self, text: str) -> None:
        line = f"data: {text}\n\n".encode()
        self.handler.wfile.write(f"{len(line):x}\r\n".encode() + line + b"\r\n")
        self.handler.wfile.flush()

    def piece(self, text: str | None, finish: str | None = None, **delta: object) -> None:
        choice = {"index": 0, "delta": {"content": text, **delta}, "finish_reason": finish}
        self.data(json.dumps(_chunk(choices=[choice])))

    def usage(self, **usage: object) -> None:
        self.data(json.dumps(_chunk(choices=[], usage=usage)))

    def done(self) -> None:
        self.data("[DONE]")
        self.end()

    def end(self) -> None:
        self.handler.wfile.write(b"0\r\n\r\n")

    def drop(self) -> None:
        """Break the connection without an end."""
        linger = struct.pack("ii", 1, 0)
        self.handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        self.handler.connection.close()

    def until_broken(self, piece: str) -> None:
        """Stream until the other side hangs up, which sets `broken`."""
        for _ in range(2_000):
            try:
                self.piece(piece)
            except OSError:
                self.broken.set()
                return
            time.sleep(0.01)


def _chunk(**more: object) -> dict[str, object]:
    return {
        "id": "c1",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": "m",
        **more,
    }


@dataclass
class ChatServer:
    """Where it listens, and what it was asked."""

    origin: str
    seen: list[Exchange]
    answer: Answer

    @property
    def base_url(self) -> str:
        return f"{self.origin}/v1"


@contextmanager
def serving(answer: Answer) -> Iterator[ChatServer]:
    """The server, answering each request with `server.answer`."""
    made = ChatServer("", [], answer)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, format: str, *args: object) -> None:
            pass

        def do_GET(self) -> None:
            self._answer({})

        def do_POST(self) -> None:
            length = int(self.headers.get("content-length", "0"))
            self._answer(json.loads(self.rfile.read(length)))

        def _answer(self, body: dict[str, object]) -> None:
            headers = {name.lower(): value for name, value in self.headers.items()}
            exchange = Exchange(self, self.path, headers, body)
            made.seen.append(exchange)
            try:
                made.answer(exchange)
            except OSError:
                exchange.broken.set()
            self.close_connection = True

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.handle_error = lambda request, client_address: None  # a dropped connection is no news
    made.origin = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield made
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def hello(exchange: Exchange) -> None:
    """A whole reply, with usage as llama-server reports it."""
    exchange.begin()
    exchange.piece("", role="assistant")
    exchange.piece("Hel")
    exchange.piece("lo")
    exchange.piece(None, "stop")
    exchange.usage(
        prompt_tokens=30,
        completion_tokens=2,
        total_tokens=32,
        prompt_tokens_details={"cached_tokens": 24},
    )
    exchange.done()
