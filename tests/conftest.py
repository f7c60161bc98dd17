"""What every test lives under: no network beyond loopback, nobody's keys, a home of its own."""

from __future__ import annotations

import concurrent.futures
import contextlib
import gc
import ipaddress
import os
import socket
import threading
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, settings

from tests.waiting import PATIENCE

if TYPE_CHECKING:
    from lila_app.embedding.port import Embedder
    from lila_app.paths import Home

# How long an example takes says more about what else the machine does than about the code.
settings.register_profile(
    "lila",
    deadline=None,
    derandomize=True,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("lila")


# The collector looks through everything that was imported each time, which took a quarter of the
# processor time of the screen's tests (2026-11-30): it looks less often, and no more at what was
# there when the tests began.
gc.set_threshold(20_000, 20, 50)


def pytest_collection_finish() -> None:
    """What was imported by now stays."""
    gc.collect()
    gc.freeze()


def _loopback(address: object) -> bool:
    if not isinstance(address, tuple):
        return True  # a socket in the file system
    host = str(address[0])
    if host in ("localhost", ""):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


@pytest.fixture(autouse=True)
def no_network(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A test that reaches for another machine fails, whatever library it used."""
    connect = socket.socket.connect

    def guarded(self: socket.socket, address: Any) -> None:
        if not _loopback(address):
            raise AssertionError(f"a test tried to reach {address!r}")
        connect(self, address)

    monkeypatch.setattr(socket.socket, "connect", guarded)
    yield


@pytest.fixture(autouse=True)
def no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither the keys nor the keyring of whoever runs the tests, nor addresses they use."""
    for name in list(os.environ):
        if name.startswith(("ANTHROPIC_", "OPENAI_", "GOOGLE_", "GEMINI_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.fail.Keyring")


@pytest.fixture(autouse=True, scope="session")
def loaded_once() -> Iterator[None]:
    """The token counter and the embedding model, which keep nothing of what they read: each LILA
    that is opened would take 0.1 s for the one and 0.6 s for the other.
    """
    from lila_app.embedding import minilm, tokens

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tokens, "load_counter", lru_cache(tokens.load_counter))
        patch.setattr(minilm, "MiniLM", lru_cache(minilm.MiniLM))
        yield


@pytest.fixture(scope="session")
def embedder(loaded_once: None) -> Embedder:
    """The real embedding model."""
    from lila_app.embedding import minilm
    from lila_app.paths import shipped

    return minilm.MiniLM(shipped("assets") / "vocabulary" / "minilm-tokenizer.json")


@pytest.fixture(scope="session")
def empty_store(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """What the file of an empty store holds, as LILA makes it."""
    from lila_app.storage.connection import Store

    path = tmp_path_factory.mktemp("empty") / "empty.db"
    Store.open(path).close()
    return path.read_bytes()


@pytest.fixture(autouse=True)
def ready_store(copied_stores: None) -> None:
    """A new store is a copy. tests/storage makes each one itself."""


@pytest.fixture
def copied_stores(empty_store: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    """A new store is a copy of one that was made before, which takes 5 ms instead of 30."""
    from lila_app.storage import files

    create = files.create

    def copied(path: Path) -> None:
        with contextlib.suppress(OSError):  # which `create` meets too, and words
            if not path.exists():
                files.make_folder(path.parent)
                _lay(empty_store, path)
        create(path)

    monkeypatch.setattr(files, "create", copied)


def _lay(content: bytes, path: Path) -> None:
    """Whole at once, and only where nobody else was first."""
    made = path.with_name(f"{path.name}.{os.getpid()}.{threading.get_ident()}")
    descriptor = os.open(made, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)
    with contextlib.suppress(FileExistsError):
        os.link(made, path)
    made.unlink()


@pytest.fixture(autouse=True)
def no_power_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stores of this process do not wait for the disk: no test can cut the power, which alone
    would tell the difference. What is killed is another process, and waits.
    """
    from lila_app.storage import driver

    connect = driver.connect

    def hasty(path: Path, mode: str) -> driver.Connection:
        connection = connect(path, mode)
        connection.execute("pragma synchronous = off")
        return connection

    monkeypatch.setattr(driver, "connect", hasty)


@pytest.fixture(autouse=True)
def unhurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """Layers and closing take as long as they need: what is done within the seconds a person
    would wait is chance where others compute.

    Tests of the deadlines themselves set their own, or take this one's name.
    """
    from lila_app import afterwards
    from lila_app.layers import gather

    wait = concurrent.futures.wait

    def patient(futures: Any, timeout: float | None) -> object:
        return wait(futures, None if timeout is None else PATIENCE)

    monkeypatch.setattr(gather, "wait", patient)
    monkeypatch.setattr(afterwards, "GRACE_SECONDS", PATIENCE)
    monkeypatch.setattr(afterwards, "LEARNING_SECONDS", PATIENCE)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty LILA_HOME."""
    root = tmp_path / "home"
    monkeypatch.setenv("LILA_HOME", str(root))
    return root


@pytest.fixture
def place(tmp_path: Path) -> Home:
    """A home with its folders, which the environment does not name."""
    from lila_app.paths import Home

    made = Home.at(tmp_path / "home")
    made.create()
    return made
