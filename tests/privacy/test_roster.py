"""Who is behind the guard: every model that is not on the person's own machine."""

from __future__ import annotations

import pytest

from lila_app import settings
from lila_app.gateway.calls.means import About
from lila_app.gateway.port import Provider
from lila_app.models import Roster, on_this_machine
from lila_app.paths import Home
from lila_app.privacy.guard import Guard
from lila_app.testing import ScriptedProvider
from tests.privacy.conftest import Make


@pytest.mark.parametrize(
    ("name", "local", "here"),
    [
        ("embedded/smollm2-135m", True, True),
        ("ollama/llama3.2", True, True),
        ("work/large", False, False),
        ("anthropic/claude-sonnet-5-5", True, False),  # loopback may be a proxy
        ("ollama/gpt-oss:120b-cloud", True, False),  # runs on its makers' machines
    ],
)
def test_what_a_model_is_told_stays_here_or_not(name: str, local: bool, here: bool) -> None:
    assert on_this_machine(name, About(local=local)) is here


def test_the_roster_guards_what_is_not_here(
    privacy: Make, place: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-0123456789abcdef")
    place.settings_file.write_text('[providers.work]\nbase_url = "http://10.0.0.7/v1"\n')
    made = privacy()

    def guarded(provider: Provider, local: bool) -> Provider:
        return made.guarded(provider, local=local)

    roster = Roster(place, settings.load(place), guarded=guarded)
    for name in ("work/large", "openai/gpt-5.6"):
        found = roster.provider(name)
        assert isinstance(found, Guard) and found.name == name
        assert found.limits() == roster.limits(name)
    assert not isinstance(roster.provider("ollama/llama3.2"), Guard)
    own = ScriptedProvider()
    assert Roster(place, settings.load(place), (own,), guarded=guarded).provider(None) is own
