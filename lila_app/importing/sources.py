"""What a path holds: looked at, and opened part by part.

Only for Markdown does a name count: any text could be it, and what is no conversation must not
become something the person said.

A zip is never unpacked: members are streamed, so their names lead nowhere. One whose size is out of
all proportion to what it takes in the file is refused before it is read.
"""

from __future__ import annotations

import hashlib
import io
import json
import re
import zipfile
import zlib
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO, cast

from lila_app.errors import DocumentError
from lila_app.importing.markdown import is_conversation
from lila_app.importing.model import Format, Skip
from lila_app.importing.values import mapping, shown

HEAD = 1 << 20
"""Bytes looked at to tell what a file is."""

LARGEST_RATIO = 200
"""Times a zip member may be larger than what it takes in the file. Text of conversations shrinks
to a fifth or a tenth, very repetitive text to a fiftieth; deflate cannot go beyond 1032."""

SMALL = 10_000_000
"""Bytes up to which a member may have any ratio: it does no harm."""

MOST_PARTS = 200_000
"""Files of a folder or members of a zip that are listed."""

_MARKDOWN = (".md", ".markdown")
_NOTES = (*_MARKDOWN, ".txt")
"""What is Markdown if it is named by itself; in a folder a `.txt` may be anything."""

_LINES = (".jsonl", ".ndjson")
_MEDIA = (
    ".png", ".jpg", ".jpeg", ".webp", ".gif", ".heic", ".svg", ".dat", ".wav", ".mp3", ".m4a",
    ".ogg", ".mp4", ".mov", ".webm",
)  # fmt: skip
MANIFEST = "manifest.json"
"""What an export of LILA's own has at its top."""

_ELSEWHERE = {
    "user.json": "it is about the account",
    "users.json": "it is about the account",
    "projects.json": "projects are not conversations",
    "memories.json": "it is the other assistant's own memory",
    "chat.html": "it says the same as conversations.json",
}


@dataclass(frozen=True, slots=True)
class Part:
    """One file or zip member; `size` in bytes, `name` within what is imported."""

    name: str
    size: int
    written: datetime
    open: Callable[[], BinaryIO]


@dataclass(frozen=True, slots=True)
class Found:
    """What a path holds: parts of one format, and what of it is not read."""

    path: Path
    name: str
    kind: Format
    parts: tuple[Part, ...]
    left: tuple[Skip, ...] = ()

    @property
    def size(self) -> int:
        """Bytes to read."""
        return sum(part.size for part in self.parts)

    @property
    def fingerprint(self) -> str:
        """Changes when a part does: names, sizes and times of all of them."""
        told = [f"{one.name}\0{one.size}\0{one.written.isoformat()}" for one in self.parts]
        return hashlib.sha256("\0".join([self.kind, *told]).encode("utf-8", "replace")).hexdigest()


def is_own_export(path: Path) -> bool:
    """Whether a folder or zip is an export of LILA's own."""
    try:
        if path.is_dir():
            with (path / MANIFEST).open("rb") as file:
                return b'"lila_export"' in file.read(HEAD)
        if _is_zip(path):
            with zipfile.ZipFile(path) as archive, archive.open(MANIFEST) as member:
                return b'"lila_export"' in member.read(HEAD)
    except (OSError, KeyError, zipfile.BadZipFile, RuntimeError):
        return False
    return False


@contextmanager
def found(path: Path, kind: Format | None = None) -> Generator[Found]:
    """Look at a path; `kind` says what it is taken for. Raises `DocumentError`.

    Its parts can be opened until the end of the block.
    """
    try:
        if path.is_dir():
            yield _choose(path, list(_of_folder(path)), kind)
        elif not path.is_file():
            raise DocumentError(f"{path}: there is no such file", hint="name an export or a folder")
        elif _is_zip(path):
            with zipfile.ZipFile(path) as archive:
                yield _choose(path, list(_of_zip(path, archive)), kind)
        else:
            part = _of_file(path, path.name)
            yield Found(path, path.name, _kind(part, path, kind), (part,))
    except zipfile.BadZipFile as error:
        raise DocumentError(
            f"{path}: the zip is damaged ({error})", hint="get the export again"
        ) from error
    except BrokenPipeError:  # what was printed has no reader any more
        raise
    except OSError as error:
        raise DocumentError(
            f"{path}: it cannot be read ({error.strerror or error})",
            hint="check the file and its permissions",
        ) from error


