"""Model servers on loopback are noticed, quickly; everything else is left alone."""

from __future__ import annotations

import time

import pytest

from lila_app.gateway.addresses import is_loopback
from lila_app.gateway.chat import discover as asking
from lila_app.gateway.chat.discover import PLACES, Found, Place, discover, places
from tests.gateway.chat_server import Exchange, serving
from tests.waiting import PATIENCE, SOON


@pytest.fixture(autouse=True)
def unhurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """A server may take longer to answer than the 0.3 s it has, where others compute."""
    monkeypatch.setattr(asking, "_CONNECT_SECONDS", PATIENCE)
    monkeypatch.setattr(asking, "_ANSWER_SECONDS", PATIENCE)


def ollama(exchange: Exchange) -> None:
    exchange.json(200, {"models": [{"name": "llama3.2:latest"}, {"name": "qwen3:8b"}]})


def llama_server(exchange: Exchange) -> None:
    exchange.json(200, {"data": [{"id": "phi", "owned_by": "llamacpp"}]})


async def test_an_ollama_and_its_models_are_found() -> None:
    with serving(ollama) as server:
        found = await discover((Place("ollama", server.origin, "/api/tags"),))
    assert found == (Found("ollama", server.base_url, ("llama3.2:latest", "qwen3:8b")),)


async def test_an_ollama_without_models_is_found_too() -> None:
    with serving(lambda exchange: exchange.json(200, {"models": []})) as server:
        found = await discover((Place("ollama", server.origin, "/api/tags"),))
    assert found == (Found("ollama", server.base_url, ()),)


async def test_on_a_common_port_the_answer_must_say_whose_it_is() -> None:
    with serving(llama_server) as server:
        mine = await discover((Place("llama-server", server.origin, owner="llamacpp"),))
        other = await discover((Place("llama-server", server.origin, owner="somebody"),))
    assert [found.models for found in mine] == [("phi",)]
    assert other == ()


@pytest.mark.parametrize(
    "answer",
    [
        lambda exchange: exchange.text(200, "<html>a web app</html>"),
        lambda exchange: exchange.json(200, ["models"]),
        lambda exchange: exchange.json(200, {"models": "many", "data": None}),
        lambda exchange: exchange.json(200, {"models": ["llama"], "data": [1]}),
        lambda exchange: exchange.json(404, {}),
        lambda exchange: exchange.json(302, {}, location="http://192.0.2.1/"),
        lambda exchange: exchange.drop(),
        lambda exchange: exchange.text(200, '{"models": [' + "1," * 2_000_000, "application/json"),
    ],
)
async def test_whatever_else_listens_there_is_no_model_server(answer: object) -> None:
    with serving(answer) as server:  # type: ignore[arg-type]
        for path in ("/api/tags", "/v1/models"):
            assert await discover((Place("ollama", server.origin, path),)) == ()


async def test_one_that_does_not_answer_does_not_keep_the_person_waiting(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(asking, "_CONNECT_SECONDS", 1.0)
    monkeypatch.setattr(asking, "_ANSWER_SECONDS", 1.0)
    with serving(lambda exchange: exchange.stall()) as silent, serving(ollama) as server:
        started = time.monotonic()
        found = await discover(
            (
                Place("lmstudio", silent.origin),
                Place("ollama", server.origin, "/api/tags"),
            )
        )
        assert time.monotonic() - started < 3 * SOON  # it is silent for twice as long
    assert [server.provider for server in found] == ["ollama"]


async def test_nothing_that_is_not_loopback_is_asked() -> None:
    assert await discover((Place("ollama", "http://192.0.2.1:11434", "/api/tags"),)) == ()


@pytest.mark.parametrize(
    ("said", "origin"),
    [
        ("", "http://127.0.0.1:11434"),
        ("127.0.0.1:5000", "http://127.0.0.1:5000"),
        ("http://localhost:5000/", "http://localhost:5000"),
        ("0.0.0.0", "http://127.0.0.1:11434"),
        ("0.0.0.0:5000", "http://127.0.0.1:5000"),
        (":5000", "http://127.0.0.1:5000"),
        ("[::1]:5000", "http://[::1]:5000"),
        ("192.0.2.7:11434", "http://127.0.0.1:11434"),
        ("https://models.example", "http://127.0.0.1:11434"),
        ("nonsense:port", "http://127.0.0.1:11434"),
    ],
)
def test_ollama_host_is_followed_only_on_this_machine(said: str, origin: str) -> None:
    found = places({"OLLAMA_HOST": said})
    assert found[0].origin == origin
    assert found[1:] == PLACES[1:]


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("http://127.0.0.1:1/v1", True),
        ("http://127.8.9.1/", True),
        ("http://[::1]:9", True),
        ("http://localhost", True),
        ("http://localhost.example", False),
        ("http://127.0.0.1.example", False),
        ("http://127.0.0.1@evil.example", False),
        ("http://10.0.0.1", False),
        ("http://[", False),
        ("", False),
    ],
)
def test_loopback_is_told_from_the_rest(url: str, expected: bool) -> None:
    assert is_loopback(url) is expected
