"""Placeholders in the store, by choice: no value on the disk, none missing to the person."""

from __future__ import annotations

import asyncio
import json
from contextlib import aclosing
from pathlib import Path

import pytest

from lila_app.assistant import Lila
from lila_app.composing import title
from lila_app.context import ModelLimits
from lila_app.events import Confirmation, Notice, TextDelta, ToolCall, ToolResult, TurnEvent
from lila_app.gateway.port import Call
from lila_app.logs import writing
from lila_app.memory.by_model import LEAST_TURNS
from lila_app.testing import Scripted, ScriptedProvider
from tests.privacy.redacted import (
    CARD,
    DESK,
    IBAN,
    MAIL,
    NEW,
    OFFICE,
    OLD,
    PHONE,
    SSN,
    VALUES,
    opened,
    redacting,
)
from tests.traces import holding, values
from tests.waiting import until

LIMITS = ModelLimits(window=100_000, context_budget=50_000, tools=True)


def turn(lila: Lila, text: str, session: str | None = None) -> list[TurnEvent]:
    async def yes(question: Confirmation) -> bool:
        asked.append(question)
        return True

    asked: list[Confirmation] = []

    async def gather() -> list[TurnEvent]:
        async with aclosing(lila.turn(text, session=session, confirm=yes)) as events:
            return [event async for event in events]

    found = asyncio.run(gather())
    assert all("[MAIL" not in one.question for one in asked)
    return found


def said(events: list[TurnEvent]) -> str:
    return "".join(one.text for one in events if isinstance(one, TextDelta))


def test_with_redaction_on_no_value_is_on_the_disk_and_the_person_sees_every_one(
    tmp_path: Path,
) -> None:
    home = tmp_path / "home"
    place = redacting(home)
    search = Call("1", "memory_search", json.dumps({"query": MAIL}))
    remember = Call("2", "memory_add", json.dumps({"text": f"Ada's new address is {NEW}."}))
    provider = ScriptedProvider(
        f"Noted: {MAIL}; I would also write to {NEW}.",
        Scripted((f"Let me look for {MAIL}.",), calls=(search,)),
        f"It is {MAIL}.",
        Scripted(("I keep it.",), calls=(remember,)),
        "Kept.",
        limits=LIMITS,
    )
    file, talk = tmp_path / "contacts.md", tmp_path / "talk.jsonl"
    file.write_text(f"# Contacts\n\nThe office is {OFFICE}, its desk {DESK}.\n")
    line = {
        "id": "1", "session": "a", "at": "2026-11-01T10:00:00+00:00", "role": "user",
        "text": f"my address was {OLD}",
    }  # fmt: skip
    talk.write_text(json.dumps(line) + "\n")
    with writing(place), opened(home, provider) as lila:
        memory = lila.memory.add(f"Ada's mail is {MAIL}, her telephone {PHONE}")
        first = turn(lila, f"Note {MAIL}, my card {CARD} and {IBAN}; SSN {SSN}")
        session = first[0].session_id  # type: ignore[union-attr]
        second = turn(lila, f"What was {MAIL} again?", session)
        turn(lila, f"Remember {NEW}", session)
        lila.goals.set(f"write to {OFFICE}", session=session)
        lila.sessions.note(f"open: {DESK}", session)
        lila.sessions.rename(session, f"About {MAIL}")
        lila.graph.add(MAIL, "belongs to", "Ada")
        assert lila.documents.ingest([file]).problems == ()
        assert lila.imports.run(talk).messages == 1
        assert lila.imports.run(talk).known == 1  # the same message, redacted the same way
        assert holding(home, VALUES) == []  # while the write-ahead log is there
        assert "records" in {table for table, _ in values(place.profile_db("default"))}

        assert memory.text == f"Ada's mail is {MAIL}, her telephone {PHONE}"
        assert said(first) == f"Noted: {MAIL}; I would also write to {NEW}."
        (call,) = [one for one in second if isinstance(one, ToolCall)]
        (result,) = [one for one in second if isinstance(one, ToolResult)]
        assert json.loads(call.arguments) == {"query": MAIL}
        assert PHONE in result.text and "[MAIL" not in result.text
        shown = lila.sessions.show(session)
        assert shown.turns[0].user == f"Note {MAIL}, my card {CARD} and {IBAN}; SSN {SSN}"
        assert shown.turns[0].reply == said(first)
        assert lila.memory.search(MAIL)[0].memory.id == memory.id
        assert lila.documents.search(f"who is {OFFICE}?")[0].text.count(OFFICE) == 1
        assert lila.sessions.search(OLD)[0].turn.user == f"my address was {OLD}"
        assert lila.graph.show(MAIL)[0].subject == MAIL
        assert lila.goals.list(session)[0].text == f"write to {OFFICE}"
        # A model on this machine is told what the store hides.
        told = "".join(one.content for one in provider.requests[0].messages)
        assert CARD in told and MAIL in told
        assert MAIL not in lila.contexts.text("last")
        assert MAIL not in lila.preview(f"And {MAIL}?", session=session).text
        backup = tmp_path / "backup.db"
        lila.db.backup(backup)
        lila.db.export(tmp_path / "export")
    assert holding(home, VALUES) == []
    assert holding(tmp_path / "export", VALUES) == []
    assert not any(value.encode() in backup.read_bytes() for value in VALUES)
    assert (place.config_dir / "vault.key").is_file()


