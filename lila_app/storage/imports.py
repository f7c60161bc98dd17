"""How far each source was imported, and which of its messages are here already.

A source is a path. Its position counts records (conversations, lines, files) that are done, and
moves in the transaction that stores what they said: whatever happens, a record is either done and
here, or neither.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from lila_app.storage import sessions
from lila_app.storage.bulk import Side
from lila_app.storage.connection import Source, reading, writing
from lila_app.storage.driver import Connection
from lila_app.storage.values import instant, number

State = Literal["running", "stopped", "done"]

ORIGIN = "import:"
"""What the `source` of an imported turn begins with; the import's number follows."""

_COLUMNS = (
    "id, path, name, kind, fingerprint, position, sessions, messages, skipped, learn, state, at, "
    "last_at"
)


@dataclass(frozen=True, slots=True)
class ImportRow:
    """One source; counts are of all its runs together, but for `skipped`, which is the last one's.

    "running" is also what a killed import says: whether one is under way, only its process knows.
    """

    id: int
    path: str
    name: str
    kind: str
    fingerprint: str
    position: int
    sessions: int
    messages: int
    skipped: int
    learn: bool
    state: State
    at: str
    last_at: str

    @property
    def origin(self) -> str:
        """The `source` of its turns."""
        return f"{ORIGIN}{self.id}"


@dataclass(frozen=True, slots=True)
class Known:
    """A message that came before; `text` None where it was forgotten since."""

    turn_id: str | None
    text: str | None


def start(
    source: Source, path: str, *, name: str, kind: str, fingerprint: str, learn: bool, at: str
) -> ImportRow:
    """Begin or go on with a source: from where it was, if it is the same file and was not done."""
    with writing(source) as connection:
        found = _find(connection, path)
        goes_on = (
            found is not None
            and (found.kind, found.name, found.fingerprint) == (kind, name, fingerprint)
            and found.state != "done"
        )
        connection.execute(
            "insert into imports (path, name, kind, fingerprint, learn, state, at, last_at) "
            "values (?1, ?2, ?3, ?4, ?5, 'running', ?6, ?6) on conflict (path) do update set "
            "name = ?2, kind = ?3, fingerprint = ?4, learn = ?5, state = 'running', last_at = ?6, "
            "position = iif(?7, position, 0), skipped = iif(?7, skipped, 0)",
            (path, name, kind, fingerprint, learn, instant(at), goes_on),
        )
        row = _find(connection, path)
        assert row is not None
        return row


def find(source: Source, path: str) -> ImportRow | None:
    """The source of this path, if it was ever imported."""
    with reading(source) as connection:
        return _find(connection, path)


def list_imports(source: Source) -> list[ImportRow]:
    """Every source, by id."""
    with reading(source) as connection:
        rows = connection.execute(f"select {_COLUMNS} from imports order by id").fetchall()
        return [_row(row) for row in rows]


def advance(
    connection: Connection,
    id: int,
    *,
    position: int,
    sessions: int,
    messages: int,
    skipped: int,
    at: str,
) -> None:
    """Move a source's position, and add to its counts, in the transaction of what was stored."""
    connection.execute(
        "update imports set position = ?, sessions = sessions + ?, messages = messages + ?, "
        "skipped = skipped + ?, last_at = ? where id = ?",
        (position, sessions, messages, skipped, instant(at), id),
    )


def finish(source: Source, id: int, state: State, *, at: str) -> None:
    """Say how a run ended."""
    with writing(source) as connection:
        connection.execute(
            "update imports set state = ?, last_at = ? where id = ?", (state, instant(at), id)
        )


def known(connection: Connection, keys: Sequence[bytes]) -> dict[bytes, Known]:
    """Those of these messages that came before."""
    marks = ", ".join("?" * len(keys))
    rows = connection.execute(
        "select i.key, i.turn_id, iif(i.side = 'user', t.user, t.reply), "
        "iif(i.side = 'user', t.user_erased, t.reply_erased) "
        f"from imported i left join turns t on t.id = i.turn_id where i.key in ({marks})",
        keys,
    )
    return {
        key: Known(None if turn is None else f"t{turn}", None if erased else text)
        for key, turn, text, erased in rows
    }


def keep(connection: Connection, keys: Sequence[bytes], placed: Sequence[tuple[str, Side]]) -> None:
    """Say which turn, and which side of it, each message is."""
    connection.executemany(
        "insert into imported values (?, ?, ?)",
        [(key, number(turn, "t"), side) for key, (turn, side) in zip(keys, placed, strict=True)],
    )


def sessions_of(connection: Connection, keys: Sequence[bytes]) -> dict[bytes, str | None]:
    """The sessions these conversations are; None for one that was deleted since."""
    marks = ", ".join("?" * len(keys))
    rows = connection.execute(
        "select key, session_id, deleted from imported_sessions "
        f"join sessions on id = session_id where key in ({marks})",
        keys,
    )
    return {key: None if deleted else f"s{session}" for key, session, deleted in rows}


def open_session(
    connection: Connection, key: bytes, *, import_id: int, external_id: str, title: str, at: str
) -> str:
    """A session for a conversation; `at` is when it began."""
    made = sessions.create(connection, at=at, use_case="chat", title=title)
    connection.execute(
        "insert into imported_sessions values (?, ?, ?, ?)",
        (key, number(made.id, "s"), import_id, external_id),
    )
    return made.id


def external_sessions(source: Source) -> Mapping[str, str]:
    """What imported sessions were called where they came from, by session."""
    with reading(source) as connection:
        rows = connection.execute("select session_id, external_id from imported_sessions")
        return {f"s{session}": external for session, external in rows}


def unlearned(source: Source) -> int:
    """How many turns nothing was learned from yet."""
    with reading(source) as connection:
        found: int = connection.execute("select count(*) from turns where learned = 0").fetchone()[
            0
        ]
        return found


def _find(connection: Connection, path: str) -> ImportRow | None:
    row = connection.execute(f"select {_COLUMNS} from imports where path = ?", (path,)).fetchone()
    return None if row is None else _row(row)


def _row(row: tuple[object, ...]) -> ImportRow:
    values = list(row)
    values[9] = bool(values[9])
    return ImportRow(*values)  # type: ignore[arg-type]  # the columns in the order of the fields