_SIGNATURES = (b"PK\x03\x04", b"PK\x05\x06", b"PK\x07\x08")


def _is_zip(path: Path) -> bool:
    """By its beginning, so that half a zip is one too: text may well end as a zip does."""
    with path.open("rb") as file:
        return file.read(4) in _SIGNATURES


def _of_file(path: Path, name: str) -> Part:
    state = path.stat()
    written = datetime.fromtimestamp(state.st_mtime, UTC)
    return Part(name, state.st_size, written, lambda: path.open("rb"))


def _of_folder(folder: Path) -> Iterator[Part]:
    for number, path in enumerate(sorted(folder.rglob("*"))):
        if number >= MOST_PARTS:
            raise DocumentError(
                f"{folder}: it holds more than {MOST_PARTS:,} files", hint="name a smaller folder"
            )
        name = path.relative_to(folder)
        # A link may lead anywhere, and what is hidden was not meant.
        hidden = any(part.startswith(".") for part in name.parts)
        if not hidden and path.is_file() and not path.is_symlink():
            yield _of_file(path, name.as_posix())


def _of_zip(path: Path, archive: zipfile.ZipFile) -> Iterator[Part]:
    members = archive.infolist()
    if len(members) > MOST_PARTS:
        raise DocumentError(
            f"{path}: it holds more than {MOST_PARTS:,} files", hint="this is no export"
        )
    for member in sorted(members, key=lambda one: one.filename):
        if member.is_dir():
            continue
        yield Part(
            member.filename,
            member.file_size,
            _written(member),
            _Member(path, archive, member).open,
        )


