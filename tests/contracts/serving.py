"""A loopback server any provider's wire can be spoken through, and the faults any wire has.

A contract server derives from `Server`, says in `answer` what it replies, in `error` and
`broken_stream` how its provider words a failure, and calls `Exchange.speak` before each visible
piece of a reply. `Server.fail` then injects any `Fault` into its next requests.
"""

from __future__ import annotations

import json
import select
import socket
import struct
import threading
import time
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Literal, TypeVar

Kind = Literal[
    "status", "refused", "page", "drop", "truncate", "stall", "garbage", "slow", "stream_error"
]

PATIENCE = 30.0
"""Seconds after which a stalled exchange gives up on a client that never hangs up."""


@dataclass(frozen=True)
class Fault:
    """One way a wire fails; `after` visible pieces have gone out when a stream's fault strikes.

    `slow` waits `seconds` before that piece and then goes on. `refused` holds until `heal`.
    """

    name: str
    kind: Kind
    status: int = 0
    retry_after: str | None = None
    after: int = 0
    seconds: float = 0.3

    def __str__(self) -> str:
        return self.name


RATE_LIMITED = Fault("429", "status", status=429)
RATE_LIMITED_FOR_A_WHILE = Fault("429 with Retry-After", "status", status=429, retry_after="7")
OVERLOADED = Fault("529", "status", status=529)
BROKEN = Fault("500", "status", status=500)
REFUSED = Fault("refused connection", "refused")
GARBAGE_PAGE = Fault("a page instead of a stream", "page")
DROPPED_FIRST = Fault("drop before the first token", "drop")
TRUNCATED_FIRST = Fault("clean end before the first token", "truncate")
STALLED_FIRST = Fault("stall before the first token", "stall")
GARBAGE_FIRST = Fault("garbage before the first token", "garbage")
ERROR_FIRST = Fault("error in the stream before the first token", "stream_error")
SLOW = Fault("slow first token", "slow")
DROPPED = Fault("drop mid-stream", "drop", after=1)
TRUNCATED = Fault("clean truncation", "truncate", after=1)
STALLED = Fault("stall mid-stream", "stall", after=1)
GARBAGE = Fault("garbage mid-stream", "garbage", after=1)
ERROR = Fault("error in the stream", "stream_error", after=1)

BEFORE = (
    RATE_LIMITED,
    RATE_LIMITED_FOR_A_WHILE,
    OVERLOADED,
    BROKEN,
    REFUSED,
    GARBAGE_PAGE,
    DROPPED_FIRST,
    TRUNCATED_FIRST,
    STALLED_FIRST,
    GARBAGE_FIRST,
    ERROR_FIRST,
)
"""Faults that strike before a visible token: nobody needs to notice."""

AFTER = (DROPPED, TRUNCATED, STALLED, GARBAGE, ERROR)
"""Faults that strike after the first visible token: what came stays, and is said to be partial."""

HARMLESS = (SLOW,)
"""A wait that ends in a whole reply."""

FAULTS = (*BEFORE, *AFTER, *HARMLESS)


class Cut(Exception):
    """The exchange is over, by a fault."""


