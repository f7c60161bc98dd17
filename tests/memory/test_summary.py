"""The running summary: what it stands for, when a model's is taken, and when it takes effect."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from lila_app import composing, summarising
from lila_app.assistant import Lila, open_lila
from lila_app.context import token_limit
from lila_app.context.fold import Exchange, fold
from lila_app.context.standing import Cut
from lila_app.embedding.port import Embedder
from lila_app.errors import UnavailableError
from lila_app.gateway.port import Usage
from lila_app.memory.completer import Job
from lila_app.memory.summary import BEFORE, EXTRACTIVE, Cutting, Made, make, refusal
from lila_app.paths import Home
from lila_app.storage import cuts
from lila_app.storage.connection import Store
from lila_app.summarising import Forced, overrun
from lila_app.testing import FakeClock, Scripted, ScriptedProvider
from tests.assistant.conftest import say
from tests.context.support import cl100k
from tests.memory.conftest import CAPABLE

COUNT = cl100k()
TURNS = (
    ("t1", Exchange("Anna, Ben and I meet at 10:30 in Graz on 4 May, nice as that is.",
                    "That sounds lovely, I hope that you will have a wonderful time there.")),
    ("t2", Exchange("I promised to bring 12 chairs, and it will not be easy, believe me.",
                    "Twelve is a lot, and they are heavy, so do ask somebody for a hand.")),
)  # fmt: skip
GOOD = "- They meet Anna and Ben in Graz on 4 May at 10:30.\n- They promised to bring 12 chairs."


def cutting(before: str = "", room: int = 300) -> Cutting:
    return Cutting(before, TURNS, fold(before, [one for _, one in TURNS], room, COUNT), room)


@dataclass
class FakeCompleter:
    """A completer that has one answer and remembers what it was shown."""

    text: str | None
    name: str = "somebody/capable"
    shown: list[Mapping[str, str]] = field(default_factory=list[Mapping[str, str]])

    def of(self, job: Job) -> str:
        return self.name if job == "summary" else ""

    def answer(self, job: Job, texts: Mapping[str, str]) -> Mapping[str, object] | None:
        assert job == "summary"
        self.shown.append(texts)
        if self.text is None:
            return None
        lines = [line.removeprefix("- ") for line in self.text.split("\n") if line]
        return {"sentences": [{"text": line, "turns": ["t1"], "names": []} for line in lines]}


def test_a_models_summary_that_keeps_what_matters_is_taken() -> None:
    completer = FakeCompleter(GOOD)
    made = make(cutting(), completer, COUNT)
    assert (made.text, made.made_by, made.why) == (GOOD, "somebody/capable", "")
    assert list(completer.shown[0]) == ["t1", "t2"]
    assert completer.shown[0]["t1"].startswith("They: Anna, Ben and I meet")


def test_it_is_incremental_the_summary_so_far_and_the_turns_that_go_now() -> None:
    completer = FakeCompleter(GOOD)
    before = "- They said: Cora owes me 70 euros."
    made = make(cutting(before), completer, COUNT)
    assert list(completer.shown[0]) == [BEFORE, "t1", "t2"]
    # Cora and the 70 euros are part of what it stands for, and were lost.
    assert made.made_by == EXTRACTIVE and "names, numbers and promises" in made.why
    assert "Cora" in made.text


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "it says nothing"),
        (GOOD.replace(" and Ben in Graz on 4 May", ""), "names, numbers and promises"),
        (GOOD.replace("12", "some"), "it keeps"),
        (GOOD + "\n- It was nice." * 10, "not less than half"),
    ],
)
def test_what_falls_short_is_refused_and_the_reason_says_no_word_of_it(
    text: str, said: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    made = make(cutting(), FakeCompleter(text), COUNT)
    assert said in made.why and bool(made.why) == bool(said)
    assert (made.made_by == EXTRACTIVE) == bool(said)
    if said:
        assert made.text == cutting().fold
        assert made.why in caplog.text
    for word in ("Anna", "Graz", "chairs"):
        assert word not in caplog.text


def test_one_that_is_larger_than_its_block_is_refused() -> None:
    assert "there is room for 20" in refusal(GOOD, cutting(room=20), COUNT)


def test_without_a_model_or_without_an_answer_the_fold_stands() -> None:
    assert make(cutting(), None, COUNT).made_by == EXTRACTIVE
    silent, none = FakeCompleter(None), FakeCompleter(GOOD, name="")
    assert make(cutting(), silent, COUNT).text == cutting().fold
    assert make(cutting(), none, COUNT).text == cutting().fold
    assert len(silent.shown) == 1 and none.shown == []


# --- Through the assistant ---------------------------------------------------------------------

SMALL = "[chat]\nbudget = 2_000\n"


@pytest.fixture
def lila(home: Path, provider: ScriptedProvider, embedder: Embedder) -> Iterator[Lila]:
    place = Home.at(home)
    place.policies_dir.mkdir(parents=True, exist_ok=True)
    (place.policies_dir / "gateway.toml").write_text(CAPABLE)
    (place.policies_dir / "allocation.toml").write_text(SMALL)
    place.settings_file.write_text("[memory]\nuse_model = true\nlearn = false\n")
    clock = FakeClock()
    with open_lila(home, provider=provider, embedder=embedder, clock=clock) as opened:
        yield opened


def fill(lila: Lila, session: str | None = None, most: int = 60) -> str:
    """A conversation that has just outgrown its window; returns its session."""
    session = session or lila.sessions.create("Long").id
    for number in range(most):
        lila.sessions.append(session, "user", f"On day {number} Anna counted the boats. " * 3)
        lila.sessions.append(session, "assistant", "I see, that is how it goes there. " * 4)
        if _cut(lila, session) is not None:
            return session
    raise AssertionError("it never outgrew its window")


def summed_up(days: int) -> str:
    listed = ", ".join(str(day) for day in range(days))
    sentence = {"text": f"Anna counted the boats on days {listed}.", "names": ["Anna"]}
    turns = [f"t{number + 1}" for number in range(days)]
    return json.dumps({"sentences": [{**sentence, "turns": turns}]})


def _cut(lila: Lila, session: str) -> Cut | None:
    resources = lila._resources  # pyright: ignore[reportPrivateUsage]
    policy = resources.policy
    row = composing.use_case(policy, "chat")
    limit = token_limit(policy, row, resources.roster.limits(None))
    return resources.conversation.due_cut(session, policy, row, limit)


def _due(lila: Lila, session: str) -> int:
    """How many turns the next cut takes."""
    cut = _cut(lila, session)
    assert cut is not None
    return len(cut.turns)


def last_cut(lila: Lila, session: str) -> cuts.CutRow | None:
    with Store.open(lila.home.profile_db("default")) as store:
        return cuts.latest_cut(store, session)


def waited(lila: Lila) -> None:
    """Until settling and background are through with what is theirs."""
    resources = lila._resources  # pyright: ignore[reportPrivateUsage]
    resources.settling.submit(lambda: None).result()
    resources.background.submit(lambda: None).result()


def test_the_cut_takes_effect_with_the_models_summary_at_the_next_turn(
    lila: Lila, provider: ScriptedProvider
) -> None:
    session = fill(lila)
    gone = _due(lila, session)
    provider.enqueue("Fine.", summed_up(gone), "Good night.")
    say(lila, "And how is it today?", session=session)
    waited(lila)
    cut = last_cut(lila, session)
    assert cut is not None and cut.made_by == "scripted/test"
    asked = provider.requests[1]
    assert (asked.job, asked.slot, asked.schema is not None) == ("summary", "background", True)
    assert "[t1]\nThey: On day 0 Anna" in asked.messages[-1].content
    assert f"[t{gone + 1}]" not in asked.messages[-1].content
    done = say(lila, "And now good night to all of you", session=session)
    assert f"Earlier in this conversation:\n{cut.summary}\n" in lila.contexts.text(done.record_id)
    # What it cost is told under the job.
    with Store.open(lila.home.profile_db("default")) as store, store.read() as connection:
        jobs = [row[0] for row in connection.execute("select job from usage order by id")]
    assert jobs[:2] == ["reply", "summary"]


def test_an_answer_that_stays_wrong_leaves_the_fold_and_says_so(
    lila: Lila, provider: ScriptedProvider
) -> None:
    session = fill(lila)
    provider.enqueue("Fine.", "No JSON.", '{"sentences": [{"text": "x"}]}')
    say(lila, "And how is it today?", session=session)
    waited(lila)
    cut = last_cut(lila, session)
    assert cut is not None and cut.made_by == EXTRACTIVE and "Anna" in cut.summary
    with Store.open(lila.home.profile_db("default")) as store, store.read() as connection:
        body = connection.execute(
            "select p.body from events e join payloads p using (sequence) "
            "where e.kind = 'prefix_break'"
        ).fetchone()[0]
    assert json.loads(body)["why"] == "the model gave no answer that can be used"


@pytest.mark.parametrize("why", ["setting", "capable", "budget", "down"])
def test_a_model_that_may_not_or_cannot_answer_is_left_out(
    lila: Lila, provider: ScriptedProvider, why: str
) -> None:
    match why:
        case "setting":
            resources = lila._resources  # pyright: ignore[reportPrivateUsage]
            memory = resources.roster.settings.memory.model_copy(update={"use_model": False})
            resources.roster.use(resources.roster.settings.model_copy(update={"memory": memory}))
        case "capable":
            (lila.home.policies_dir / "gateway.toml").write_text("")
        case "budget":
            resources = lila._resources  # pyright: ignore[reportPrivateUsage]
            resources.roster.use(
                resources.roster.settings.model_copy(
                    update={"monthly_budget_usd": Decimal("0.000001")}
                )
            )
        case _:
            pass
    session = fill(lila)
    provider.enqueue(Scripted(("Fine.",), usage=Usage(total=5, output=1)))
    if why == "down":
        (lila.home.policies_dir / "gateway.toml").write_text(CAPABLE + "[calling]\nattempts = 1\n")
        provider.enqueue(Scripted((), error=UnavailableError("down")))
    if why == "budget":
        _spend(lila)
        with pytest.raises(Exception, match="this month"):
            say(lila, "And how is it today?", session=session)
        assert lila.sessions.summarise(session)
    else:
        say(lila, "And how is it today?", session=session)
    waited(lila)
    cut = last_cut(lila, session)
    assert cut is not None and cut.made_by == EXTRACTIVE
    assert [one.job for one in provider.requests] == {
        "down": ["reply", "summary"], "budget": [],
    }.get(why, ["reply"])  # fmt: skip


def _spend(lila: Lila) -> None:
    with Store.open(lila.home.profile_db("default")) as store, store.write() as connection:
        connection.execute(
            "insert into usage (at, provider, model, finished, cost) "
            "values ('2026-11-29T00:00:00+00:00', 'scripted', 'test', 'stop', 10000000000000)"
        )


def test_summarise_by_hand_waits_for_the_model(lila: Lila, provider: ScriptedProvider) -> None:
    session = fill(lila)
    provider.enqueue(summed_up(_due(lila, session)))
    assert lila.sessions.summarise(session).startswith("- Anna counted the boats on days 0, 1,")


def test_a_second_cut_stands_for_the_first_summary_and_the_turns_since(
    lila: Lila, provider: ScriptedProvider
) -> None:
    session = fill(lila)
    first = _due(lila, session)
    provider.enqueue(summed_up(first))
    before = lila.sessions.summarise(session)
    fill(lila, session)
    provider.enqueue("No.", "No.")
    lila.sessions.summarise(session)
    shown = provider.requests[-2].messages[1].content
    assert shown.startswith(f"[{BEFORE}]\n{before}\n\n[t{first + 1}]\n")
    assert "[t1]" not in shown


def test_what_a_model_wrote_goes_whole_with_words_it_was_made_of(
    lila: Lila, provider: ScriptedProvider
) -> None:
    session = lila.sessions.create("Long").id
    lila.sessions.append(session, "user", "The strongbox opens with the word Quokka")
    lila.sessions.append(session, "assistant", "I will keep that to myself, of course.")
    fill(lila, session)
    memory = lila.memory.add("The strongbox opens with the word Quokka", source_turn="t1")
    gone = _due(lila, session)
    listed = ", ".join(str(day) for day in range(gone - 1))
    told = {"text": "A marsupial of Rottnest is their secret.", "names": [], "turns": ["t1"]}
    days = {"text": f"Quokka, and Anna counted on days {listed}.", "names": [], "turns":
            [f"t{n}" for n in range(1, gone + 1)]}  # fmt: skip
    promise = {"text": "LILA will keep it to itself, of course.", "names": [], "turns": ["t1"]}
    provider.enqueue(json.dumps({"sentences": [told, days, promise]}))
    assert "marsupial" in lila.sessions.summarise(session)
    lila.memory.forget(memory.id)
    cut = last_cut(lila, session)
    assert cut is not None and cut.summary == ""
    assert b"marsupial" not in lila.home.profile_db("default").read_bytes()
    assert lila.db.check().problems == ()


def test_a_prompt_that_could_not_wait_is_faster_than_the_prepared_summary(
    lila: Lila, provider: ScriptedProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = fill(lila)
    made = summarising.summary.make

    def slow(*given: Any) -> Made:
        with Store.open(lila.home.profile_db("default")) as store:
            cuts.cut(
                store, session, upto_sequence=3, summary="- They said: Anna.", reason="overrun",
                at="2026-11-30T12:00:00+00:00",
            )  # fmt: skip
        return made(*given)

    monkeypatch.setattr(summarising.summary, "make", slow)
    provider.enqueue(summed_up(_due(lila, session)))
    assert lila.sessions.summarise(session) == "- They said: Anna."


def test_a_forced_cut_gives_way_to_one_that_was_made_meanwhile(lila: Lila) -> None:
    session = fill(lila)
    at = "2026-11-30T12:00:00+00:00"
    first, more = Cut(3, "- They said: one.", ("t1",)), Cut(9, "- They said: two.", ("t1", "t2"))
    with Store.open(lila.home.profile_db("default")) as store:
        with store.write() as connection:
            own = overrun(connection, Forced(session, first, None, at), None)
            assert own is not None and own.upto_sequence == 3
            # The same again, as in a second step of the turn, is no second event; more is one.
            assert overrun(connection, Forced(session, first, None, at), own) == own
            own = overrun(connection, Forced(session, more, None, at), own)
            assert own is not None and own.upto_sequence == 9
            # Another turn that knows nothing of it leaves it as it is.
            assert overrun(connection, Forced(session, first, None, at), None) is None
        found = cuts.latest_cut(store, session)
        assert found is not None and found.upto_sequence == 9
        assert len(cuts.prefix_breaks(store, session)) == 2
