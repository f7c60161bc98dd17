"""The sample life: filled once, and answered by the layers its README names."""

from __future__ import annotations

import multiprocessing
import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from lila_app import sample
from lila_app.assistant import Lila, open_lila
from lila_app.embedding.port import Embedder
from lila_app.errors import MissingWeightsError
from lila_app.testing import FakeClock, ScriptedProvider

FOLDER = Path(__file__).resolve().parent.parent / "data" / "sample"
MONDAY = "2026-11-30T08:00:00+00:00"
"""The morning after the last conversation."""

LAST_SESSION = "The week ahead"

# Question as in README.md: the layer, words of the item that answers it, and where to ask it.
ANSWERS = {
    "What am I working towards at the moment?": ("session", "Cotovia in the water at Easter"),
    "Which things are still open for tomorrow?": ("session", "Write to Willem by Monday"),
    "If Friday goes well, on which days does the plaster go on?": (
        "conversation",
        "Plaster on the 4th, 7th and 9th",
    ),
    "Did I say yes to being acting head, and on what conditions?": (
        "memory",
        "yes to being acting head of planning tools",
    ),
    "What was wrong with the retry that Alex wrote for the tide service?": (
        "memory",
        "It swallows every exception",
    ),
    "How is Alex connected to Teresa?": ("graph", "Sarah reports to Henrik"),
    "Who has our spare key now?": ("graph", "spare key kept by Ruben"),
    "What does E7 on the boiler mean and how do I refill it?": ("rag", "the left grey handle"),
    "How much notice do I have to give to end the lease of the boat shed?": (
        "rag",
        "sixty days' notice",
    ),
    "How is the kitchen paid for, and when is each part due?": ("rag", "ten days after handover"),
}
IN_LAST_SESSION = {
    "Which things are still open for tomorrow?",
    "If Friday goes well, on which days does the plaster go on?",
}


def quiet(done: int, total: int, label: str) -> None:
    """Nobody watches."""


class Quick:
    """Vectors that mean nothing, at once; the questions are asked with the real ones."""

    model_id = "test/quick"
    dimension = 384

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        vectors = np.zeros((len(texts), self.dimension), dtype=np.float32)
        for row, text in enumerate(texts):
            vectors[row, len(text) % self.dimension] = 1
        return vectors


class Broken(Quick):
    """An embedding model whose file is not there."""

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        raise MissingWeightsError("the model file is missing", hint="install LILA again")


def opened(root: Path, embedder: Embedder | None = None) -> Lila:
    """An empty profile at a fixed time; by its name it is not filled on opening."""
    return open_lila(
        root, "nina", provider=ScriptedProvider(), embedder=embedder, clock=FakeClock(MONDAY)
    )


def quick(root: Path) -> Lila:
    return opened(root, Quick())


def amounts(lila: Lila) -> dict[str, int]:
    """How much of everything there is, doubles counted."""
    sessions = lila.sessions.list(1_000)
    return {
        "memories": len(lila.memory.list()),
        "relations": len(lila.graph.list()),
        "sessions": len(sessions),
        "turns": sum(session.turns for session in sessions),
        "answered": sum(
            turn.reply is not None
            for session in sessions
            for turn in lila.sessions.show(session.id).turns
        ),
        "notes": sum(len(lila.sessions.notes(session.id)) for session in sessions),
        "documents": len(lila.documents.list()),
        "goals": len(lila.goals.list(include_done=True)),
    }


WHOLE = {
    "memories": 58,
    "relations": 67,
    "sessions": 24,
    "turns": 180,
    "answered": 180,
    "notes": 6,
    "documents": 19,
    "goals": 3,
}


@pytest.fixture(scope="module")
def told() -> list[tuple[int, int, str]]:
    """The progress of filling `filled`, step by step."""
    return []


@pytest.fixture(scope="module")
def filled(
    tmp_path_factory: pytest.TempPathFactory, told: list[tuple[int, int, str]]
) -> Iterator[Lila]:
    """The sample life with vectors that mean nothing, for the tests that only read."""
    with quick(tmp_path_factory.mktemp("filled")) as lila:
        sample.fill(lila, progress=lambda *step: told.append(step))
        yield lila


