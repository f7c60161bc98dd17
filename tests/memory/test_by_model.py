"""What a capable model finds in what was said: held to the words, to the rules, to the budget."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lila_app.assistant import Lila, open_lila
from lila_app.context import Source
from lila_app.embedding.port import Embedder
from lila_app.errors import UnavailableError
from lila_app.memory import predicates
from lila_app.memory.by_model import (
    LEAST_TURNS,
    MOST_CHARACTERS,
    MOST_TURNS,
    Told,
    added,
    batches,
    candidates,
)
from lila_app.memory.completer import Job
from lila_app.memory.model import ME, Candidate, Extracted, Refused, Utterance
from lila_app.paths import Home, read_text, shipped
from lila_app.storage.connection import Store
from lila_app.testing import FakeClock, Scripted, ScriptedProvider
from tests.assistant.conftest import say
from tests.memory.conftest import CAPABLE

TABLE = shipped("policies") / "predicates.toml"
PREDICATES = predicates.load([Source(str(TABLE), read_text(TABLE))])
AT = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)


def utterance(text: str, *recalled: str, speaker: str = ME) -> Utterance:
    return Utterance(text, speaker, AT, recalled)


def entry(turn: str, quote: str, value: str, **more: object) -> dict[str, object]:
    return {
        "turn": turn, "quote": quote, "subject": "me", "predicate": "lives_in", "value": value,
        "negated": False, "holds_from": None, "holds_until": None, **more,
    }  # fmt: skip


@dataclass
class FakeCompleter:
    """A completer with answers by turn; it remembers which texts it was shown together."""

    entries: Sequence[Mapping[str, object]] = ()
    fails: bool = False
    shown: list[Mapping[str, str]] = field(default_factory=list[Mapping[str, str]])

    def of(self, job: Job) -> str:
        return "somebody/capable" if job == "extraction" else ""

    def answer(self, job: Job, texts: Mapping[str, str]) -> Mapping[str, object] | None:
        assert job == "extraction"
        self.shown.append(texts)
        if self.fails:
            return None
        return {"memories": [one for one in self.entries if one["turn"] in texts]}


def found(one: Mapping[str, object], said: Utterance) -> tuple[Candidate, ...]:
    return candidates(FakeCompleter([one]), [Told("t1", said)], PREDICATES)["t1"]


def test_an_entry_becomes_a_candidate_with_its_place_and_its_sentence() -> None:
    said = utterance("Well, since 3 May we  live in Porto, you know.")
    (made,) = found(entry("t1", "we live in Porto", "Porto", holds_from="2026-05-03"), said)
    assert said.text[made.start : made.end] == "we  live in Porto"
    assert (made.subject, made.predicate, made.value) == (ME, "lives_in", "Porto")
    assert made.text == PREDICATES.named["lives_in"].said(ME, "Porto")
    assert made.is_entity and not made.explicit and made.cue == ""
    assert made.valid_from == date(2026, 5, 3) and made.valid_to is None


def test_me_is_whoever_speaks() -> None:
    said = utterance("I live in Porto", speaker="Ana")
    assert found(entry("t1", "I live in Porto", "Porto"), said)[0].subject == "Ana"


@pytest.mark.parametrize(
    ("changes", "recalled"),
    [
        ({"predicate": "owns a spaceship like"}, ()),
        ({"quote": "I live in Lisbon"}, ()),
        # What LILA itself had recalled is no new evidence.
        ({}, ("The person said: I live in Porto. That was long ago.",)),
        # Negated, but no word of the quote denies anything.
        ({"negated": True}, ()),
        ({"value": " "}, ()),
    ],
)
def test_what_cannot_be_kept_or_is_no_evidence_is_left_out(
    changes: Mapping[str, object], recalled: Sequence[str]
) -> None:
    said = utterance("I live in Porto", *recalled)
    assert found({**entry("t1", "I live in Porto", "Porto"), **changes}, said) == ()


def test_a_denial_is_never_read_as_a_statement() -> None:
    said = utterance("I don't live in Porto")
    assert found(entry("t1", said.text, "Porto"), said) == ()
    denied = found(entry("t1", said.text, "Porto", negated=True), said)
    assert [one.negated for one in denied] == [True]


def stated(subject: str, predicate: str, value: str, start: int = 0, end: int = 10) -> Candidate:
    many = PREDICATES.named[predicate].many
    return Candidate(
        subject, predicate, value, "x", "durable", False, many, start, end, confidence=8_000
    )


def test_the_rules_word_stands_where_both_have_one() -> None:
    rules = Extracted((stated(ME, "lives_in", "Porto"),), (), ())
    same, other = stated(ME, "lives_in", "porto"), stated(ME, "lives_in", "Lisbon")
    more = stated("Ana", "lives_in", "Lisbon")
    assert added(rules, [same, other, more, more]) == (more,)


def test_what_the_rules_doubt_stays_doubted() -> None:
    rules = Extracted((), (Refused(5, 30, "hypothetical"),), ())
    inside, beside = stated(ME, "lives_in", "Porto", 10, 20), stated(ME, "name", "Ana", 30, 40)
    assert added(rules, [inside, beside]) == (beside,)


@given(st.lists(st.integers(0, MOST_CHARACTERS + 10), max_size=40))
def test_turns_are_asked_about_together_each_once_and_never_too_many(sizes: list[int]) -> None:
    told = [Told(f"t{n}", utterance("x" * size)) for n, size in enumerate(sizes)]
    made = list(batches(told))
    flat = [one for batch in made for one in batch]
    assert flat == [one for one in told if 0 < len(one.utterance.text) <= MOST_CHARACTERS]
    for batch in made:
        assert 0 < len(batch) <= MOST_TURNS
        assert sum(len(one.utterance.text) for one in batch) <= MOST_CHARACTERS


def test_a_model_that_does_not_answer_is_not_asked_about_the_rest() -> None:
    told = [Told(f"t{n}", utterance("I live in Porto")) for n in range(3 * MOST_TURNS)]
    silent = FakeCompleter(fails=True)
    assert candidates(silent, told, PREDICATES) == {}
    assert len(silent.shown) == 1


# --- Through the assistant ---------------------------------------------------------------------


@pytest.fixture
def lila(home: Path, provider: ScriptedProvider, embedder: Embedder) -> Iterator[Lila]:
    place = Home.at(home)
    place.policies_dir.mkdir(parents=True, exist_ok=True)
    (place.policies_dir / "gateway.toml").write_text(CAPABLE + "[calling]\nbackoff_ms = 1\n")
    place.settings_file.write_text("[memory]\nuse_model = true\n")
    with open_lila(home, provider=provider, embedder=embedder, clock=FakeClock()) as opened:
        opened._resources.afterwards.learns = False  # pyright: ignore[reportPrivateUsage]  # by hand below
        yield opened


def learn(lila: Lila) -> int:
    learner = lila._resources.learner  # pyright: ignore[reportPrivateUsage]
    learner.run()
    return learner.ask()


def extractions(provider: ScriptedProvider) -> list[str]:
    return [one.messages[-1].content for one in provider.requests if one.job == "extraction"]


def converse(lila: Lila, provider: ScriptedProvider, turns: int) -> None:
    session = lila.sessions.create("The rain").id  # named, so that no model is asked for a title
    for number in range(turns):
        provider.enqueue("I see.")
        said = (
            "My hat hangs in Porto these days" if number == 1 else f"It rained {number} times, alas"
        )
        say(lila, said, session=session)


def test_turns_wait_until_several_are_asked_about_together_and_each_is_asked_about_once(
    lila: Lila, provider: ScriptedProvider
) -> None:
    converse(lila, provider, LEAST_TURNS - 1)
    assert learn(lila) == 0 and extractions(provider) == []
    provider.enqueue("I see.")
    say(lila, "And that was that, in the end", session=lila.sessions.create("The end").id)
    answer = {"memories": [entry("t2", "My hat hangs in Porto these days", "Porto")]}
    provider.enqueue(json.dumps(answer))
    assert learn(lila) >= 1
    (shown,) = extractions(provider)
    assert shown.count("[t") == LEAST_TURNS and "I see." not in shown
    system = provider.requests[-1].messages[0].content
    assert "lives_in" in system and provider.requests[-1].slot == "background"
    with Store.open(lila.home.profile_db("default")) as store, store.read() as connection:
        rows = connection.execute(
            "select subject, predicate, value, extractor, source_turn from facts "
            "where extractor <> 'rules'"
        ).fetchall()
        jobs = [row[0] for row in connection.execute("select job from usage order by id")]
    assert rows == [(ME, "lives_in", "Porto", "scripted/test", 2)]
    assert jobs[-1] == "extraction"
    assert learn(lila) == 0 and len(extractions(provider)) == 1
    assert lila.db.check().problems == ()


def test_imported_turns_are_not_sent_to_a_model(lila: Lila, provider: ScriptedProvider) -> None:
    from lila_app.storage import sessions, turns

    with Store.open(lila.home.profile_db("default")) as store:
        session = sessions.create(store, at="2026-11-30T12:00:00+00:00", use_case="chat", title="")
        for number in range(LEAST_TURNS + 2):
            turns.append_message(
                store, session.id, "user", f"I live in Porto {number}", at="2026-11-30T12:00:00Z",
                origin="import:1",
            )  # fmt: skip
    learn(lila)
    assert extractions(provider) == []


def test_a_model_that_is_down_costs_nothing_and_the_rules_go_on(
    lila: Lila, provider: ScriptedProvider
) -> None:
    converse(lila, provider, LEAST_TURNS)
    provider.enqueue(*[Scripted((), error=UnavailableError("down")) for _ in range(2)])
    assert learn(lila) == 0
    with Store.open(lila.home.profile_db("default")) as store, store.read() as connection:
        left = connection.execute("select count(*) from turns where learned <> 1").fetchone()[0]
    assert left == 0


def test_without_the_setting_nothing_waits_and_nothing_is_asked(
    lila: Lila, provider: ScriptedProvider
) -> None:
    roster = lila._resources.roster  # pyright: ignore[reportPrivateUsage]
    memory = roster.settings.memory.model_copy(update={"use_model": False})
    roster.use(roster.settings.model_copy(update={"memory": memory}))
    converse(lila, provider, LEAST_TURNS)
    assert learn(lila) == 0 and extractions(provider) == []
    with Store.open(lila.home.profile_db("default")) as store, store.read() as connection:
        waiting = connection.execute("select count(*) from turns where learned = 2").fetchone()[0]
    assert waiting == 0


def test_what_a_tool_kept_because_the_person_asked_is_not_noted_once_more(
    lila: Lila, provider: ScriptedProvider
) -> None:
    provider.enqueue("I see.")
    bees = lila.sessions.create("Bees").id
    say(lila, "Please remember that I keep bees in the orchard", session=bees)
    lila.memory.add("The person keeps bees in the orchard", source_turn="t1")
    learn(lila)
    assert [one.text for one in lila.memory.list()] == ["The person keeps bees in the orchard"]
