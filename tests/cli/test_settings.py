from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from lila_app import settings
from lila_app.errors import ConfigError
from lila_app.paths import Home


@pytest.fixture
def lila_home(tmp_path: Path) -> Home:
    made = Home.at(tmp_path / "home")
    made.create()
    return made


def _write(home: Home, text: str) -> None:
    home.settings_file.write_text(text, encoding="utf-8")


def test_without_a_file_everything_has_a_default(lila_home: Home) -> None:
    found = settings.load(lila_home)
    assert (found.model, found.providers, found.models) == ("", {}, {})
    assert found.zone.key == settings.system_timezone()


def test_a_file_is_read_and_the_environment_beats_it(
    lila_home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    _write(
        lila_home,
        """
        timezone = "Europe/Berlin"
        model = "local/a"
        [providers.local]
        base_url = "http://127.0.0.1:8080/v1"
        [models."local/a.b"]
        context_budget = 900
        """,
    )
    monkeypatch.setenv("LILA_MODEL", "local/b")
    monkeypatch.setenv("LILA_PROVIDERS__LOCAL__API_KEY_ENV", "KEY")
    found = settings.load(lila_home)
    assert found.zone.key == "Europe/Berlin"
    assert found.model == "local/b"
    assert found.providers["local"].base_url == "http://127.0.0.1:8080/v1"
    assert found.providers["local"].api_key_env == "KEY"
    assert found.models["local/a.b"].context_budget == 900


def test_variables_of_lila_that_are_no_settings_are_left_alone(
    lila_home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LILA_HOME", "/x")
    monkeypatch.setenv("LILA_SOMETHING", "y")
    settings.load(lila_home)


@pytest.mark.parametrize(
    ("text", "says", "hint"),
    [
        ('timezon = "UTC"', "there is no setting timezon", "did you mean timezone?"),
        ("zzz = 1", "there is no setting zzz", "timezone, model, providers, models"),
        ('[providers.l]\nbase_ur = "x"', "no setting providers.l.base_ur", "mean base_url?"),
        ('[models."a/b"]\nwindo = 1', 'no setting models."a/b".windo', "did you mean window?"),
        ('timezone = "Europe/Berln"', "did you mean Europe/Berlin", "correct "),
        ("[models.x]\nwindow = 0", "models.x.window", "correct "),
        ('[providers.l]\nbase_url = "x y"', "is not an address such as", "correct "),
        (
            '[providers.l]\napi_key = "sk-marked"',
            "no setting providers.l.api_key",
            "`lila keys set`",
        ),
        ('[providers.l]\napi_key_env = "sk-marked"', "and never a key", "correct "),
        ("model = 3", "model: Input should be a valid string", "correct "),
        ("a =\tb", "is not TOML", "correct "),
    ],
)
def test_a_wrong_file_is_refused_with_file_key_and_way_out(
    lila_home: Home, text: str, says: str, hint: str
) -> None:
    _write(lila_home, text)
    with pytest.raises(ConfigError) as caught:
        settings.load(lila_home)
    assert says in caught.value.message
    assert str(lila_home.settings_file) in caught.value.message
    assert hint in caught.value.hint
    assert "sk-marked" not in caught.value.message + caught.value.hint


def test_a_file_that_is_not_utf_8_is_refused(lila_home: Home) -> None:
    lila_home.settings_file.write_bytes(b'model = "\xff"')
    with pytest.raises(ConfigError, match="not UTF-8"):
        settings.load(lila_home)


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [("LILA_TIMEZONE", "Mars", "variable LILA_TIMEZONE"), ("LILA_PROVIDERS", "x", "LILA_")],
)
def test_a_wrong_variable_is_named(
    lila_home: Home, monkeypatch: pytest.MonkeyPatch, name: str, value: str, says: str
) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(ConfigError, match=says):
        settings.load(lila_home)


def test_setting_a_value_keeps_comments_and_order(lila_home: Home) -> None:
    _write(lila_home, '# mine\nmodel = "a/b"  # why\n\n[providers.l]\nbase_url = "http://x"\n')
    settings.set_value(lila_home, "model", "c/d")
    settings.set_value(lila_home, 'models."l/m-3.2".context_budget', 700)
    text = lila_home.settings_file.read_text(encoding="utf-8")
    assert text.startswith('# mine\nmodel = "c/d"  # why\n\n[providers.l]\n')
    assert settings.load(lila_home).models["l/m-3.2"].context_budget == 700


def test_the_file_made_is_private(lila_home: Home) -> None:
    settings.set_value(lila_home, "model", "c/d")
    assert stat.S_IMODE(lila_home.settings_file.stat().st_mode) == 0o600


@pytest.mark.parametrize(
    ("key", "value"),
    [("modle", "x"), ("timezone", "Mars"), ("models.x.window", -1), ("a b", "x"), ("", "x")],
)
def test_a_value_that_would_not_load_is_never_written(
    lila_home: Home, key: str, value: str | int
) -> None:
    _write(lila_home, 'model = "a/b"\n')
    with pytest.raises(ConfigError):
        settings.set_value(lila_home, key, value)
    assert lila_home.settings_file.read_text(encoding="utf-8") == 'model = "a/b"\n'


def test_a_file_that_is_already_wrong_is_not_overwritten(lila_home: Home) -> None:
    _write(lila_home, "model =\n")
    with pytest.raises(ConfigError):
        settings.set_value(lila_home, "model", "x")
    assert lila_home.settings_file.read_text(encoding="utf-8") == "model =\n"


def test_the_zone_of_a_process_does_not_change_the_system_zone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("TZ", raising=False)
    before = settings.system_timezone()
    monkeypatch.setitem(os.environ, "TZ", "Asia/Kathmandu")
    assert settings.system_timezone() == before != "Asia/Kathmandu"


def test_every_setting_is_documented() -> None:
    for model in (settings.Settings, settings.ProviderSettings, settings.ModelSettings):
        for name, field in model.model_fields.items():
            assert field.description, f"{model.__name__}.{name}"
