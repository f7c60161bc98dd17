"""What is said is embedded even if LILA is closed right after."""

from __future__ import annotations

from lila_app.testing import ScriptedProvider
from tests.assistant.conftest import Open, say


def test_one_question_at_a_time_leaves_no_vector_behind(
    open_again: Open, provider: ScriptedProvider
) -> None:
    for number in range(3):
        lila = open_again()
        provider.enqueue("Noted.")
        say(lila, f"Note number {number} on the ferry")
        lila.close()
    assert open_again().db.check().pending == 0


def test_a_memory_added_and_closed_upon_is_found_by_meaning(open_again: Open) -> None:
    lila = open_again()
    lila.memory.add("Our puppy chews every shoe it can reach")
    lila.close()
    (hit,) = open_again().memory.search("dog biting footwear")
    assert hit.score > 2_000