def _written(member: zipfile.ZipInfo) -> datetime:
    """A zip's times have no zone; 1980, where its clock begins, for one that is none."""
    try:
        return datetime(*member.date_time, tzinfo=UTC)
    except ValueError:
        return datetime(1980, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class _Member:
    path: Path
    archive: zipfile.ZipFile
    member: zipfile.ZipInfo

    def open(self) -> BinaryIO:
        size, packed = self.member.file_size, max(1, self.member.compress_size)
        name = f"{self.path}: {shown(self.member.filename, 200)}"
        if size > SMALL and size / packed > LARGEST_RATIO:
            raise DocumentError(
                f"{name} would unpack to {size / packed:,.0f} times its size",
                hint="this is no export; if you trust it, unpack it and name the folder",
            )
        try:
            return io.BufferedReader(cast("io.RawIOBase", self.archive.open(self.member)), HEAD)
        except (RuntimeError, NotImplementedError) as error:
            raise DocumentError(
                f"{name} cannot be read ({error})", hint="unpack it and name the folder"
            ) from error


def _choose(path: Path, parts: list[Part], kind: Format | None) -> Found:
    """Which of many parts are read: conversations if there are any, else JSONL, else Markdown."""
    sniffed: dict[str, Format | None] = {
        one.name: _service(one) for one in parts if one.name.lower().endswith(".json")
    }
    services: list[Format] = [told for told in sniffed.values() if told is not None]
    lines = [one for one in parts if one.name.lower().endswith(_LINES)]
    by_default: Format = "jsonl" if lines else "markdown"
    told: Format = kind or (services[0] if services else by_default)
    if told == "jsonl":
        chosen = lines
    elif told == "markdown":
        chosen = [one for one in parts if one.name.lower().endswith(_MARKDOWN)]
    else:
        chosen = [one for one in parts if sniffed.get(one.name) == told]
    if not chosen:
        what = f"nothing of {kind}" if kind else "no conversations that can be read"
        raise DocumentError(
            f"{path}: it holds {what}",
            hint="name an export of ChatGPT or Claude, or a folder of Markdown or JSONL",
        )
    taken = {one.name for one in chosen}
    left = [_left(one, sniffed.get(one.name)) for one in parts if one.name not in taken]
    return Found(path, path.name, told, tuple(chosen), tuple(left))


def _left(part: Part, told: Format | None) -> Skip:
    base = part.name.rsplit("/", 1)[-1].lower()
    if told is not None:
        reason = f"it is an export of {told}: import it by itself"
    elif base in _ELSEWHERE:
        reason = _ELSEWHERE[base]
    elif base.endswith(_MEDIA):
        reason = "images, sound and films are not imported"
    else:
        reason = "it holds no conversations that are read"
    return Skip(shown(part.name, 200), "", reason, 0)


_KEYS: tuple[tuple[bytes, Format], ...] = (
    (rb'"mapping"\s*:', "chatgpt"),
    (rb'"chat_messages"\s*:', "claude"),
)


def _service(part: Part) -> Format | None:
    """Whose conversations a JSON file holds, by what its first one has."""
    head = _head(part)
    places: list[tuple[int, Format]] = [
        (at.start(), kind) for key, kind in _KEYS if (at := re.search(key, head))
    ]
    return min(places)[1] if places else None


def _kind(part: Part, path: Path, chosen: Format | None) -> Format:
    """What a file that is named by itself is: as it was chosen, else by its beginning."""
    head = _head(part).removeprefix(b"\xef\xbb\xbf").lstrip()
    if not head:
        raise DocumentError(f"{path}: it is empty", hint="get the export again")
    if b"\0" in head[:4096]:
        raise DocumentError(
            f"LILA does not know what {path} is: it is no text in UTF-8",
            hint="name an export of ChatGPT or Claude, JSONL, or Markdown",
        )
    found = chosen or _by_marks(part, head) or _by_name(part, head)
    if found is not None:
        return found
    if head[:1] == b"[":
        raise DocumentError(
            f"{path}: its list holds no conversations of ChatGPT or Claude",
            hint="JSONL has one message a line and no list around them",
        )
    raise DocumentError(
        f"LILA does not know what {path} is",
        hint="name the format with --format: chatgpt, claude, jsonl or markdown",
    )


def _by_marks(part: Part, head: bytes) -> Format | None:
    """What a file is by the keys of its JSON."""
    if head[:1] == b"{" and _is_object(head.partition(b"\n")[0]):
        return "jsonl"
    return _service(part) if head[:1] in (b"[", b"{") else None


def _by_name(part: Part, head: bytes) -> Format | None:
    """What a text is by its name, or by lines that say who speaks from the first one on."""
    name = part.name.lower()
    if name.endswith(_LINES):
        return "jsonl"
    if name.endswith(_NOTES) or is_conversation(head.decode("utf-8", "replace")):
        return "markdown"
    return None


def _head(part: Part) -> bytes:
    with part.open() as stream:
        return Counted(part.name, stream).read(HEAD)


def _is_object(line: bytes) -> bool:
    """Whether a line alone is a message, and not the beginning of something or a conversation."""
    try:
        value: object = json.loads(line)
    except (ValueError, RecursionError):
        return False
    found = set(mapping(value))
    return bool(found) and not {"mapping", "chat_messages"} & found


@dataclass(slots=True)
class Counted:
    """A part opened for reading, that says how much of it was read. Raises `DocumentError`."""

    name: str
    stream: BinaryIO
    read_bytes: int = 0

    def read(self, size: int, /) -> bytes:
        """The next bytes, none at the end."""
        return self._count(self.stream.read, size)

    def readline(self, size: int, /) -> bytes:
        """At most `size` bytes of a line with its end, none at the end."""
        return self._count(self.stream.readline, size)

    def _count(self, get: Callable[[int], bytes], size: int) -> bytes:
        try:
            got = get(size)
        except (OSError, EOFError, zipfile.BadZipFile, zlib.error, RuntimeError) as error:
            raise DocumentError(
                f"{self.name}: it cannot be read on ({error})",
                hint="what was imported by now stays; get the export again, then import it again",
            ) from error
        self.read_bytes += len(got)
        return got