def test_another_spelling_is_found_by_the_one_that_is_stored(tmp_path: Path) -> None:
    redacting(tmp_path)
    with opened(tmp_path, ScriptedProvider()) as lila:
        kept = lila.memory.add("Ada's telephone is +44 20 7946 0018")
        lila.memory.add("the boat's colour is blue")
        lila.memory.add("the harbour rings on +442079460018")
        assert kept.id in {hit.memory.id for hit in lila.memory.search("+44 20 7946 0018")}
        assert len(lila.memory.search("+442079460018")) == 2


def test_turned_off_again_what_is_stored_still_comes_back(tmp_path: Path) -> None:
    place = redacting(tmp_path)
    with opened(tmp_path, ScriptedProvider()) as lila:
        id = lila.memory.add(f"Ada's mail is {MAIL}").id
    (place.policies_dir / "privacy.toml").unlink()
    with opened(tmp_path, ScriptedProvider(f"It is {MAIL}.")) as lila:
        assert lila.memory.show(id).text == f"Ada's mail is {MAIL}"
        assert lila.memory.add(f"The office is {OFFICE}").text == f"The office is {OFFICE}"
        assert said(turn(lila, "Which mail?")) == f"It is {MAIL}."
    assert holding(tmp_path, [OFFICE]) != []  # as it was said


def test_a_persons_own_words_are_hidden_too(tmp_path: Path) -> None:
    redacting(tmp_path, '[deny]\nvalues = ["Project Heron"]\n')
    with opened(tmp_path, ScriptedProvider("Project Heron it is.")) as lila:
        assert said(turn(lila, "We call it Project Heron")) == "Project Heron it is."
        assert lila.sessions.search("Project Heron")[0].turn.user == "We call it Project Heron"
    assert holding(tmp_path, ["Project Heron"]) == [
        ("config/policies/privacy.toml", "Project Heron")
    ]


def test_ids_titles_and_names_of_an_import_hold_no_value_either(tmp_path: Path) -> None:
    redacting(tmp_path / "home")
    talk, file = tmp_path / "talk.jsonl", tmp_path / "contact.md"
    line = {
        "id": f"<{OLD}>", "session": PHONE, "at": "2026-11-01T10:00:00+00:00", "speaker": MAIL,
        "text": "the boat is mended", "title": f"with {MAIL}",
    }  # fmt: skip
    talk.write_text(json.dumps(line) + "\n")
    file.write_text(f"# Contact [of] {OFFICE}\n\nThe desk is on the left.\n")
    with opened(tmp_path / "home", ScriptedProvider(limits=LIMITS)) as lila:
        assert lila.imports.run(talk).messages == 1
        assert lila.imports.run(talk).known == 1
        assert lila.documents.ingest([file]).problems == ()
        assert holding(tmp_path / "home", VALUES) == []
        assert lila.documents.search("desk")[0].place.startswith(f"Contact (of) {OFFICE}")


