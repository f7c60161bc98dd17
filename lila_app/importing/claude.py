"""Claude's data export: an array of conversations, each a list of messages.

A message's words are its text blocks (older exports: its `text`), after the names of its files and
the text of its attachments, which is what the person pasted, quoted line by line. Thinking, calls
of tools and what they returned are named. Where messages say which they answer, the branch that
ends with the last message is taken. Times carry their zone; one without is refused, unless the
person says what it means. Users, projects and memories are other files of the export: they are
named, not read.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import tzinfo

from lila_app.importing import branch, times
from lila_app.importing.json_stream import TooLarge
from lila_app.importing.model import (
    Conversation,
    Message,
    Record,
    RecordError,
    Role,
    Skip,
    refusal,
)
from lila_app.importing.values import Json, identifier, items, mapping, shown, text

_ROLES: dict[str, Role] = {"human": "user", "user": "user", "assistant": "assistant"}

_SILENT = frozenset({"thinking", "redacted_thinking", "tool_use", "tool_result", "token_budget"})


def records(
    conversations: Iterable[object], name: str, zone: tzinfo | None = None
) -> Iterator[Record]:
    """One record a conversation; `name` is the file's, `zone` that of times without one."""
    for number, value in enumerate(conversations, 1):
        where = f"{name}: conversation {number}"
        if isinstance(value, TooLarge):
            yield Record(skips=(Skip(where, "", value.why),))
        else:
            yield _record(mapping(value), where, zone)


def _record(body: Json, where: str, zone: tzinfo | None) -> Record:
    named = shown(text(body.get("name")))
    said = [mapping(one) for one in items(body.get("chat_messages"))]
    if not said:
        return Record(skips=(Skip(where, named, "it has no messages"),))
    begun = next(
        (at for one in ("created_at", "updated_at") if (at := times.optional(body.get(one), zone))),
        "",
    )
    own = identifier(body.get("uuid")) or identifier(said[0].get("uuid"))
    if not own:
        return Record(skips=(Skip(where, named, "neither it nor its messages have an id"),))
    conversation = Conversation(own, text(body.get("name")), begun)
    messages: list[Message] = []
    skips: list[Skip] = []
    taken = _taken(said)
    at = begun
    for number, one in enumerate(said, 1):
        place = f"{where}, message {number}"
        if number - 1 not in taken:
            skips.append(Skip(place, named, "it is on a branch that was left"))
            continue
        try:
            message = _message(one, conversation, str(number), at, zone)
        except RecordError as error:
            skips.append(Skip(place, named, error.message))
            continue
        messages.append(message)
        at = message.at
        silent = _silent(one)
        if silent:
            skips.append(Skip(place, named, f"of it only the words are taken, not {silent}", 0))
    return Record(tuple(messages), tuple(skips))


def _taken(said: list[Json]) -> set[int]:
    """Places of the messages on the branch that ends with the last one."""
    parents: dict[str, str] = {}
    places: dict[str, int] = {}
    for place, one in enumerate(said):
        id = identifier(one.get("uuid"))
        if id:
            places[id] = place
            parents[id] = identifier(one.get("parent_message_uuid"))
    answered = Counter(parent for parent in parents.values() if parent)
    if len(places) < len(said) or not any(times > 1 for times in answered.values()):
        return set(range(len(said)))
    return {places[id] for id in branch.path(list(parents)[-1], parents)}


def _message(
    body: Json, conversation: Conversation, place: str, before: str, zone: tzinfo | None
) -> Message:
    sender = text(body.get("sender")) or text(body.get("role"))
    if sender not in _ROLES:
        raise RecordError(f"nobody known said it (sender {shown(sender, 20)!r})")
    words = _words(body)
    refused = refusal(words)
    if refused:
        raise RecordError(refused)
    at = times.read(body.get("created_at") or before, zone)
    return Message(conversation, identifier(body.get("uuid")), place, _ROLES[sender], words, at)


def _words(body: Json) -> str:
    lines: list[str] = []
    for one in items(body.get("attachments")):
        attached = mapping(one)
        lines.append(_label(attached))
        lines += _quoted(text(attached.get("extracted_content")))
    lines += [_label(mapping(one)) for one in items(body.get("files"))]
    blocks = [mapping(one) for one in items(body.get("content"))]
    said = [text(one.get("text")) for one in blocks if text(one.get("type")) not in _SILENT]
    if not any(part.strip() for part in said):
        silent = any(text(one.get("type")) in _SILENT for one in blocks)
        # Where there are only silent blocks, `text` says no more than that they cannot be shown.
        said = [] if silent else [text(body.get("text"))]
    return "\n".join(line for line in [*lines, *said] if line.strip())


def _quoted(attached: str) -> list[str]:
    """The text of an attachment: somebody else's words until shown otherwise, so quoted as such.

    What is learned of the person is learned from their own.
    """
    return [f"> {line}" for line in attached.splitlines() if line.strip()]


def _label(attached: Json) -> str:
    return f"[attachment {shown(text(attached.get('file_name')), 200) or 'without a name'}]"


def _silent(body: Json) -> str:
    kinds = Counter(text(mapping(one).get("type")) for one in items(body.get("content")))
    return ", ".join(f"{kinds[kind]} {kind}" for kind in sorted(_SILENT) if kinds[kind])