@pytest.fixture(scope="module")
def lived(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lila]:
    """The sample life as it is shipped, to be asked."""
    with opened(tmp_path_factory.mktemp("sample")) as lila:
        sample.fill(lila, progress=quiet)
        yield lila


def test_the_readme_asks_exactly_the_questions_tested_here_of_the_same_layers() -> None:
    readme = (FOLDER / "README.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (\d+) \| (.+?) \| (\w+) \| (.+) \|$", readme, flags=re.MULTILINE)
    assert [int(number) for number, *_ in rows] == list(range(1, 11))
    assert {question: layer for _, question, layer, _ in rows} == {
        question: layer for question, (layer, _) in ANSWERS.items()
    }
    assert {question for _, question, _, answer in rows if "(*)" in answer} == IN_LAST_SESSION


# Filling.


def test_filling_brings_everything_in_once_and_twice_changes_nothing(filled: Lila) -> None:
    assert amounts(filled) == WHOLE
    seen: list[str] = []
    sample.fill(filled, progress=lambda done, total, label: seen.append(label))
    assert amounts(filled) == WHOLE
    assert seen == []


def test_filling_keeps_the_times_things_happened(filled: Lila) -> None:
    latest = filled.sessions.latest()
    assert latest is not None
    assert (latest.title, latest.started_at) == (LAST_SESSION, "2026-11-29T17:30:00+00:00")
    first = filled.sessions.list(1_000)[-1]
    assert first.started_at == "2026-10-12T19:40:00+00:00"
    assert filled.memory.list()[0].at == "2026-10-12T19:50:00+00:00"


def test_everything_is_ready_to_be_searched_when_the_filling_returns(filled: Lila) -> None:
    assert filled.db.check().problems == ()
    assert filled.db.check().pending == 0


@pytest.mark.usefixtures("filled")
def test_progress_is_told_to_the_end(told: list[tuple[int, int, str]]) -> None:
    kinds = list(dict.fromkeys(label for *_, label in told))
    assert kinds[:3] == ["memories", "relations", "conversations"]
    own = [step for step in told if step[2] in kinds[:3]]
    assert [done for done, *_ in own] == list(range(1, 306))
    assert {total for _, total, _ in own} == {305}


def _die_at(root: Path, steps: int) -> None:
    """Fill in a process of its own, which ends without a goodbye after some steps."""

    def progress(done: int, total: int, label: str) -> None:
        nonlocal steps
        steps -= 1
        if steps == 0:
            os._exit(9)

    with quick(root) as lila:
        sample.fill(lila, progress=progress)


@pytest.mark.slow
@pytest.mark.parametrize("steps", [1, 57, 100, 125, 200, 304, 310])
def test_a_killed_filling_is_completed_by_the_next_and_doubles_nothing(
    tmp_path: Path, steps: int
) -> None:
    process = multiprocessing.get_context("spawn").Process(target=_die_at, args=(tmp_path, steps))
    process.start()
    process.join(60)
    assert process.exitcode == 9
    with quick(tmp_path) as lila:
        assert amounts(lila)["goals"] == 0
        sample.fill(lila, progress=quiet)
        assert amounts(lila) == WHOLE
        assert lila.db.check().problems == ()


def test_a_filling_stopped_between_a_question_and_its_answer_goes_on_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with quick(tmp_path) as lila:
        append, left = lila.sessions.append, 21  # ten whole turns and one question

        def failing(*words: str, at: str, external_id: str) -> object:
            nonlocal left
            left -= 1
            if left < 0:
                raise KeyboardInterrupt
            return append(*words, at=at, external_id=external_id)

        with monkeypatch.context() as patch:
            patch.setattr(lila.sessions, "append", failing)
            with pytest.raises(KeyboardInterrupt):
                sample.fill(lila, progress=quiet)
        assert (amounts(lila)["turns"], amounts(lila)["answered"]) == (11, 10)
        sample.fill(lila, progress=quiet)
        assert amounts(lila) == WHOLE


