"""What the vault holds, and what it tells without its key."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from lila_app.errors import ConfigError
from lila_app.keys.ring import Ring, SilentRing
from lila_app.paths import Home
from lila_app.privacy.key import FILE, VaultKey
from lila_app.privacy.spans import SURE
from lila_app.privacy.vault import Value, Vault
from lila_app.storage import forget, memories
from lila_app.storage import vault as table
from lila_app.storage.connection import Store
from tests.privacy.conftest import AT, Make

KEY = bytes(range(32))
MAIL: Value = ("mail", "ada@example.org")


def opened(store: Store, key: bytes = KEY) -> Vault:
    return Vault(store, lambda fresh: key, lambda: AT)


def test_two_ways_of_writing_one_number_share_it_and_come_back_as_written(store: Store) -> None:
    vault = opened(store)
    plain, grouped, other = ("phone", "+15550100200"), ("phone", "+1 555 010 0200"), MAIL
    made = vault.placeholders([plain, grouped, other])  # type: ignore[list-item]
    assert made[plain] == "[PHONE1]" and made[grouped] == "[PHONE1B]"  # type: ignore[index]
    assert made[other] == "[MAIL3]"
    assert vault.value("[PHONE1B]") == "+1 555 010 0200"
    assert vault.ways("[PHONE1B]") == ("[PHONE1]", "[PHONE1B]")


def test_another_process_gives_the_same_placeholder_and_sees_what_this_one_added(
    store: Store,
) -> None:
    one, other = opened(store), opened(store)
    assert other.value("[MAIL1]") is None
    assert one.placeholders([MAIL]) == other.placeholders([MAIL]) == {MAIL: "[MAIL1]"}
    one.placeholders([("mail", "bob@example.org")])
    assert other.value("[MAIL2]") == "bob@example.org"


def test_no_byte_of_a_value_is_in_the_file(store: Store) -> None:
    opened(store).placeholders([MAIL, ("person", "Ada Lovelace")])
    for path in store.path.parent.glob("profile.db*"):
        content = path.read_bytes()
        assert b"ada@example" not in content and b"Lovelace" not in content


def test_another_key_reads_nothing_and_says_so(store: Store) -> None:
    opened(store).placeholders([MAIL])
    other = opened(store, bytes(32))
    assert other.value("[MAIL1]") is None
    assert other.unreadable == 1
    assert other.placeholders([MAIL]) == {MAIL: "[MAIL2]"}  # a number is never given again


def test_a_value_is_known_again_without_the_word_that_told_what_it_was(store: Store) -> None:
    vault = opened(store)
    vault.placeholders([("account", "12345678"), ("age", "31"), ("card", "123")])
    found = vault.spans("12345678 is not 123456789, nor 31, nor 123.", frozenset((*SURE, "age")))
    assert [(one.start, one.end, one.kind) for one in found] == [(0, 8, "account")]


def test_forgetting_takes_the_values_nothing_holds_any_more(store: Store) -> None:
    vault = opened(store)
    vault.placeholders([MAIL, ("mail", "bob@example.org")])
    kept = memories.add(store, "Write to [MAIL1].", at=AT)
    with store.write() as connection:
        assert table.sweep(connection) == ("[MAIL2]",)
    assert vault.value("[MAIL1]") == "ada@example.org"
    forget.forget_memory(store, kept.id, at=AT)
    with store.write() as connection:
        table.sweep(connection)
        assert table.size(connection) == 0
    assert opened(store).value("[MAIL1]") is None


def test_the_key_lies_in_a_file_of_ones_own_where_there_is_no_keyring(place: Home) -> None:
    key = VaultKey(place)
    made = key.need(fresh=True)
    path = place.config_dir / FILE
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert VaultKey(place).need(fresh=False) == made
    assert key.where() == str(path)


def test_a_key_others_can_read_is_not_used(place: Home) -> None:
    VaultKey(place).need(fresh=True)
    (place.config_dir / FILE).chmod(0o644)
    with pytest.raises(ConfigError, match="others on this machine"):
        VaultKey(place).need(fresh=False)


def test_a_lost_key_is_named_and_no_other_one_made(privacy: Make, place: Home) -> None:
    privacy().screened(["write to ada@example.org"])
    (place.config_dir / FILE).unlink()
    again = privacy()
    with pytest.raises(ConfigError, match="key is gone"):
        again.screened(["write to ada@example.org"])
    assert not (place.config_dir / FILE).exists()
    assert again.vault.clear() == 1
    assert again.screened(["to ada@example.org"])[0] == ["to [MAIL3]"]


def test_of_two_processes_that_make_a_key_one_counts(place: Home) -> None:
    from concurrent.futures import ThreadPoolExecutor

    # Often, because the moment in which a file is there and empty is short.
    with ThreadPoolExecutor(4) as pool:
        for _ in range(50):
            keys = [VaultKey(place) for _ in range(4)]
            assert len(set(pool.map(lambda key: key.need(fresh=True), keys))) == 1
            assert [kept.name for kept in place.config_dir.glob(f"{FILE}*")] == [FILE]
            (place.config_dir / FILE).unlink()


def test_a_key_is_kept_where_files_cannot_be_linked(
    place: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    def none(*_: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", none)
    key = VaultKey(place).need(fresh=True)
    assert VaultKey(place).need(fresh=False) == key
    assert [kept.name for kept in place.config_dir.glob(f"{FILE}*")] == [FILE]


def test_the_vault_keeps_its_key_out_of_its_folder(place: Home, store: Store) -> None:
    opened(store).placeholders([MAIL])
    assert not list(Path(store.path).parent.glob("*.key"))


class FakeRing(Ring):
    """A keyring in memory, which may say nothing."""

    def __init__(self, *, silent: bool = False) -> None:
        super().__init__("test")
        self.entries: dict[str, str] = {}
        self.silent = silent

    def name(self) -> str:
        return "Fake Keyring"

    def get(self, provider: str) -> str | None:
        if self.silent:
            raise SilentRing("the keyring did not answer within 5 s; it may be locked")
        return self.entries.get(provider)

    def set(self, provider: str, key: str) -> None:
        if self.silent:
            raise SilentRing("the keyring did not answer within 60 s; it may be locked")
        self.entries[provider] = key


def test_a_keyring_keeps_the_key_where_there_is_one(place: Home) -> None:
    ring = FakeRing()
    made = VaultKey(place, ring).need(fresh=True)
    assert not (place.config_dir / FILE).exists() and len(ring.entries) == 1
    again = VaultKey(place, ring)
    assert again.need(fresh=False) == made and again.where() == "keyring (Fake Keyring)"


def test_a_silent_keyring_stops_a_vault_that_holds_something_and_no_new_one(place: Home) -> None:
    ring = FakeRing(silent=True)
    with pytest.raises(ConfigError, match="cannot be read: the keyring did not answer"):
        VaultKey(place, ring).need(fresh=False)
    made = VaultKey(place, ring).need(fresh=True)  # nothing is lost by a key of its own
    ring.silent = False
    assert VaultKey(place, ring).need(fresh=False) == made
