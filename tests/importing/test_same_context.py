"""An export put back makes the same prompts, byte for byte.

The profile's name stands in every prompt, so it is put back under the same name in another home.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from lila_app.assistant import Lila, open_lila
from lila_app.embedding.port import Embedder
from lila_app.testing import FakeClock, ScriptedProvider
from tests.assistant.conftest import clock, lila, open_again, provider, say

__all__ = ["clock", "lila", "open_again", "provider"]

NOW = "2026-12-01T09:00:00+01:00"
ASKED = (
    ("Who is Alex's manager?", "chat"),
    ("What do I feed the otter?", "chat"),
    ("When does the ferry leave?", "voice"),
    ("What did I say about the boat?", "briefing"),
    ("and then?", "chat"),
)


def prompts(lila: Lila, session: str) -> list[str]:
    found: list[str] = []
    for text, use_case in ASKED:
        for place in (None, session):
            context = lila.preview(text, use_case=use_case, session=place, now=NOW)
            found.append(str(context.record["bytes_sha256"]))
    return found


@pytest.mark.slow
def test_the_same_prompts_after_an_export_and_an_import(
    lila: Lila,
    provider: ScriptedProvider,
    clock: FakeClock,
    embedder: Embedder,
    tmp_path: Path,
) -> None:
    provider.enqueue("Noted.")
    provider.enqueue("Good.")
    lila.memory.add("The otter eats herring.", kind="fact")
    lila.memory.add("I live on a boat.", kind="core")
    doomed = lila.memory.add("The safe is behind the barometer.")
    lila.graph.add("Alex", "reports to", "Dana")
    lila.goals.set("Paint the hull")
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "ferry.md").write_text("# Ferry\n\nThe ferry leaves at seven from the north pier.\n")
    lila.documents.ingest([notes])
    lila.memory.forget(doomed.id)
    done = say(lila, "The boat needs a new mast.")
    say(lila, "And the otter is back.", session=done.session_id)
    talk = tmp_path / "talk.jsonl"
    talk.write_text(
        '{"id":"1","session":"a","at":1700000000,"role":"user","text":"My boat is green."}\n'
        '{"id":"2","session":"a","at":1700000009,"role":"assistant","text":"Like moss."}\n'
    )
    lila.imports.run(talk)
    lila.db.catch_up()
    before = prompts(lila, done.session_id)
    lila.db.export(tmp_path / "out.zip")

    with open_lila(
        tmp_path / "elsewhere", provider=provider, clock=clock, embedder=embedder
    ) as twin:
        twin.imports.restore(tmp_path / "out.zip")
        twin.db.catch_up()
        assert prompts(twin, done.session_id) == before
        assert len(set(before)) > len(ASKED)
        assert twin.db.check().problems == ()
        assert twin.contexts.replay("last").status == "identical"
