"""From the names of remote models to the providers that speak for them, with their keys."""

from __future__ import annotations

import pytest

from lila_app import settings
from lila_app.errors import ConfigError, MissingKeyError
from lila_app.gateway.chat.provider import Endpoint, OpenAICompatibleProvider
from lila_app.gateway.remote import REMOTES, base_url
from lila_app.gateway.table import GatewayTable
from lila_app.models import Roster
from lila_app.paths import Home
from lila_app.testing import MemoryLedger

KEY = "sk-test-0123456789abcdef"


def roster(place: Home, **keys: str) -> Roster:
    return Roster(place, settings.load(place), keys=keys, ledger=MemoryLedger())


@pytest.mark.parametrize("name", [remote.example for remote in REMOTES.values()])
def test_a_remote_model_resolves_once_there_is_a_key(place: Home, name: str) -> None:
    family = name.partition("/")[0]
    provider = roster(place, **{family: KEY}).provider(name)
    assert provider.name == name
    assert type(provider).__module__ == f"lila_app.gateway.{family}.provider"
    with pytest.raises(MissingKeyError) as caught:
        roster(place).provider(name)
    assert f"`lila keys set {family}`" in caught.value.hint


def test_limits_are_known_before_there_is_a_key(place: Home, table: GatewayTable) -> None:
    name = "anthropic/claude-sonnet-5-5"
    assert roster(place).limits(name) == table.limits_of(name)


def test_each_provider_gets_its_own_key_and_no_other(place: Home) -> None:
    found = roster(place, anthropic="sk-of-anthropic", openai="sk-of-openai")
    assert found.access("anthropic").api_key == "sk-of-anthropic"
    assert found.access("openai").api_key == "sk-of-openai"
    with pytest.raises(MissingKeyError):
        found.access("gemini")


def test_an_address_comes_from_settings_else_from_the_sdks_variable(
    place: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    for family, variable in (
        ("anthropic", "ANTHROPIC_BASE_URL"),
        ("openai", "OPENAI_BASE_URL"),
        ("gemini", "GOOGLE_GEMINI_BASE_URL"),
    ):
        assert roster(place, **{family: KEY}).access(family).base_url == ""
        monkeypatch.setenv(variable, "http://127.0.0.1:9/of-the-variable")
        assert roster(place, **{family: KEY}).access(family).base_url.endswith("of-the-variable")
        place.settings_file.write_text(
            f'[providers.{family}]\nbase_url = "http://127.0.0.1:9/of-the-settings"\n'
        )
        assert roster(place, **{family: KEY}).access(family).base_url.endswith("of-the-settings")
        place.settings_file.unlink()


def test_a_variable_that_is_no_address_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ConfigError, match="OPENAI_BASE_URL is not an address"):
        base_url(REMOTES["openai"], "", {"OPENAI_BASE_URL": "api.openai.com"})


def test_a_remote_provider_needs_no_address_in_settings_and_a_server_does(place: Home) -> None:
    place.settings_file.write_text('[providers.openai]\napi_key_env = "WORK_KEY"\n')
    assert settings.load(place).providers["openai"].api_key_env == "WORK_KEY"
    place.settings_file.write_text('[providers.local]\napi_key_env = "WORK_KEY"\n')
    with pytest.raises(ConfigError, match="local has no base_url"):
        settings.load(place)


def test_a_configured_server_stays_chat_completions_with_the_key_of_its_variable(
    place: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    place.settings_file.write_text(
        "[providers.local]\n"
        'base_url = "http://127.0.0.1:9/v1"\n'
        'api_key_env = "LOCAL_KEY"\n'
        "[providers.open]\n"
        'base_url = "http://127.0.0.1:9/v1"\n'
    )
    with pytest.raises(MissingKeyError) as caught:
        roster(place).provider("local/m")
    assert "LOCAL_KEY" in caught.value.hint
    # A key that one server lacks is no matter of the others.
    assert isinstance(roster(place).provider("open/m"), OpenAICompatibleProvider)
    monkeypatch.setenv("LOCAL_KEY", KEY)
    provider = roster(place).provider("local/m")
    assert isinstance(provider, OpenAICompatibleProvider)
    assert KEY not in repr(Endpoint("http://127.0.0.1:9/v1", KEY))


def test_a_name_close_to_a_remote_provider_is_guessed(place: Home) -> None:
    with pytest.raises(ConfigError, match=r"did you mean anthropic/claude-sonnet-5-5\?"):
        roster(place).provider("antropic/claude-sonnet-5-5")
