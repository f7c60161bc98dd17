"""A session's name by a model on the command line: a process that answers one thing and is gone."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lila_app.paths import Home
from tests.cli.lila import here, lila
from tests.gateway.chat_server import Exchange, serving

BOAT = "My boat takes in water near the keel"
JOB = '[jobs]\ntitle = ["local/m"]\n'
ABLE = '[limits."local/m"]\nwindow = 8_000\ncontext_budget = 4_000\ncapable = true\n'


def says(exchange: Exchange) -> None:
    asked = "You name a conversation" in json.dumps(exchange.body)
    exchange.begin()
    named = json.dumps({"title": "Leak at the keel", "names": []})
    exchange.piece(named if asked else "Dry it.", role="assistant")
    exchange.piece(None, "stop")
    exchange.done()


@pytest.mark.slow
def test_one_question_is_named_before_its_process_ends_and_listed_by_another(home: Path) -> None:
    place = Home.at(home)
    place.create()
    place.policies_dir.mkdir(parents=True, exist_ok=True)
    (place.policies_dir / "gateway.toml").write_text(JOB + ABLE)
    with serving(says) as server:
        given = f'model = "local/m"\n[providers.local]\nbase_url = "{server.base_url}"\n'
        place.settings_file.write_text(given)
        assert lila(home, "ask", BOAT).out == "Dry it.\n"
        assert len(server.seen) == 2
    listed = here(home, "sessions", "list", "--json").json["sessions"]
    assert [one["title"] for one in listed] == ["Leak at the keel"]
    spent = here(home, "cost", "usage").out
    assert "local/m  title" in spent and "local/m  reply" in spent
