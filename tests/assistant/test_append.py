"""Messages said elsewhere: an import, or words another program spoke with the person."""

import pytest

from lila_app.assistant import Lila
from lila_app.errors import UsageError
from lila_app.testing import ScriptedProvider
from tests.assistant.conftest import say

NOW = "2026-11-01T09:00:00+00:00"


def test_a_message_without_a_session_starts_one_named_after_it(lila: Lila) -> None:
    asked = lila.sessions.append(None, "user", "Where is  the\nboat?", at=NOW, external_id="x/1")
    answered = lila.sessions.append(
        asked.session_id, "assistant", "In the shed.", at=NOW, external_id="x/2"
    )
    assert (answered.id, answered.user, answered.reply) == (
        asked.id, "Where is  the\nboat?", "In the shed."
    )  # fmt: skip
    assert [(info.id, info.title, info.turns) for info in lila.sessions.list()] == [
        (asked.session_id, "Where is the boat?", 1)
    ]


def test_an_appended_exchange_is_history_and_keeps_the_ids_it_came_with(
    lila: Lila, provider: ScriptedProvider
) -> None:
    turn = lila.sessions.append(None, "user", "Where is the boat?", at=NOW, external_id="x/1")
    lila.sessions.append(turn.session_id, "assistant", "In the shed.", at=NOW, external_id="x/2")
    provider.enqueue("Locked.")
    done = say(lila, "Is the shed locked at night?", session=turn.session_id)
    conversation = lila.contexts.show(done.record_id)["layers"][1]
    assert [(item["id"], item["external_ids"]) for item in conversation["items"]] == [
        (turn.id, ["x/1", "x/2"])
    ]


def test_a_refused_message_starts_no_session(lila: Lila) -> None:
    with pytest.raises(UsageError):
        lila.sessions.append(None, "user", "  ")
    assert lila.sessions.list() == ()
