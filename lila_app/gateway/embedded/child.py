"""The process of the embedded model: run by path from `server`, never imported.

It is a process of its own because the server's constructor holds Python's lock while it loads
(0.36 s for the smallest model, warm disk; 1.1 s with llama.cpp's own warm-up; measured 2026-11-30
with xllamacpp 2026.10.11549), which would freeze a terminal drawn by the same process; because
llama.cpp writes to file descriptors 1 and 2, which belong to the person's terminal; and because an
assertion in native code ends the process it happens in.

Protocol: one JSON line with the options on standard input, one JSON line with `address` or `error`
on standard output. The end of standard input means that the parent is gone, and so is this.
"""

from __future__ import annotations

import importlib
import json
import os
import signal
import sys
import tempfile
import time
from typing import IO, Protocol, TextIO, cast

_ERRORS_ONLY = 1
_NO_FLASH_ATTENTION = 0
_NO_BUSY_WAIT = 0
_PATIENCE = 20
_CACHE_MIB = 256
"""Memory for prefixes that left their slot, as when a person goes back and forth between sessions;
llama.cpp's default is 8 GB. 256 MiB hold about 11,000 tokens of the embedded model."""


class _Model(Protocol):
    path: str


class _Threads(Protocol):
    poll: int


class _Parameters(Protocol):
    """The part of `xllamacpp.CommonParams` that is set here; the package has no types."""

    model: _Model
    cpuparams: _Threads
    cpuparams_batch: _Threads
    model_alias: set[str]
    n_parallel: int
    n_ctx: int
    n_batch: int
    n_ubatch: int
    cache_prompt: bool
    cache_ram_mib: int
    flash_attn_type: int
    api_keys: list[str]
    cors_origins: str
    cors_credentials: bool
    endpoint_slots: bool
    endpoint_props: bool
    endpoint_metrics: bool
    prefill_assistant: bool
    ui: bool
    port: int
    verbosity: int
    warmup: bool
    fit_params: bool


class _Server(Protocol):
    listening_address: str


class _Library(Protocol):
    def CommonParams(self) -> _Parameters: ...

    def Server(self, parameters: _Parameters) -> _Server: ...


def main() -> None:
    """Serve until standard input ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the person's process
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    _redirect(1, os.devnull)
    options = json.loads(sys.stdin.buffer.readline())
    with tempfile.TemporaryFile() as complaints:
        os.dup2(complaints.fileno(), 2)
        try:
            server = _start(options)
        except Exception as error:
            _say(answers, error=_reason(complaints) or str(error))
            os._exit(1)
    _redirect(2, os.devnull)  # what llama.cpp says later may quote a prompt
    _say(answers, address=server.listening_address)
    while sys.stdin.buffer.read(4096):
        pass
    os._exit(0)  # nothing to save, and unloading would only keep the parent's terminal waiting


def _start(options: dict[str, object]) -> _Server:
    library = cast(_Library, importlib.import_module("xllamacpp"))
    parameters = library.CommonParams()
    parameters.model.path = str(options["model"])
    parameters.model_alias = {str(options["alias"])}
    slots, window = _number(options, "slots"), _number(options, "window")
    parameters.n_parallel = slots
    parameters.n_ctx = slots * window
    parameters.n_batch = parameters.n_ubatch = _number(options, "batch")
    parameters.cache_prompt = True
    parameters.cache_ram_mib = _CACHE_MIB
    # Faster replies on a CPU: 35-46 tokens a second against 21-31 (one thread, 2026-11-30).
    parameters.flash_attn_type = _NO_FLASH_ATTENTION
    # Spinning threads starve whatever else runs on two cores, and themselves with it.
    parameters.cpuparams.poll = parameters.cpuparams_batch.poll = _NO_BUSY_WAIT
    _secure(parameters, str(options["key"]))
    parameters.prefill_assistant = False  # a warmed prefix may end in a reply that is whole
    parameters.warmup = False
    parameters.fit_params = False
    parameters.verbosity = _ERRORS_ONLY
    parameters.port = 0
    return library.Server(parameters)


def _secure(parameters: _Parameters, key: str) -> None:
    """Without these the server takes any caller, reflects any origin and shows its slots."""
    parameters.api_keys = [key]
    parameters.cors_origins = "https://lila.invalid"  # a name that no page can ever have
    parameters.cors_credentials = False
    parameters.endpoint_slots = False
    parameters.endpoint_props = False
    parameters.endpoint_metrics = False
    parameters.ui = False


def _number(options: dict[str, object], key: str) -> int:
    return int(str(options[key]))


def _redirect(descriptor: int, target: str) -> None:
    opened = os.open(target, os.O_WRONLY)
    os.dup2(opened, descriptor)
    os.close(opened)


def _reason(complaints: IO[bytes]) -> str:
    """The first complaint of llama.cpp, without its time and place.

    A thread of its own writes them, so the first may take a moment to arrive.
    """
    for _ in range(_PATIENCE):
        time.sleep(0.05)
        complaints.seek(0)
        said = complaints.read(65_536).decode("utf-8", errors="replace")
        for line in said.splitlines():
            _, found, complaint = line.partition(": ")
            if found and " E " in line:
                return complaint.removeprefix("error loading model: ").strip()
    return ""


def _say(answers: TextIO, **message: str) -> None:
    print(json.dumps(message), file=answers, flush=True)


if __name__ == "__main__":
    main()
