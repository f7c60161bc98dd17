"""A session's name by a model: when one is asked, what of it is kept, and what takes it away."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable, Iterator
from contextlib import aclosing
from decimal import Decimal
from pathlib import Path

import pytest

from lila_app import afterwards
from lila_app.assistant import Lila, open_lila
from lila_app.embedding.port import Embedder
from lila_app.errors import UnavailableError
from lila_app.events import Started, Uttered
from lila_app.paths import Home
from lila_app.storage import erasure, events, sessions
from lila_app.storage.connection import Store
from lila_app.testing import FakeClock, Scripted, ScriptedProvider
from lila_app.titling import is_greeting
from lila_app.truths import TITLE_CHARACTERS
from tests.assistant.conftest import say
from tests.memory.conftest import CAPABLE
from tests.waiting import PATIENCE, SOON, until

BOAT = "My boat Cotovia takes in water near the keel, what should I do?"
NAME = "Leak near the keel of Cotovia"

Use = Callable[..., Lila]


def titled(title: str, *names: str) -> str:
    return json.dumps({"title": title, "names": names})


@pytest.fixture
def use(
    home: Path, provider: ScriptedProvider, embedder: Embedder, clock: FakeClock
) -> Iterator[Use]:
    """Opens an assistant whose model is capable, unless told otherwise."""
    opened: list[Lila] = []

    def open_one(settings: str = "use_model = true", gateway: str = CAPABLE) -> Lila:
        place = Home.at(home)
        place.policies_dir.mkdir(parents=True, exist_ok=True)
        (place.policies_dir / "gateway.toml").write_text(gateway)
        place.settings_file.write_text(f"[memory]\nlearn = false\n{settings}\n")
        opened.append(open_lila(home, provider=provider, embedder=embedder, clock=clock))
        return opened[-1]

    yield open_one
    for lila in opened:
        lila.close()


@pytest.fixture
def lila(use: Use) -> Lila:
    return use()


def waited(lila: Lila) -> None:
    """Until settling, naming and background are through with what is theirs."""
    resources = lila._resources  # pyright: ignore[reportPrivateUsage]
    resources.settling.submit(lambda: None).result()
    resources.background.submit(lambda: None).result()
    naming = resources.afterwards._naming  # pyright: ignore[reportPrivateUsage]
    if naming is not None:
        naming.join(PATIENCE)


def store_of(lila: Lila) -> Store:
    return lila._resources.store  # pyright: ignore[reportPrivateUsage]


def jobs(provider: ScriptedProvider) -> list[str]:
    return [request.job for request in provider.requests]


def titles(lila: Lila) -> list[str]:
    return [info.title for info in lila.sessions.list()]


def named(lila: Lila, provider: ScriptedProvider, title: str = NAME, *names: str) -> str:
    """Says the first message of a session and has it named; returns the session."""
    provider.enqueue("Find where it comes in.", titled(title, *names))
    session = say(lila, BOAT).session_id
    waited(lila)
    return session


def test_after_the_first_reply_a_capable_model_names_the_session(
    lila: Lila, provider: ScriptedProvider
) -> None:
    provider.enqueue("Find where it comes in.", titled(NAME, "Cotovia"))
    session = say(lila, BOAT).session_id
    waited(lila)
    assert titles(lila) == [NAME] == [lila.sessions.show(session).info.title]
    asked = provider.requests[1]
    assert (asked.job, asked.slot, asked.schema is not None) == ("title", "background", True)
    assert asked.messages[1].content == f"[t1]\nThey: {BOAT}\nLILA: Find where it comes in."
    with store_of(lila).read() as connection:
        log = events.list_events(connection, session_id=session, kind="session_named")
        billed = connection.execute("select job from usage order by id").fetchall()
    assert [event.body for event in log] == [
        {"title": NAME, "made_by": "scripted/test", "turns": ["t1"]}
    ]
    assert billed == [("reply",), ("title",)]
    with Store.open(lila.home.profile_db("default")) as other:  # as another process finds it
        assert sessions.get(other, session).title == NAME
    provider.enqueue("And dry it.")
    say(lila, "Thank you!", session=session)
    waited(lila)
    assert jobs(provider) == ["reply", "title", "reply"]


@pytest.mark.parametrize(
    ("settings", "gateway"),
    [("use_model = false", CAPABLE), ("use_model = true", "")],
    ids=["not turned on", "not capable"],
)
def test_where_no_model_may_be_asked_the_first_words_name_it(
    use: Use, provider: ScriptedProvider, settings: str, gateway: str
) -> None:
    lila = use(settings, gateway)
    provider.enqueue("Find where it comes in.")
    say(lila, BOAT)
    waited(lila)
    assert titles(lila) == [BOAT[:59].rstrip() + "…"]
    assert jobs(provider) == ["reply"]


@pytest.mark.parametrize(
    "answers",
    [
        ("I would rather not.", "No."),
        (titled("Leak in the Fenix", "Fenix"), titled("Leak of 1999", "Cotovia")),
        (titled("x" * 61), titled("two\nlines")),
        (Scripted((), error=UnavailableError("down")),) * 2,
    ],
    ids=["it refuses", "it invents", "it fits no list", "it is down"],
)
def test_what_cannot_be_used_leaves_the_first_words_and_is_not_asked_for_again(
    use: Use, provider: ScriptedProvider, answers: tuple[str | Scripted, ...]
) -> None:
    lila = use(gateway=CAPABLE + "[calling]\nbackoff_ms = 1\n")
    provider.enqueue("Find where it comes in.", *answers)
    session = say(lila, BOAT).session_id
    waited(lila)
    provider.enqueue("Good.")
    say(lila, "Thank you!", session=session)
    waited(lila)
    assert titles(lila) == [BOAT[:59].rstrip() + "…"]
    assert jobs(provider) == ["reply", "title", "title", "reply"]


def test_nobody_is_asked_when_the_month_is_spent(use: Use, provider: ScriptedProvider) -> None:
    lila = use()
    resources = lila._resources  # pyright: ignore[reportPrivateUsage]
    spent = {"monthly_budget_usd": Decimal("0.000001")}
    asking = resources.completer
    named(lila, provider)
    before = len(provider.requests)
    with store_of(lila).write() as connection:
        connection.execute(
            "insert into usage (at, provider, model, finished, cost) "
            "values ('2026-11-29T00:00:00+00:00', 'scripted', 'test', 'stop', 10000000000000)"
        )
    resources.roster.use(resources.roster.settings.model_copy(update=spent))
    assert asking.answer("title", {"t1": BOAT}) is None
    assert len(provider.requests) == before


def test_a_greeting_names_nothing_and_the_next_turn_is_read_with_it(
    lila: Lila, provider: ScriptedProvider
) -> None:
    provider.enqueue("Hello!")
    session = say(lila, "Hi LILA, good morning!").session_id
    waited(lila)
    assert (titles(lila), jobs(provider)) == (["Hi LILA, good morning!"], ["reply"])
    provider.enqueue("Find where it comes in.", titled(NAME, "Cotovia"))
    say(lila, BOAT, session=session)
    waited(lila)
    assert titles(lila) == [NAME]
    assert "[t1]\nThey: Hi LILA" in provider.requests[-1].messages[1].content
    assert "[t2]\nThey: My boat" in provider.requests[-1].messages[1].content


def test_a_session_is_asked_about_at_its_beginning_alone(
    lila: Lila, provider: ScriptedProvider
) -> None:
    session = ""
    for text in ("Hi", "Hello", "Good evening", BOAT):
        provider.enqueue("Yes?", "No.", "No.")
        session = say(lila, text, session=session or None).session_id
        waited(lila)
        provider._script.clear()  # pyright: ignore[reportPrivateUsage]
    assert titles(lila) == ["Hi"]
    assert jobs(provider) == ["reply", "reply", "title", "title", "reply", "reply"]


@pytest.mark.parametrize(
    "text",
    ["Hello", "hi LILA!", "Good morning, how are you?", "Grüß dich", "こんにちは", "👋", "Ça va ?"],
)
def test_a_mere_greeting_is_told(text: str) -> None:
    assert is_greeting(text)


@pytest.mark.parametrize(
    "text", ["Hello, my boat leaks", "How is Ana?", "good", "你好吗我的船漏水"]
)
def test_what_says_more_is_none(text: str) -> None:
    assert is_greeting(text) == (text == "good")


def test_a_title_the_person_gave_stays(lila: Lila, provider: ScriptedProvider) -> None:
    given = lila.sessions.create("My boat").id
    provider.enqueue("Find where it comes in.")
    say(lila, BOAT, session=given)
    provider.enqueue("Hello!")
    renamed = say(lila, "Hi").session_id
    lila.sessions.rename(renamed, "Hi")  # the very same, but now it is theirs
    provider.enqueue("Find where it comes in.")
    say(lila, BOAT, session=renamed)
    waited(lila)
    assert titles(lila) == ["Hi", "My boat"]
    assert "title" not in jobs(provider)


def test_a_rename_while_the_model_thinks_wins(lila: Lila, provider: ScriptedProvider) -> None:
    provider.enqueue("Find where it comes in.", Scripted((titled(NAME, "Cotovia"),), delay=0.3))
    session = say(lila, BOAT).session_id
    until(lambda: jobs(provider) == ["reply", "title"])
    lila.sessions.rename(session, "The boat")
    waited(lila)
    assert titles(lila) == ["The boat"]
    with store_of(lila).read() as connection:
        assert events.list_events(connection, kind="session_named") == []


def test_a_title_is_one_short_line_without_what_a_terminal_obeys(
    lila: Lila, provider: ScriptedProvider
) -> None:
    wild = "\x1b]owned\x07 Leak [m]\u202e\u200b at\tthe keel\x9bJ"
    session = named(lila, provider, wild)
    assert lila.sessions.show(session).info.title == ")owned Leak (m) at the keel J"


def test_a_title_that_is_nothing_in_the_end_names_nothing(
    lila: Lila, provider: ScriptedProvider
) -> None:
    provider.enqueue("Find where it comes in.", titled("\u200b\x1b?"), titled("\u200b"))
    say(lila, BOAT)
    waited(lila)
    assert titles(lila) == [BOAT[:59].rstrip() + "…"]


# --- Forgetting ----------------------------------------------------------------------------------


def bytes_of(lila: Lila) -> bytes:
    path = lila.home.profile_db("default")
    return b"".join(one.read_bytes() for one in path.parent.glob(path.name + "*"))


def test_a_title_goes_with_the_words_it_was_made_of_however_it_says_them(
    lila: Lila, provider: ScriptedProvider
) -> None:
    memory = lila.memory.add("The strongbox opens with the word Quokka")
    provider.enqueue("I see.", titled("A marsupial of Rottnest"))
    session = say(lila, "The strongbox opens with the word Quokka").session_id
    waited(lila)
    fork = lila.sessions.fork(session).id
    assert titles(lila) == ["A marsupial of Rottnest"] * 2
    lila.memory.forget(memory.id)
    assert titles(lila) == ["", ""]
    assert lila.sessions.show(fork).info.title == ""
    assert b"marsupial" not in bytes_of(lila)
    assert lila.db.check().problems == ()


def test_a_fork_that_outlives_its_session_still_knows_what_its_title_was_made_of(
    lila: Lila, provider: ScriptedProvider
) -> None:
    memory = lila.memory.add("The strongbox opens with the word Quokka")
    provider.enqueue("I see.", titled("A marsupial of Rottnest"))
    session = say(lila, "The strongbox opens with the word Quokka").session_id
    waited(lila)
    lila.sessions.fork(session)
    lila.sessions.delete(session)
    assert titles(lila) == ["A marsupial of Rottnest"]
    lila.memory.forget(memory.id)
    assert titles(lila) == [""]
    assert b"marsupial" not in bytes_of(lila)


def test_a_deleted_sessions_title_goes_and_one_of_other_things_stays(
    lila: Lila, provider: ScriptedProvider
) -> None:
    session = named(lila, provider, NAME, "Cotovia")
    provider.enqueue("I see.", titled("A marsupial of Rottnest"))
    other = say(lila, "The strongbox opens with the word Quokka").session_id
    waited(lila)
    lila.sessions.delete(other)
    assert titles(lila) == [NAME]
    assert b"marsupial" not in bytes_of(lila)
    lila.sessions.rename(session, "The boat")
    lila.sessions.delete(session)
    assert NAME.encode() not in bytes_of(lila), "an earlier title goes too"


def test_nothing_forgotten_comes_back_as_a_title(lila: Lila, provider: ScriptedProvider) -> None:
    provider.enqueue("I see.", Scripted((titled(NAME, "Cotovia"),), delay=0.2))
    session = say(lila, BOAT).session_id
    until(lambda: jobs(provider) == ["reply", "title"])
    with store_of(lila).write() as connection:
        erasure.bump(connection)
    waited(lila)
    assert titles(lila) == [BOAT[:59].rstrip() + "…"]
    provider.enqueue("Good.", titled("Leak of the Cotovia", "Cotovia"))  # from what is left
    say(lila, "Thank you!", session=session)
    waited(lila)
    assert titles(lila) == ["Leak of the Cotovia"]


# --- By voice, and when LILA closes --------------------------------------------------------------


def spoken(lila: Lila, clock: FakeClock, text: str, revises: str = "") -> Started:
    async def answered() -> Started:
        uttered = Uttered(clock(), revises)
        async with aclosing(lila.turn(text, use_case="voice", uttered=uttered)) as found:
            begun = await anext(found)
            async for _ in found:
                pass
        assert isinstance(begun, Started)
        return begun

    return asyncio.run(answered())


def test_a_spoken_session_is_named_once_its_words_are_final(
    lila: Lila, provider: ScriptedProvider, clock: FakeClock
) -> None:
    provider.enqueue("What about it?", "Find where it comes in.")
    begun = spoken(lila, clock, "My boat")
    waited(lila)
    assert spoken(lila, clock, BOAT, begun.turn_id).turn_id == begun.turn_id
    waited(lila)
    assert titles(lila) == [BOAT[:59].rstrip() + "…"], "named after the words as revised"
    assert "title" not in jobs(provider)
    provider.enqueue(titled(NAME, "Cotovia"))
    lila.spoken.settle(begun.turn_id)
    waited(lila)
    assert titles(lila) == [NAME]


def test_while_somebody_speaks_no_model_is_asked_for_a_name(
    lila: Lila, provider: ScriptedProvider
) -> None:
    provider.enqueue("Find where it comes in.", titled(NAME, "Cotovia"))
    with lila.spoken.quiet():
        say(lila, BOAT)
        waited(lila)
        assert jobs(provider) == ["reply"]
    until(lambda: titles(lila) == [NAME])


def test_what_was_said_last_is_named_before_lila_closes(
    lila: Lila, use: Use, provider: ScriptedProvider
) -> None:
    provider.enqueue("Find where it comes in.", titled(NAME, "Cotovia"))
    say(lila, BOAT)
    lila.close()
    assert titles(use()) == [NAME]


def test_closing_waits_for_a_name_as_long_as_for_vectors_and_the_next_reply_makes_up_for_it(
    lila: Lila, use: Use, provider: ScriptedProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(afterwards, "GRACE_SECONDS", 0.2)
    provider.enqueue("Find where it comes in.", Scripted(('{"title',), hangs=True))
    session = say(lila, BOAT).session_id
    until(lambda: "title" in jobs(provider))
    begun = time.monotonic()
    lila.close()
    assert time.monotonic() - begun < SOON
    again = use()
    assert titles(again) == [BOAT[:59].rstrip() + "…"]
    provider.enqueue("Good.", titled(NAME, "Cotovia"))
    say(again, "Thank you!", session=session)
    waited(again)
    assert titles(again) == [NAME]


def test_the_longest_title_fits_the_list(lila: Lila, provider: ScriptedProvider) -> None:
    session = named(lila, provider, "k" * TITLE_CHARACTERS)
    assert lila.sessions.show(session).info.title == "k" * TITLE_CHARACTERS