@dataclass
class Exchange:
    """One request as it came, and the means to answer it."""

    handler: BaseHTTPRequestHandler
    method: str
    path: str
    headers: dict[str, str]
    body: dict[str, object]
    raw: bytes = b""
    broken: threading.Event = field(default_factory=threading.Event)
    fault: Fault | None = None
    streaming: bool = False
    spoken: int = 0
    tell: Callable[[Exchange], None] = field(default=lambda _: None)
    """How the provider words an error inside a stream; the server sets it."""
    _garble: bool = False

    def json(self, status: int, body: object, **headers: str) -> None:
        """Underscores in the headers' names are dashes."""
        self.text(status, json.dumps(body), "application/json", **headers)

    def text(self, status: int, text: str, kind: str = "text/html", **headers: str) -> None:
        data = text.encode()
        self.handler.send_response(status)
        # As it will be closed, so that no client uses it again.
        self.handler.send_header("connection", "close")
        for name, value in {"content-type": kind, **headers}.items():
            self.handler.send_header(name.replace("_", "-"), value)
        self.handler.send_header("content-length", str(len(data)))
        self.handler.end_headers()
        self.handler.wfile.write(data)

    def begin(self, **headers: str) -> None:
        """Begin a stream of server-sent events."""
        self.streaming = True
        self.handler.send_response(200)
        self.handler.send_header("connection", "close")
        for name, value in headers.items():
            self.handler.send_header(name.replace("_", "-"), value)
        self.handler.send_header("content-type", "text/event-stream")
        self.handler.send_header("transfer-encoding", "chunked")
        self.handler.end_headers()

    def data(self, text: str) -> None:
        """An event without a name."""
        self._frame(f"data: {self._maybe_garbled(text)}\n\n")

    def event(self, name: str, body: object) -> None:
        """An event with a name and a JSON body."""
        self._frame(f"event: {name}\ndata: {self._maybe_garbled(json.dumps(body))}\n\n")

    def end(self) -> None:
        self.handler.wfile.write(b"0\r\n\r\n")

    def drop(self) -> None:
        """Break the connection without an end."""
        linger = struct.pack("ii", 1, 0)
        self.handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        self.handler.connection.close()

    def stall(self) -> None:
        """Say nothing more until the other side hangs up, which sets `broken`."""
        readable, _, _ = select.select([self.handler.connection], [], [], PATIENCE)
        if readable:
            self.broken.set()

    def until_hung_up(self, speak: Callable[[], None]) -> None:
        """Stream until the other side hangs up, which sets `broken`."""
        for _ in range(2_000):
            try:
                speak()
            except OSError:
                self.broken.set()
                return
            time.sleep(0.01)

    def speak(self) -> None:
        """A visible piece comes next: where an injected fault of a stream strikes."""
        if self.fault is not None and self.spoken == self.fault.after:
            self._strike(self.fault)
        self.spoken += 1

    def _strike(self, fault: Fault) -> None:
        match fault.kind:
            case "slow":
                time.sleep(fault.seconds)
                return
            case "garbage":
                self._garble = True
                return
            case "drop":
                self.drop()
            case "truncate":
                self.end()
            case "stall":
                self.stall()
            case "stream_error":
                self.tell(self)
                self.end()
            case _:
                raise AssertionError(f"{fault} does not strike within a stream")
        raise Cut

    def _maybe_garbled(self, text: str) -> str:
        if not self._garble:
            return text
        self._garble = False
        return text[: len(text) // 2]

    def _frame(self, text: str) -> None:
        data = text.encode()
        self.handler.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
        self.handler.wfile.flush()


@dataclass
class Server(ABC):
    """Where it listens, what it was asked, and what goes wrong next."""

    origin: str = ""
    seen: list[Exchange] = field(default_factory=list[Exchange])
    _faults: deque[Fault] = field(default_factory=deque[Fault])
    _running: _Running | None = None
    instead: Callable[[Exchange], object] | None = None
    """Replies in place of `answer`, where a test has its own idea of a reply."""

    @abstractmethod
    def answer(self, exchange: Exchange) -> None:
        """Reply to one request."""

    def error(self, exchange: Exchange, fault: Fault) -> None:
        """Refuse with the fault's status, as the provider words it."""
        headers = {} if fault.retry_after is None else {"retry_after": fault.retry_after}
        exchange.json(fault.status, {"error": {"message": f"status {fault.status}"}}, **headers)

    def broken_stream(self, exchange: Exchange) -> None:
        """Say an error inside a stream that began with 200, as the provider words it."""
        exchange.data(json.dumps({"error": {"message": "it broke", "code": 500}}))

    def fail(self, fault: Fault, times: int = 1) -> None:
        """Let the next `times` requests fail so; a refused connection refuses until `heal`."""
        if fault.kind == "refused":
            self._stop()
        else:
            self._faults.extend([fault] * times)

    def heal(self) -> None:
        """Nothing goes wrong any more."""
        self._faults.clear()
        self.start()

    def start(self) -> None:
        """Listen, on the same port as before if there was one."""
        if self._running is None:
            port = int(self.origin.rpartition(":")[2]) if self.origin else 0
            self._running = _Running(self._handler(), port)
            self.origin = self._running.origin

    def _stop(self) -> None:
        if self._running is not None:
            self._running.stop()
            self._running = None

    def take(self, exchange: Exchange) -> None:
        """One request, with the fault that is due."""
        self.seen.append(exchange)
        exchange.tell = self.broken_stream
        exchange.fault = self._faults.popleft() if self._faults else None
        try:
            match exchange.fault:
                case Fault(kind="status") as fault:
                    self.error(exchange, fault)
                case Fault(kind="page"):
                    exchange.text(200, "<html><body>Please log in to the wifi.</body></html>")
                case _:
                    (self.instead or self.answer)(exchange)
        except Cut:
            pass  # the fault has done what it does
        except OSError:
            exchange.broken.set()

    def exchange(self, handler: BaseHTTPRequestHandler, raw: bytes) -> Exchange:
        """The request as this server's kind of exchange."""
        return Exchange(handler, *parsed(handler, raw), raw)

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, format: str, *args: object) -> None:
                pass

            def _any(self) -> None:
                raw = self.rfile.read(int(self.headers.get("content-length", "0")))
                server.take(server.exchange(self, raw))
                self.close_connection = True

            do_GET = do_POST = do_PATCH = do_DELETE = _any

        return Handler


class _Running:
    """A listening socket and its thread."""

    def __init__(self, handler: type[BaseHTTPRequestHandler], port: int) -> None:
        self._server = ThreadingHTTPServer(("127.0.0.1", port), handler)
        # A dropped connection is no news.
        self._server.handle_error = lambda request, client_address: None
        self.origin = f"http://127.0.0.1:{self._server.server_address[1]}"
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(0.01,), daemon=True
        )
        self._thread.start()

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


S = TypeVar("S", bound=Server)


@contextmanager
def listening(server: S) -> Iterator[S]:
    """The server, listening."""
    server.start()
    try:
        yield server
    finally:
        server._stop()


def parsed(
    handler: BaseHTTPRequestHandler, raw: bytes
) -> tuple[str, str, dict[str, str], dict[str, object]]:
    """Method, path, headers with lower-case names, and the JSON body ({} without one)."""
    headers = {name.lower(): value for name, value in handler.headers.items()}
    return handler.command, handler.path, headers, json.loads(raw) if raw else {}