def test_a_filling_that_had_no_embedding_model_has_all_vectors_once_there_is_one(
    tmp_path: Path,
) -> None:
    with opened(tmp_path, Broken()) as lila, pytest.raises(MissingWeightsError):
        sample.fill(lila, progress=quiet)
    with quick(tmp_path) as lila:
        assert lila.db.check().pending > 58 + 180
        sample.fill(lila, progress=quiet)
        assert lila.db.check().pending == 0
        assert amounts(lila) == WHOLE


def _fill_whole(root: Path) -> None:
    with quick(root) as lila:
        sample.fill(lila, progress=quiet)


@pytest.mark.slow
def test_two_processes_that_fill_at_once_fill_once(tmp_path: Path) -> None:
    spawn = multiprocessing.get_context("spawn")
    both = [spawn.Process(target=_fill_whole, args=(tmp_path,)) for _ in range(2)]
    for process in both:
        process.start()
    for process in both:
        process.join(90)
    assert [process.exitcode for process in both] == [0, 0]
    with quick(tmp_path) as lila:
        assert amounts(lila) == WHOLE


def test_what_was_forgotten_or_finished_does_not_come_back(tmp_path: Path) -> None:
    with quick(tmp_path) as lila:
        sample.fill(lila, progress=quiet)
        lila.memory.forget(lila.memory.list()[20].id)
        lila.goals.done(lila.goals.list()[0].id)
        lila.sessions.delete(lila.sessions.list()[3].id)
        after = amounts(lila)
        sample.fill(lila, progress=quiet)
        assert amounts(lila) == after
        assert after["memories"] < WHOLE["memories"]


# Asking.


def items_of(lila: Lila, record: dict[str, list[dict[str, object]]], layer: str) -> list[str]:
    """Ids of the items a layer got into the prompt."""
    found = next(one for one in record["layers"] if one["name"] == layer)
    items = found["items"]
    assert isinstance(items, list)
    return [str(item["id"]) for item in items]  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]


def shown(lila: Lila, id: str, prompt: str) -> str:
    """What the prompt shows of an item."""
    if id.startswith("g"):
        return next(goal.text for goal in lila.goals.list() if goal.id == id)
    marked = re.search(rf"^\[{re.escape(id)}[,\]].*?(?=^\[[a-z]\d|^#|\Z)", prompt, re.M | re.S)
    return marked.group() if marked else ""


@pytest.mark.slow
@pytest.mark.parametrize("budget", [None, 1_500])
@pytest.mark.parametrize("question", ANSWERS)
def test_a_question_of_the_readme_is_answered_from_the_layer_it_names(
    lived: Lila, question: str, budget: int | None
) -> None:
    layer, words = ANSWERS[question]
    session = next(s.id for s in lived.sessions.list(1_000) if s.title == LAST_SESSION)
    here = session if question in IN_LAST_SESSION else None
    context = lived.preview(question, session=here, budget=budget)
    ids = items_of(lived, context.record, layer)
    assert words in context.text
    if here is None:
        assert any(words in shown(lived, id, context.text) for id in ids)
    elif layer == "session":
        open_now = {note.id for note in lived.sessions.notes(here) if words in note.text}
        assert open_now and open_now <= set(ids)
    else:
        turns = lived.sessions.show(here).turns
        said = {turn.id for turn in turns if words in (turn.reply or "")}
        assert said and said <= set(ids)


@pytest.mark.slow
def test_the_key_is_no_longer_where_it_was(lived: Lila) -> None:
    assert "kept by Celeste" not in lived.preview("Who has our spare key now?").text


@pytest.mark.slow
def test_every_layer_gives_something_when_the_last_session_goes_on(lived: Lila) -> None:
    session = next(s.id for s in lived.sessions.list(1_000) if s.title == LAST_SESSION)
    context = lived.preview(
        "Before I see Henrik: what did Alex change after the tide service blocked us?",
        session=session,
    )
    assert all(
        items_of(lived, context.record, layer)
        for layer in ("session", "conversation", "memory", "graph", "rag")
    )
