"""A model that can call tools, and one turn of its session to step through."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from lila_app.assistant import Lila
from lila_app.storage import sessions, turns
from lila_app.storage.connection import Store
from lila_app.testing import ScriptedProvider
from lila_app.tool_loop import Setting, Where
from lila_app.tools import toolbox
from tests.assistant.tools.asking import ABLE
from tests.assistant.tools.stepping import CLOCK, POLICY, words


@pytest.fixture
def provider() -> ScriptedProvider:
    return ScriptedProvider(limits=ABLE)


@pytest.fixture
def store(lila: Lila) -> Iterator[Store]:
    with Store.open(lila.home.profile_db("default")) as opened:
        yield opened


@pytest.fixture
def setting(lila: Lila, store: Store) -> Setting:
    session = sessions.create(store, at=CLOCK.iso(), use_case="chat", title="").id
    turn = turns.begin(store, session, "Please.", use_case="chat", at=CLOCK.iso())
    where = Where(session, turn.id, CLOCK(), POLICY.result_tokens, words)
    box = toolbox(lila.memory, lila.sessions, lila.documents, lila.goals, lila.graph)
    return Setting(store, box, POLICY, where, None)
