"""A model behind the job table, over the wires: what it is sent, and when nobody is asked."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from lila_app.assistant import Lila, open_lila
from lila_app.completing import Job, ModelCompleter
from lila_app.embedding.port import Embedder
from lila_app.paths import Home
from lila_app.storage.connection import Store
from lila_app.testing import FakeClock
from tests.contracts.test_tools import Wire, wire
from tests.gateway.chat_server import Exchange, serving
from tests.test_boundaries import GOOD, TALK
from tests.waiting import until

__all__ = ["wire"]

SUMMARY = GOOD["conversation summary"]
FACTS = GOOD["memory extraction"]
TITLE = GOOD["session title"]


def completer(lila: Lila) -> ModelCompleter:
    return lila._resources.completer  # pyright: ignore[reportPrivateUsage]


def settle(home: Path, settings: str, gateway: str = "") -> None:
    place = Home.at(home)
    place.policies_dir.mkdir(parents=True, exist_ok=True)
    place.settings_file.write_text(settings)
    (place.policies_dir / "gateway.toml").write_text(gateway)


def test_every_job_goes_over_every_wire_under_its_schema_and_is_billed_by_job(
    wire: Wire, home: Path, embedder: Embedder
) -> None:
    settle(home, "[memory]\nuse_model = true\n")
    with open_lila(home, provider=wire.provider, embedder=embedder, clock=FakeClock()) as lila:
        asked = completer(lila)
        jobs: tuple[Job, ...] = ("summary", "extraction", "title")
        assert {asked.of(job) for job in jobs} == {wire.provider.name}
        said = json.dumps(SUMMARY), "No.", json.dumps(FACTS), json.dumps(TITLE)
        wire.says([(one, ()) for one in said])
        assert asked.answer("summary", TALK.texts) == SUMMARY
        assert asked.answer("extraction", TALK.texts) == FACTS
        assert asked.answer("title", TALK.texts) == TITLE
        first, second, third, fourth = (
            json.dumps(body, ensure_ascii=False) for body in wire.bodies()
        )
        assert "[t1]" in first and "My boat is called Cotovia" in first and "sentences" in first
        assert "favourite_*" in second and "That answer cannot be used" in third
        assert "You name a conversation" in fourth and "My boat is called Cotovia" in fourth
        with Store.open(lila.home.profile_db("default")) as store, store.read() as connection:
            rows = connection.execute("select job, slot from usage order by id").fetchall()
    assert rows == [(job, "background") for job in ("summary", "extraction", "extraction", "title")]


def test_without_the_setting_nothing_is_sent(wire: Wire, home: Path, embedder: Embedder) -> None:
    settle(home, "")
    with open_lila(home, provider=wire.provider, embedder=embedder, clock=FakeClock()) as lila:
        assert completer(lila).of("summary") == ""
        assert completer(lila).answer("summary", TALK.texts) is None
    assert wire.bodies() == []


LOCAL = '[jobs]\nsummary = ["local/good"]\nextraction = ["embedded/smollm2-135m"]\n'
ABLE = '[limits."local/good"]\nwindow = 8_000\ncontext_budget = 4_000\ncapable = true\n'


def says(exchange: Exchange) -> None:
    exchange.begin()
    exchange.piece(json.dumps(SUMMARY), role="assistant")
    exchange.piece(None, "stop")
    exchange.done()


@pytest.fixture
def home_with_server(home: Path) -> Iterator[Path]:
    with serving(says) as server:
        settle(home, f'[providers.local]\nbase_url = "{server.base_url}"\n', LOCAL + ABLE)
        yield home


def test_a_capable_model_on_ones_own_machine_is_asked_without_the_setting(
    home_with_server: Path, embedder: Embedder
) -> None:
    with open_lila(home_with_server, embedder=embedder) as lila:
        assert completer(lila).of("summary") == "local/good"
        assert completer(lila).answer("summary", TALK.texts) == SUMMARY


@pytest.mark.parametrize(
    ("gateway", "job"),
    [
        (LOCAL, "summary"),  # not capable
        (LOCAL + ABLE, "extraction"),  # the embedded one never is
        (LOCAL + '[limits."embedded/*"]\ncapable = true\n' + ABLE, "extraction"),
    ],
)
def test_a_model_that_is_not_capable_is_not_asked(
    home_with_server: Path, embedder: Embedder, gateway: str, job: str
) -> None:
    (Home.at(home_with_server).policies_dir / "gateway.toml").write_text(gateway)
    with open_lila(home_with_server, embedder=embedder) as lila:
        assert completer(lila).of(job) == ""  # type: ignore[arg-type]
        assert completer(lila).answer(job, TALK.texts) is None  # type: ignore[arg-type]


def test_closing_does_not_wait_for_a_model_that_says_nothing(
    home: Path, embedder: Embedder
) -> None:
    released = threading.Event()

    def silent(exchange: Exchange) -> None:
        released.wait(30)

    with serving(silent) as server:
        settle(home, f'[providers.local]\nbase_url = "{server.base_url}"\n', LOCAL + ABLE)
        found: list[object] = []
        lila = open_lila(home, embedder=embedder)
        resources = lila._resources  # type: ignore[attr-defined]  # pyright: ignore
        resources.later(lambda: found.append(completer(lila).answer("summary", TALK.texts)))
        until(lambda: bool(server.seen))
        began = time.monotonic()
        lila.close()
        assert time.monotonic() - began < 10
        assert found == [None]
        released.set()


def test_only_the_capable_of_a_chain_are_asked(home_with_server: Path, embedder: Embedder) -> None:
    both = LOCAL.replace('["local/good"]', '["local/weak", "local/good"]')
    (Home.at(home_with_server).policies_dir / "gateway.toml").write_text(both + ABLE)
    with open_lila(home_with_server, embedder=embedder) as lila:
        assert completer(lila).of("summary") == "local/good"
        assert completer(lila).answer("summary", TALK.texts) == SUMMARY
        with Store.open(lila.home.profile_db("default")) as store, store.read() as connection:
            asked = connection.execute("select provider, model from usage").fetchall()
    assert asked == [("local", "good")]


def test_the_check_of_the_tables_says_where_the_setting_finds_nobody(
    home: Path, embedder: Embedder
) -> None:
    settle(home, "[memory]\nuse_model = true\n")
    with open_lila(home, embedder=embedder) as lila:
        both = ["jobs.summary", "jobs.extraction"]
        assert _unable(lila) == both, "titles as shipped are the first words, which is a choice"
        (lila.home.policies_dir / "gateway.toml").write_text('[jobs]\ntitle = ["local/weak"]\n')
        assert _unable(lila) == [*both, "jobs.title"]


def _unable(lila: Lila) -> list[str]:
    said = [line for line in lila.policy.check() if "use_model" in line]
    return [line.split(":")[1].strip() for line in said]
