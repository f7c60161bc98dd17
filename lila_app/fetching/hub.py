"""Fetching files from a model hub (huggingface.co, or a mirror of it named in HF_ENDPOINT).

Two addresses of the hub's documented interface are used: `resolve`, which sends a file of a named
revision, and `api/models`, which lists a repository. The hub's own library would send with every
request what machine this is and which packages are installed; nothing but the request goes from
here. Proxies and certificates are taken from the environment, as everywhere.
"""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, cast
from urllib.parse import quote, urlsplit

from lila_app.errors import FetchError

if TYPE_CHECKING:
    import httpx2

HUB = "https://huggingface.co"

_CONNECT_SECONDS = 5.0
"""Where the hub is blocked, a person should be told, or served from elsewhere, within seconds."""

_SILENCE_SECONDS = 30.0
_SCALE = 1_000_000


@dataclass(frozen=True, slots=True)
class Entry:
    """A file of a repository: size in bytes, and its SHA-256 in hex where the hub knows it."""

    name: str
    size: int
    sha256: str = ""


@dataclass(frozen=True, slots=True)
class Listing:
    """A repository as it is now: its commit and its files."""

    revision: str
    files: tuple[Entry, ...]


class Hub:
    """The hub the environment names; `address` is where files come from, `host` is for a person.

    Every method raises `FetchError` where the hub cannot be reached or refuses.
    """

    def __init__(self, environ: Mapping[str, str]) -> None:
        self.address = environ.get("HF_ENDPOINT", "").rstrip("/") or HUB
        self.host = _host(self.address)
        self.offline = environ.get("HF_HUB_OFFLINE", "").upper() in ("1", "TRUE", "YES", "ON")

    def listing(self, repository: str) -> Listing:
        """What is in a repository now."""
        with self._client() as client, self._said(repository):
            answer = client.get(f"{self.address}/api/models/{repository}", params={"blobs": "true"})
            self._check(answer.status_code, repository)
            return _listing(cast("object", answer.json()))

    def fetch(
        self,
        repository: str,
        revision: str,
        entry: Entry,
        target: Path,
        tick: Callable[[int], None],
    ) -> str:
        """Bring one file to `target` and return its SHA-256; what is there is gone on from.

        `tick` gets the bytes that are here; it may raise to stop, and the next try goes on.
        """
        where = f"{self.address}/{repository}/resolve/{revision}/{quote(entry.name)}"
        have = target.stat().st_size if target.is_file() else 0
        if have > entry.size:
            target.unlink()
            have = 0
        if have < entry.size:
            headers = {"range": f"bytes={have}-"} if have else {}
            with (
                self._client() as client,
                self._said(entry.name),
                client.stream("GET", where, headers=headers) as answer,
            ):
                self._check(answer.status_code, entry.name)
                _append(answer, target, have if answer.status_code == 206 else 0, entry, tick)
        with target.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()

    def _client(self) -> httpx2.Client:
        import httpx2

        if self.offline:
            raise FetchError(
                "HF_HUB_OFFLINE is set, so the hub is not asked",
                hint="unset it to fetch from there",
            )
        return httpx2.Client(
            follow_redirects=True,  # large files are on other machines of the hub's
            timeout=httpx2.Timeout(_SILENCE_SECONDS, connect=_CONNECT_SECONDS),
            headers={"user-agent": "lila", "accept-encoding": "identity"},
        )

    @contextmanager
    def _said(self, what: str) -> Generator[None]:
        """Say what went wrong on the way."""
        import httpx2

        try:
            yield
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            raise FetchError(
                f"{what} could not be fetched: {self.host} could not be reached, or broke off",
                hint="check the network and run the same command again",
            ) from error
        except ValueError as error:  # not the JSON that the hub sends
            raise self._other(what) from error

    def _check(self, status: int, what: str) -> None:
        if status in (200, 206):
            return
        if status in (401, 403, 404):
            raise FetchError(
                f"{self.host} does not have {what}, or does not give it to everybody ({status})",
                hint="choose another model",
            )
        raise FetchError(
            f"{what} could not be fetched: {self.host} answered with {status}",
            hint="run the same command again in a while",
        )

    def _other(self, what: str) -> FetchError:
        return FetchError(
            f"{what} could not be fetched: what answers as {self.host} is something else",
            hint="check the network: it may want a login before it lets anything through",
        )


def _host(address: str) -> str:
    """The name in an address, for a person; all of an address that is none."""
    try:
        return urlsplit(address).hostname or address
    except ValueError:
        return address


def cached(repository: str, revision: str, environ: Mapping[str, str]) -> Path:
    """Where the hub's own library would keep that revision, whether or not it is there."""
    home = Path(environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "huggingface"
    hub = environ.get("HF_HUB_CACHE") or Path(environ.get("HF_HOME") or home) / "hub"
    folder = f"models--{repository.replace('/', '--')}"
    return Path(hub).expanduser() / folder / "snapshots" / revision


def _append(
    answer: httpx2.Response, target: Path, at: int, entry: Entry, tick: Callable[[int], None]
) -> None:
    """Write what comes behind the first `at` bytes; no more than the file should have."""
    from lila_app.fetching.files import opened_private

    with opened_private(target, append=at > 0) as file:
        done = at
        for chunk in answer.iter_bytes():
            done += len(chunk)
            if done > entry.size:
                break
            file.write(chunk)
            tick(done)
    if done != entry.size:
        with contextlib.suppress(OSError):
            target.unlink()
        raise FetchError(
            f"{entry.name} came with {done / _SCALE:.1f} MB or more and should have "
            f"{entry.size / _SCALE:.1f} MB",
            hint="check the network: it may want a login before it lets anything through",
        )


def _listing(said: object) -> Listing:
    """The parts of the hub's answer that are needed; `ValueError` where they are not in it."""
    try:
        table = cast("dict[str, object]", said)
        rows = cast("list[dict[str, object]]", table["siblings"])
        return Listing(str(table["sha"]), tuple(_entry(row) for row in rows))
    except (KeyError, TypeError) as error:
        raise ValueError("not a listing") from error


def _entry(row: dict[str, object]) -> Entry:
    large = cast("dict[str, object]", row.get("lfs") or {})
    return Entry(str(row["rfilename"]), int(str(row["size"])), str(large.get("sha256", "")))