def test_a_notice_quotes_what_was_kept_as_the_person_said_it(tmp_path: Path) -> None:
    place = redacting(tmp_path)
    place.settings_file.write_text('[memory]\nwrites = "undoable"\n')
    remember = Call("1", "memory_add", json.dumps({"text": f"Ada's new address is {NEW}."}))
    provider = ScriptedProvider(
        Scripted(("I keep it.",), calls=(remember,)), "Kept.", limits=LIMITS
    )
    with opened(tmp_path, provider) as lila:
        events = turn(lila, f"Remember that Ada's new address is {NEW}")
    told = [one.text for one in events if isinstance(one, Notice)]
    assert len(told) == 1
    assert NEW in told[0] and "[MAIL" not in told[0]


def test_a_text_in_the_form_of_a_placeholder_comes_back_as_it_was(tmp_path: Path) -> None:
    redacting(tmp_path)
    with opened(tmp_path, ScriptedProvider("Fine: [MAIL1].")) as lila:
        lila.memory.add(f"Ada's mail is {MAIL}")
        events = turn(lila, "I write [MAIL1] and [MAIL99] as they are")
        shown = lila.sessions.show(events[0].session_id).turns[0]  # type: ignore[union-attr]
        assert shown.user == "I write [MAIL1] and [MAIL99] as they are"


def test_a_title_holds_no_half_of_a_placeholder() -> None:
    for extra in range(14):
        named = title("word " * 9 + "x" * extra + " [MAIL12] and then something longer still")
        assert "[MAIL12]" in named or "[" not in named


@pytest.mark.slow
def test_what_a_model_finds_in_the_words_is_kept_as_they_are(tmp_path: Path) -> None:
    place = redacting(tmp_path)
    (place.policies_dir / "gateway.toml").write_text(
        '[limits."scripted/test"]\nwindow = 100_000\ncontext_budget = 50_000\ncapable = true\n'
    )
    place.settings_file.write_text("[memory]\nuse_model = true\n")
    provider = ScriptedProvider()
    quote = f"My letters go to {MAIL} these days"
    with opened(tmp_path, provider) as lila:
        lila._resources.afterwards.learns = False  # pyright: ignore[reportPrivateUsage]  # by hand below
        session = lila.sessions.create("The rain").id
        for number in range(LEAST_TURNS):
            provider.enqueue("I see.")
            said = quote if number == 1 else f"It rained {number} times, alas"
            turn(lila, said, session)
        entry = {
            "turn": "t2", "quote": quote, "subject": "me", "predicate": "lives_in", "value": MAIL,
            "negated": False, "holds_from": None, "holds_until": None,
        }  # fmt: skip
        provider.enqueue(json.dumps({"memories": [entry]}))
        learner = lila._resources.learner  # pyright: ignore[reportPrivateUsage]
        learner.run()
        learner.ask()
        told = [one for one in provider.requests if one.job == "extraction"]
        assert MAIL in told[0].messages[-1].content  # a model on this machine
        with lila._resources.store.read() as connection:  # pyright: ignore[reportPrivateUsage]
            rows = connection.execute("select value from facts where extractor <> 'rules'")
            assert rows.fetchall() == [("[MAIL1]",)]
    assert holding(tmp_path, VALUES) == []


@pytest.mark.slow
def test_a_title_a_model_made_is_kept_with_placeholders_and_listed_with_the_values(
    tmp_path: Path,
) -> None:
    place = redacting(tmp_path)
    (place.policies_dir / "gateway.toml").write_text(
        '[limits."scripted/test"]\nwindow = 100_000\ncontext_budget = 50_000\ncapable = true\n'
    )
    place.settings_file.write_text("[memory]\nuse_model = true\nlearn = false\n")
    made = json.dumps({"title": f"Letters to {MAIL}", "names": []})
    provider = ScriptedProvider("I see.", made)
    with opened(tmp_path, provider) as lila:
        turn(lila, f"Where do I write to, {MAIL} or {NEW}?")
        until(lambda: lila.sessions.list()[0].title == f"Letters to {MAIL}")
        with lila._resources.store.read() as connection:  # pyright: ignore[reportPrivateUsage]
            (kept,) = connection.execute("select title from sessions").fetchone()
    assert kept == "Letters to [MAIL1]"
    assert MAIL in provider.requests[1].messages[-1].content  # a model on this machine
    assert holding(tmp_path, VALUES) == []
