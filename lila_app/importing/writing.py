"""Messages into the store, a batch a transaction, each at most once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from lila_app.importing.model import Conversation, Message, Record, Skip, key
from lila_app.importing.values import shown
from lila_app.storage import bulk, imports
from lila_app.storage.connection import Store
from lila_app.storage.driver import Connection

BATCH = 500
"""Messages a transaction: a fifth of a second, which is how long a chat waits to write, and what a
crash has to do again. Larger ones are not faster (fsync is 2 % of the time)."""

LONGEST_ID = 500
"""Characters of an id that are kept; longer ones serve as keys all the same."""

_ASKED = 400
"""Keys looked up in one statement."""


@dataclass(slots=True)
class Written:
    """What a batch did; counts are messages, but for `sessions`."""

    sessions: int = 0
    messages: int = 0
    known: int = 0
    skips: list[Skip] = field(default_factory=list[Skip])


Kept = Callable[[str], str]
"""A text as it may be stored; the same text always the same way, so that it is known again."""


class Writer:
    """Puts the messages of one source into the store."""

    def __init__(
        self, row: imports.ImportRow, namespace: str, learn: bool, kept: Kept | None = None
    ) -> None:
        self._kept = kept
        self._row = row
        self._names = (row.kind, namespace)
        self._learn = learn
        self._ids: dict[str, str] = {}

    def write(self, store: Store, records: Sequence[Record], *, position: int, at: str) -> Written:
        """Store what is new in some records, and that they are done."""
        if self._kept is not None:  # before the transaction: it may write itself
            records = [_redacted(record, self._kept) for record in records]
            self._ids = _kept_ids(records, self._kept)
        with store.write() as connection:
            done = self._put(connection, [one for record in records for one in record.messages])
            left = sum(skip.count for record in records for skip in record.skips)
            imports.advance(
                connection,
                self._row.id,
                position=position,
                sessions=done.sessions,
                messages=done.messages,
                skipped=left + sum(skip.count for skip in done.skips),
                at=at,
            )
        return done

    def judge(self, connection: Connection, messages: Sequence[Message]) -> Written:
        """What `write` would do, for a dry run."""
        done = Written()
        self._fresh(connection, messages, done)
        return done

    def _put(self, connection: Connection, messages: Sequence[Message]) -> Written:
        done = Written()
        fresh = self._fresh(connection, messages, done)
        sessions = self._sessions(connection, [message for _, message in fresh], done)
        kept: list[tuple[bytes, bulk.Message]] = []
        for one, message in fresh:
            session = sessions[message.conversation.names]
            if session is None:
                reason = "its session was deleted here"
                done.skips.append(Skip(_where(message), _named(message), reason))
            else:
                kept.append((one, self._stored(message, session)))
        said = [message for _, message in kept]
        origin = self._row.origin
        placed = bulk.append_messages(connection, said, origin=origin, learn=self._learn)
        imports.keep(connection, [one for one, _ in kept], placed)
        done.messages = len(kept)
        return done

    def _fresh(
        self, connection: Connection, messages: Sequence[Message], done: Written
    ) -> list[tuple[bytes, Message]]:
        """Messages that are not here yet, by key; the others are counted or named."""
        keyed = [(self._key(message), message) for message in messages]
        known: dict[bytes, imports.Known] = {}
        for start in range(0, len(keyed), _ASKED):
            known |= imports.known(connection, [one for one, _ in keyed[start : start + _ASKED]])
        fresh: list[tuple[bytes, Message]] = []
        for one, message in keyed:
            before = known.get(one)
            if before is None:
                known[one] = imports.Known("", message.text)
                fresh.append((one, message))
            elif before.text == message.text:
                done.known += 1
            else:
                done.skips.append(Skip(_where(message), _named(message), _differs(before)))
        return fresh

    def _key(self, message: Message) -> bytes:
        own = ("id", message.id) if message.id else ("place", message.place)
        return key(*self._names, *message.conversation.names, *own)

    def _sessions(
        self, connection: Connection, messages: Sequence[Message], done: Written
    ) -> dict[tuple[str, str], str | None]:
        """The session of each conversation, started where there is none; None if deleted."""
        first: dict[tuple[str, str], Message] = {}
        for message in messages:
            first.setdefault(message.conversation.names, message)
        keys = {names: key(*self._names, *names, "session") for names in first}
        known: dict[bytes, str | None] = {}
        wanted = list(keys.values())
        for start in range(0, len(wanted), _ASKED):
            known |= imports.sessions_of(connection, wanted[start : start + _ASKED])
        found: dict[tuple[str, str], str | None] = {}
        for names, message in first.items():
            if keys[names] not in known:
                known[keys[names]] = self._open(connection, keys[names], message)
                done.sessions += 1
            found[names] = known[keys[names]]
        return found

    def _open(self, connection: Connection, one: bytes, message: Message) -> str:
        conversation = message.conversation
        return imports.open_session(
            connection,
            one,
            import_id=self._row.id,
            external_id=self._id(conversation.id),
            title=_title(conversation, message),
            # What began later than its first message did not begin then.
            at=min(conversation.at or message.at, message.at),
        )

    def _stored(self, message: Message, session: str) -> bulk.Message:
        id = self._id(message.id)
        return bulk.Message(session, message.role, message.text, message.at, id, message.speaker)

    def _id(self, id: str) -> str:
        """An id of the source as it is kept; keys are over ids as they are there."""
        return self._ids.get(id, _clean(id)[:LONGEST_ID])


def _title(conversation: Conversation, first: Message) -> str:
    return shown(conversation.title, 200) or shown(first.text)


def _clean(id: str) -> str:
    return id.encode("utf-8", "replace").decode()


def _kept_ids(records: Sequence[Record], kept: Kept) -> dict[str, str]:
    """The ids in some records as they may be stored: some are addresses or telephone numbers."""
    messages = [one for record in records for one in record.messages]
    ids = dict.fromkeys(id for one in messages for id in (one.id, one.conversation.id))
    return {id: kept(_clean(id)[:LONGEST_ID]) for id in ids}


def _where(message: Message) -> str:
    conversation = shown(message.conversation.id)
    return f"{conversation}: {shown(message.id) or f'message {message.place}'}"


def _named(message: Message) -> str:
    return shown(message.conversation.title)


def _differs(before: imports.Known) -> str:
    if before.text is None:
        return "it was forgotten here"
    if before.turn_id == "":
        return "the source has another message of that id"
    return f"it was imported as {before.turn_id} with other words, which stay"


def _redacted(record: Record, kept: Kept) -> Record:
    """A record whose texts are as they may be stored."""
    return replace(
        record,
        messages=tuple(
            replace(
                one,
                text=kept(one.text),
                speaker=kept(one.speaker),
                conversation=replace(one.conversation, title=kept(one.conversation.title)),
            )
            for one in record.messages
        ),
    )
