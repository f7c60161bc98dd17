"""Episodes: which turns were looked through for facts, and the days their words mean."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from lila_app.storage import relations
from lila_app.storage.connection import Source, reading
from lila_app.storage.driver import Connection
from lila_app.storage.turns import COLUMNS, TurnRow, as_turn
from lila_app.storage.values import number

# What was said to LILA itself comes before what was imported, which may be a million messages. A
# turn that is being answered waits for its reply.
_WAITING = (
    "from turns where learned = 0 and (reply is not null or source <> '' "
    "or id < (select max(id) from turns))"
)


@dataclass(frozen=True, slots=True)
class Episode:
    """Words of a turn that name a time, by offsets, and the days they mean, both included."""

    turn_id: str
    start: int
    end: int
    day_from: str
    day_to: str


def waiting(
    source: Source, limit: int, *, live: bool = False, after: str | None = None
) -> list[TurnRow]:
    """Turns that were not looked through yet, in the order they should be.

    Only what was said to LILA itself with `live`, or with `after`: what was said after that turn.
    """
    first = 0 if after is None else number(after, "t")
    kinds = ("source = ''",) if live or after is not None else ("source = ''", "source <> ''")
    with reading(source) as connection:
        for kind in kinds:
            rows = connection.execute(
                f"select {COLUMNS} {_WAITING} and {kind} and id > ? order by id limit ?",
                (first, limit),
            ).fetchall()
            if rows:
                return [as_turn(row) for row in rows]
    return []


def waiting_count(source: Source) -> int:
    """How many turns were not looked through yet."""
    with reading(source) as connection:
        count: int = connection.execute(f"select count(*) {_WAITING}").fetchone()[0]
        return count


def learned(connection: Connection, turn: str) -> bool:
    """Note that a turn was looked through; whether it was not before."""
    done = connection.execute(
        "update turns set learned = 1 where id = ? and learned = 0", (number(turn, "t"),)
    )
    return done.rowcount > 0


def ask_later(connection: Connection, turn: str) -> None:
    """Note that a turn was looked through by rules, and waits for a model to be asked about it."""
    connection.execute("update turns set learned = 2 where id = ?", (number(turn, "t"),))


def to_ask(source: Source, limit: int) -> list[TurnRow]:
    """Turns that wait for a model, by id. What was imported never does: it may be a million."""
    with reading(source) as connection:
        rows = connection.execute(
            f"select {COLUMNS} from turns where learned = 2 order by id limit ?", (limit,)
        )
        return [as_turn(row) for row in rows]


def asked(connection: Connection, turn: str) -> bool:
    """Note that a model was asked about a turn, once; whether it had not been."""
    done = connection.execute(
        "update turns set learned = 1 where id = ? and learned = 2", (number(turn, "t"),)
    )
    return done.rowcount > 0


def skip(connection: Connection) -> None:
    """Note that no turn there is needs to be looked through."""
    connection.execute("update turns set learned = 1 where learned = 0")


def add(connection: Connection, episodes: Iterable[Episode]) -> None:
    """Keep what the times in a turn mean."""
    connection.executemany(
        "insert or replace into episodes values (?, 'user', ?, ?, ?, ?)",
        [
            (number(one.turn_id, "t"), one.start, one.end, one.day_from, one.day_to)
            for one in episodes
        ],
    )


def of_turns(source: Source, turns: Sequence[str]) -> list[Episode]:
    """What the times in these turns mean, by turn and place."""
    wanted = [number(turn, "t") for turn in turns]
    with reading(source) as connection:
        rows = connection.execute(
            "select turn_id, start, end, day_from, day_to from episodes "
            f"where turn_id in ({', '.join('?' * len(wanted))}) order by turn_id, start",
            wanted,
        )
        return [Episode(f"t{row[0]}", *row[1:]) for row in rows]


def shown(source: Source, turn: str) -> list[str]:
    """Ids of the items a model had in view when it answered a turn."""
    with reading(source) as connection:
        rows = connection.execute(
            "select distinct i.item_id from record_items i join records r on r.id = i.record_id "
            "where r.turn_id = ? and i.included = 1 order by 1",
            (number(turn, "t"),),
        )
        return [row[0] for row in rows]


def any_in_session(source: Source, turns: Sequence[str], session: str) -> bool:
    """Whether any of these turns was spoken in a session."""
    wanted = [number(turn, "t") for turn in turns]
    with reading(source) as connection:
        row = connection.execute(
            f"select 1 from turns where id in ({', '.join('?' * len(wanted))}) "
            "and session_id = ? limit 1",
            (*wanted, number(session, "s")),
        ).fetchone()
        return row is not None


def texts_of(source: Source, items: Sequence[str]) -> dict[str, str]:
    """The texts of memories, past turns (words and reply), relations and passages, by id."""
    with reading(source) as connection:
        found: dict[str, str] = {}
        for letter, query in _TEXTS.items():
            wanted = [id for id in items if id[:1] == letter and id[1:].isdecimal()]
            marks = ", ".join("?" * len(wanted))
            for row, text in connection.execute(
                query.format(marks=marks), [int(id[1:]) for id in wanted]
            ):
                found[f"{letter}{row}"] = text
        for id in items:
            if id[:1] == "d" and "." in id:
                document, _, place = id[1:].partition(".")
                row = connection.execute(
                    "select text from chunks where document_id = ? and number = ?",
                    (document, place),
                ).fetchone()
                if row is not None:
                    found[id] = row[0]
            elif id[:1] == "r" and id[1:].isdecimal():
                row = connection.execute(
                    "select 1 from relations where id = ?", (int(id[1:]),)
                ).fetchone()
                if row is not None:
                    found[id] = relations.sentence(relations.get(connection, id))
        return found


_TEXTS = {
    "m": "select id, text from memories where id in ({marks})",
    "t": "select id, user || char(10) || coalesce(reply, '') from turns where id in ({marks}) "
    "and user_erased = 0 and reply_erased = 0",
}
