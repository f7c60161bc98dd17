"""ChatGPT's data export: an array of conversations, each a tree of messages.

Taken is the branch that leads to `current_node`, by the parents' ids alone (newer exports leave out
some children). Other branches are counted and named. What the person and the assistant said to
each other is imported; system messages, custom instructions, the assistant's reasoning, calls of
tools and what tools returned are named. Times are Unix times, so their zone is known; a message
without one has that of the message before it, or of the conversation.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from lila_app.importing import branch, times
from lila_app.importing.json_stream import TooLarge
from lila_app.importing.model import Conversation, Message, Record, Role, Skip, refusal
from lila_app.importing.values import Json, identifier, items, mapping, shown, text

_ROLES: dict[str, Role] = {"user": "user", "assistant": "assistant"}

_HIDDEN = {
    "thoughts": "it is the assistant's reasoning",
    "reasoning_recap": "it is the assistant's reasoning",
    "user_editable_context": "they are custom instructions",
    "model_editable_context": "it is ChatGPT's own memory",
    "system_error": "it is an error of ChatGPT",
}

_POINTERS = {
    "image_asset_pointer": "[image]",
    "audio_asset_pointer": "[audio]",
    "video_container_asset_pointer": "[video]",
    "real_time_user_audio_video_asset_pointer": "[audio]",
}


def records(conversations: Iterable[object], name: str) -> Iterator[Record]:
    """One record a conversation; `name` is the file's."""
    for number, value in enumerate(conversations, 1):
        where = f"{name}: conversation {number}"
        if isinstance(value, TooLarge):
            yield Record(skips=(Skip(where, "", value.why),))
        elif not mapping(mapping(value).get("mapping")):
            yield Record(skips=(Skip(where, _title(mapping(value)), "it has no messages"),))
        else:
            yield _Tree(mapping(value), where).record()


def _title(conversation: Json) -> str:
    return shown(text(conversation.get("title")))


@dataclass(frozen=True, slots=True)
class _Left:
    reason: str


class _Tree:
    def __init__(self, conversation: Json, where: str) -> None:
        self._where = where
        self._named = _title(conversation)
        self._nodes = mapping(conversation.get("mapping"))
        self._parents = {
            id: identifier(mapping(node).get("parent")) for id, node in self._nodes.items()
        }
        self._adopt()
        self._current = identifier(conversation.get("current_node"))
        begun = times.optional(conversation.get("create_time"))
        id = identifier(conversation.get("conversation_id")) or identifier(conversation.get("id"))
        # Without an id the first node's is as good: nodes have ids that never come twice.
        self._conversation = Conversation(
            id or next(iter(self._nodes)),
            text(conversation.get("title")),
            begun or times.optional(conversation.get("update_time")),
        )

    def _adopt(self) -> None:
        """Where a node names no parent, but is named as a child, that is its parent."""
        for id, node in self._nodes.items():
            for child in items(mapping(node).get("children")):
                if isinstance(child, str) and self._parents.get(child) == "":
                    self._parents[child] = id

    def record(self) -> Record:
        taken = branch.path(self._leaf(), self._parents)
        messages: list[Message] = []
        skips: list[Skip] = []
        at = self._conversation.at
        for id in taken:
            found = self._message(id, at)
            if isinstance(found, Message):
                messages.append(found)
                at = found.at
            elif found is not None:
                skips.append(Skip(f"{self._where}, {shown(id)}", self._named, found.reason))
        skips += self._other_branches(taken)
        return Record(tuple(messages), tuple(skips))

    def _leaf(self) -> str:
        if self._current in self._parents:
            return self._current
        # No current node: the branch that was written to last.
        return max(
            branch.leaves(self._parents),
            key=lambda id: times.optional(self._body(id).get("create_time")),
        )

    def _body(self, id: str) -> Json:
        return mapping(mapping(self._nodes[id]).get("message"))

    def _other_branches(self, taken: list[str]) -> Iterator[Skip]:
        for own in branch.others(taken, self._parents):
            said = [id for id in own if isinstance(self._message(id, "-"), Message)]
            if said:
                reason = "they are on a branch that was left"
                yield Skip(f"{self._where}, {shown(said[0])}", self._named, reason, len(said))

    def _message(self, id: str, before: str) -> Message | _Left | None:
        """The message of a node, why it is left out, or None where there is nothing to name."""
        body = self._body(id)
        if not body:
            return None
        reason = _why_not(body)
        if reason is not None:
            return _Left(reason) if reason else None
        words = _words(body)
        refused = refusal(words)
        if refused:
            return _Left(refused)
        at = times.optional(body.get("create_time")) or before
        if not at:
            return _Left("neither it nor its conversation has a time")
        role = _ROLES[text(mapping(body.get("author")).get("role"))]
        own = identifier(body.get("id")) or id
        return Message(self._conversation, own, own, role, words, at)


def _why_not(body: Json) -> str | None:
    """Why a message is left out; "" where that is not worth a word, None where it is not."""
    role = text(mapping(body.get("author")).get("role"))
    content = mapping(body.get("content"))
    kind = text(content.get("content_type"))
    if kind in _HIDDEN:
        return _HIDDEN[kind]
    if role == "tool":
        return "a tool returned it"
    if role == "system":
        # Nearly every conversation begins with an empty one.
        return "it is a system message" if _words(body).strip() else ""
    if role not in _ROLES:
        return f"nobody known said it (role {shown(role, 20)!r})"
    if mapping(body.get("metadata")).get("is_visually_hidden_from_conversation") is True:
        return "it is hidden in ChatGPT"
    recipient = text(body.get("recipient"))
    if role == "assistant" and recipient not in ("", "all"):
        return f"it calls the tool {shown(recipient, 30)}"
    return None


def _words(body: Json) -> str:
    content = mapping(body.get("content"))
    attached = [
        shown(text(mapping(one).get("name")), 200) or "without a name"
        for one in items(mapping(body.get("metadata")).get("attachments"))
    ]
    lines = [f"[attachment {name}]" for name in attached]
    parts = content.get("parts")
    if parts is not None:
        said = [_part(part, named=bool(attached)) for part in items(parts)]
    else:
        said = [_plain(content)]
    return "\n".join([*lines, *(part for part in said if part.strip())])


def _part(part: object, *, named: bool) -> str:
    if isinstance(part, str):
        return part
    body = mapping(part)
    if said := text(body.get("text")):
        return said
    kind = text(body.get("content_type"))
    if kind == "image_asset_pointer" and named:
        return ""
    return _POINTERS.get(kind, f"[{shown(kind, 40)}]" if kind else "")


def _plain(content: Json) -> str:
    said = text(content.get("text")) or text(content.get("result"))
    if text(content.get("content_type")) == "code" and said:
        language = text(content.get("language"))
        return f"```{'' if language == 'unknown' else shown(language, 20)}\n{said}\n```"
    return said
