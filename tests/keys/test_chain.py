"""A key is looked for by flag, environment, keyring and file, and each may be absent."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest
from keyring.backend import KeyringBackend
from keyring.backends.fail import Keyring as NoKeyring
from keyring.backends.null import Keyring as NullKeyring

from lila_app.errors import ConfigError, LilaError, MissingKeyError, NotFoundError, UsageError
from lila_app.keys.chain import read_key_file
from lila_app.keys.ring import SilentRing
from lila_app.paths import Home
from lila_app.settings import ProviderSettings
from tests.keys.conftest import Make
from tests.keys.rings import Broken, Forgetting, Hanging, Keeping, Locked

Use = Callable[[KeyringBackend], None]

KEY = "sk-test-0123456789abcdef"
LOCAL = ProviderSettings(base_url="http://127.0.0.1:9/v1", api_key_env="LOCAL_KEY")


def test_the_first_place_that_holds_a_key_wins(
    keys: Make, ring: Keeping, use: Use, place: Home
) -> None:
    use(NoKeyring())
    keys().set("anthropic", "from-file")
    use(ring)
    assert keys().need("anthropic").value == "from-file"
    ring.set_password(f"lila {place.root}", "anthropic", "from-keyring")
    assert keys().need("anthropic").value == "from-keyring"
    found = keys(ANTHROPIC_API_KEY="from-environment")
    assert found.need("anthropic").value == "from-environment"
    handed = keys(given={"anthropic": "from-flag"}, ANTHROPIC_API_KEY="from-environment")
    assert handed.need("anthropic").value == "from-flag"
    info = handed.info("anthropic")
    assert (info.source, info.where) == ("flag", "--key-file")
    assert info.behind == (
        "environment (ANTHROPIC_API_KEY)",
        "keyring (test ring)",
        f"file ({place.keys_file})",
    )


@pytest.mark.parametrize(
    ("provider", "environ", "variable"),
    [
        ("openai", {"OPENAI_API_KEY": KEY}, "OPENAI_API_KEY"),
        ("gemini", {"GEMINI_API_KEY": KEY}, "GEMINI_API_KEY"),
        ("gemini", {"GEMINI_API_KEY": "other", "GOOGLE_API_KEY": KEY}, "GOOGLE_API_KEY"),
        ("local", {"LOCAL_KEY": KEY}, "LOCAL_KEY"),
        ("anthropic", {"ANTHROPIC_API_KEY": f"  {KEY}\n"}, "ANTHROPIC_API_KEY"),
    ],
)
def test_each_provider_has_its_variables(
    keys: Make, ring: Keeping, provider: str, environ: dict[str, str], variable: str
) -> None:
    key = keys(configured={"local": LOCAL}, **environ).need(provider)
    assert (key.value, key.source, key.where) == (KEY, "environment", variable)


def test_an_empty_variable_is_no_key(keys: Make, ring: Keeping) -> None:
    with pytest.raises(MissingKeyError) as caught:
        keys(OPENAI_API_KEY=" ").need("openai")
    assert "`lila keys set openai`" in caught.value.hint
    assert "OPENAI_API_KEY" in caught.value.hint


def test_a_key_goes_into_the_keyring_and_out_of_the_file(
    keys: Make, ring: Keeping, use: Use, place: Home
) -> None:
    use(NoKeyring())
    keys().set("gemini", "old-key")
    use(ring)
    kept = keys().set("gemini", KEY)
    assert (kept.source, kept.where) == ("keyring", "test ring")
    assert ring.kept == {(f"lila {place.root}", "gemini"): KEY}
    assert "old-key" not in place.keys_file.read_text()


@pytest.mark.parametrize("backend", [NoKeyring, NullKeyring, Locked, Hanging, Forgetting, Broken])
def test_without_a_keyring_that_keeps_it_a_key_goes_into_a_private_file(
    keys: Make, use: Use, place: Home, backend: type[KeyringBackend]
) -> None:
    use(backend())
    made = keys()
    assert made.set("anthropic", KEY).source == "file"
    assert stat.S_IMODE(place.keys_file.stat().st_mode) == 0o600
    assert [file.name for file in place.config_dir.iterdir() if file.is_file()] == ["keys.toml"]
    again = keys()
    assert again.need("anthropic").value == KEY
    assert again.need("anthropic").where == str(place.keys_file)


def test_a_silent_keyring_is_asked_once_and_named_when_there_is_no_key(
    keys: Make, use: Use
) -> None:
    use(Hanging())
    found = keys()
    with pytest.raises(MissingKeyError, match="did not answer within"):
        found.need("openai")
    with pytest.raises(MissingKeyError, match="still does not answer"):
        found.need("openai")


def test_two_homes_do_not_share_a_keyring_entry(keys: Make, ring: Keeping, tmp_path: Path) -> None:
    from lila_app.keys import Keys

    keys().set("anthropic", KEY)
    other = Keys(Home.at(tmp_path / "other"), {}, environ={})
    assert other.find("anthropic") is None


@pytest.mark.skipif(os.name != "posix", reason="modes")
@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660, 0o644])
def test_a_file_others_can_read_is_refused_with_the_command_that_repairs_it(
    keys: Make, use: Use, place: Home, mode: int
) -> None:
    use(NoKeyring())
    keys().set("anthropic", KEY)
    place.keys_file.chmod(mode)
    with pytest.raises(ConfigError) as caught:
        keys().find("anthropic")
    assert caught.value.hint == f"chmod 600 '{place.keys_file}'"
    assert f"mode {mode:04o}" in caught.value.message
    # What is not in it is not affected, and neither is what comes before it.
    assert keys().find("openai") is None
    assert keys(ANTHROPIC_API_KEY="other").need("anthropic").value == "other"
    assert keys().info("anthropic").trouble.endswith(f"(chmod 600 '{place.keys_file}')")


@pytest.mark.parametrize(
    "text", [f"anthropic = {KEY}", f'anthropic = ["{KEY}"]', f"\x00{KEY}", f'["{KEY}"']
)
def test_a_damaged_file_is_named_without_its_content(
    keys: Make, use: Use, place: Home, text: str
) -> None:
    use(NoKeyring())
    place.keys_file.write_text(text)
    place.keys_file.chmod(0o600)
    with pytest.raises(ConfigError) as caught:
        keys().find("anthropic")
    assert str(place.keys_file) in caught.value.message
    assert KEY not in caught.value.message + caught.value.hint
    assert caught.value.__cause__ is None


def test_what_the_person_wrote_into_the_file_by_hand_counts(
    keys: Make, use: Use, place: Home
) -> None:
    use(NoKeyring())
    place.keys_file.write_text(f"# mine\n'local' = '{KEY}'\n")
    place.keys_file.chmod(0o600)
    assert keys(configured={"local": LOCAL}).need("local").value == KEY


@pytest.mark.parametrize("text", ["", " \n", "two words", "sk-\x07", "schlüssel", "k" * 5_000])
def test_what_cannot_be_a_key_is_refused_unseen(keys: Make, ring: Keeping, text: str) -> None:
    with pytest.raises(ConfigError) as caught:
        keys().set("anthropic", text)
    assert not text.strip() or text not in str(caught.value) + caught.value.hint
    assert ring.kept == {}


def test_deleting_forgets_it_wherever_it_is_kept(keys: Make, ring: Keeping, place: Home) -> None:
    found = keys()
    found.set("anthropic", KEY)
    found.file.set("anthropic", KEY)
    assert found.delete("anthropic") == (str(place.keys_file), "test ring")
    assert found.find("anthropic") is None
    assert KEY not in place.keys_file.read_text()
    with pytest.raises(NotFoundError):
        found.delete("anthropic")


def test_a_keyring_that_will_not_say_is_no_success_of_deleting(
    keys: Make, use: Use, place: Home
) -> None:
    use(Locked())
    found = keys()
    found.set("anthropic", KEY)
    with pytest.raises(SilentRing):
        found.delete("anthropic")
    assert KEY not in place.keys_file.read_text()


def test_a_provider_nobody_knows_is_not_repeated(keys: Make, ring: Keeping) -> None:
    for name in (KEY, "antropic"):
        with pytest.raises(UsageError) as caught:
            keys().set(name, KEY)
        said = f"{caught.value.message} {caught.value.hint}"
        assert KEY not in said
    assert "did you mean anthropic?" in said
    with pytest.raises(UsageError):
        keys(given={"antropic": KEY})


def test_only_the_end_of_a_long_key_is_shown(keys: Make, ring: Keeping) -> None:
    assert keys(OPENAI_API_KEY=KEY).info("openai").key == "…cdef"
    assert keys(OPENAI_API_KEY="short-key").info("openai").key == "…"
    assert KEY not in repr(keys(OPENAI_API_KEY=KEY).need("openai"))


def test_a_key_file_holds_the_key_and_its_errors_repeat_nothing(tmp_path: Path) -> None:
    file = tmp_path / "key"
    file.write_text(f"{KEY}\n")
    assert read_key_file(f"anthropic={file}") == ("anthropic", KEY)
    for argument in (KEY, f"anthropic={KEY}", f"={file}", f"anthropic={tmp_path}"):
        with pytest.raises(UsageError) as caught:
            read_key_file(argument)
        assert KEY not in f"{caught.value.message} {caught.value.hint}"
    file.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(LilaError, match="not text"):
        read_key_file(f"anthropic={file}")
