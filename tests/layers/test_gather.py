"""Asking the layers together, scoring, and the forms of an item."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lila_app.context import Policy
from lila_app.context.items import Forms, Item, Placement, recalled
from lila_app.embedding.tokens import Counter
from lila_app.errors import StorageError
from lila_app.layers import variants
from lila_app.layers.gather import LANES, gather
from lila_app.layers.port import Layer, Question
from tests.layers.conftest import Asker
from tests.waiting import PATIENCE

NAMES = ("session", "conversation", "memory", "graph", "rag")


@pytest.fixture(autouse=True)
def unhurried() -> None:
    """Deadlines hold here."""


@dataclass
class Stub:
    """A layer that answers when it is let."""

    name: str
    source: str = "a stub"
    gate: threading.Event = field(default_factory=threading.Event)
    asked: int = 0

    def offer(self, question: Question) -> tuple[Item, ...]:
        self.asked += 1
        assert self.gate.wait(PATIENCE)
        form = recalled("full", self.name, len)
        return (Item(self.name, self.name, Placement.RECALLED, (form,)),)


@dataclass(frozen=True)
class Broken:
    """A layer that fails."""

    name: str
    source: str = "a stub"

    def offer(self, question: Question) -> tuple[Item, ...]:
        raise StorageError("broken")


def stubs(*, held: tuple[str, ...] = ()) -> list[Stub]:
    made = [Stub(name) for name in NAMES]
    for stub in made:
        if stub.name not in held:
            stub.gate.set()
    return made


def test_a_layer_that_misses_the_deadline_is_left_out_and_named(ask: Asker, policy: Policy) -> None:
    row = policy.use_case("chat")
    assert row is not None
    layers = stubs(held=("rag",))
    with ThreadPoolExecutor(5) as pool:
        found = gather(list[Layer](layers), ask("hi"), row, pool, deadline_ms=1_000)
        layers[-1].gate.set()
    assert found.deadline.missed == ("rag",)
    assert found.deadline.answered == NAMES[:-1]
    late = found.answers[-1]
    assert (late.answered, late.items) == (False, ())


def test_a_layer_behind_a_late_one_is_named_too_and_never_asked(ask: Asker, policy: Policy) -> None:
    row = policy.use_case("chat")
    assert row is not None
    layers = stubs(held=("graph",))
    with ThreadPoolExecutor(5) as pool:
        found = gather(list[Layer](layers), ask("hi"), row, pool, deadline_ms=1_000)
        layers[3].gate.set()
    assert found.deadline.missed == ("memory", "graph")
    assert {stub.name: stub.asked for stub in layers} == {
        **dict.fromkeys(NAMES, 1),
        "memory": 0,
    }


def test_every_layer_of_the_policy_has_a_lane(policy: Policy) -> None:
    assert sorted(name for lane in LANES for name in lane) == sorted(policy.layers)


def test_what_fails_in_a_layer_is_raised_and_does_not_stop_the_next(
    ask: Asker, policy: Policy
) -> None:
    row = policy.use_case("chat")
    assert row is not None
    layers = stubs()
    broken = Broken("session")
    with ThreadPoolExecutor(5) as pool, pytest.raises(StorageError, match="broken"):
        gather([broken, *layers[1:]], ask("hi"), row, pool, deadline_ms=None)
    assert layers[1].asked == 1


def test_without_a_deadline_every_layer_is_waited_for(ask: Asker, policy: Policy) -> None:
    row = policy.use_case("chat")
    assert row is not None
    layers = stubs(held=("rag",))
    timer = threading.Timer(0.3, layers[-1].gate.set)
    timer.start()
    with ThreadPoolExecutor(5) as pool:
        found = gather(list[Layer](layers), ask("hi"), row, pool, deadline_ms=None)
    assert found.deadline.missed == ()
    assert [len(answer.items) for answer in found.answers] == [1] * 5


def test_a_use_case_that_gives_a_layer_nothing_does_not_ask_it(ask: Asker, policy: Policy) -> None:
    row = policy.use_case("voice")
    assert row is not None
    layers = stubs()
    with ThreadPoolExecutor(5) as pool:
        found = gather(list[Layer](layers), ask("hi"), row, pool, deadline_ms=50)
    assert [stub.asked for stub in layers] == [0] * 5
    assert [answer.query for answer in found.answers] == [""] * 5
    assert found.deadline.answered == ()


@given(st.text(max_size=2_000))
def test_shorter_forms_are_shorter_and_hold_only_words_of_the_whole(text: str) -> None:
    forms = variants.of_text("[m1] ", text, lambda t: len(t.split()) + t.count("\n"))
    assert [f.tokens for f in forms] == sorted({f.tokens for f in forms}, reverse=True)
    words = set(forms[0].text.replace("…", " ").split())
    for form in forms[1:]:
        cut = {word for word in form.text.split() if word.endswith("…")}
        assert set(form.text.split()) - cut <= words


@given(st.lists(st.text(max_size=300), max_size=12), st.text(max_size=60))
def test_no_shorter_form_is_shorter_than_is_said_before_it_is_made(
    sentences: list[str], head: str
) -> None:
    forms = variants.of_text(head, ". ".join(sentences), len)
    least = forms.least if isinstance(forms, Forms) else 1
    assert least <= min(form.tokens for form in forms)


def test_a_scrap_is_not_a_shorter_form(count: Counter) -> None:
    # One long sentence and one of two words: a quarter could hold the two words alone.
    long = "Nina said yes to being acting head on four conditions, " * 6 + "and that was that."
    forms = variants.of_text("[m44] ", f"Sarah agreed. {long}", count)
    assert [form.name for form in forms] == ["full"]


@pytest.mark.parametrize("side", ["user", "reply"])
def test_a_pasted_book_still_leaves_something(side: str, count: Counter) -> None:
    book = "word " * 5_000
    user, reply = (book, "ok") if side == "user" else ("ok", book)
    forms = variants.of_turn(user, reply, count)
    assert forms[0].tokens > 5_000
    assert forms[-1].tokens < 120
