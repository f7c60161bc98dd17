"""The vault: one placeholder a value, the same as long as the value is held anywhere.

Two ways of writing one value ("+1 555 0100", "15550100") get one number and a letter each, so that
a model sees that they are the same and each comes back as it was written. Blocking, from any
thread; two processes on one store agree, because a new value is looked for again under the write
lock.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from lila_app.privacy import placeholders
from lila_app.privacy.cipher import Cipher
from lila_app.privacy.spans import NAMES, Kind, Span
from lila_app.storage import erasure
from lila_app.storage import vault as table
from lila_app.storage.connection import Store
from lila_app.storage.driver import Connection
from lila_app.storage.vault import VaultRow

Value = tuple[Kind, str]

_SIGNS = re.compile(r"[\s.\-/()]+")
_WORD = re.compile(r"\w+")

_NUMBERS: frozenset[Kind] = frozenset({"phone", "card", "iban", "account", "id"})

_TELLING: Mapping[Kind, int] = {
    **dict.fromkeys(("mail", "phone", "card", "iban", "account", "id", "key", "ip"), 6),
    **dict.fromkeys(("person", "place", "organisation", "address", "domain", "username"), 4),
    "denied": 1,
}
"""How long a value of a kind must be to be replaced also where nothing but the vault knows it: a
card's three digits or somebody's age stand for other things as well."""


@dataclass(slots=True)
class _Held:
    """What the vault holds, in memory; `stamp` tells whether that still is all of it."""

    stamp: tuple[int, int]
    placeholders: dict[Value, str]
    values: dict[str, str]
    kinds: dict[str, Kind]
    unreadable: int = 0
    words: dict[str, list[tuple[int, str, Kind]]] | None = None
    """Telling values by their first word, with how many signs come before it."""


class Vault:
    """The values of one profile that were replaced. `key` is asked when there is something."""

    def __init__(self, store: Store, key: Callable[[bool], bytes], at: Callable[[], str]) -> None:
        self._store = store
        self._key = key
        self._at = at
        self._lock = threading.RLock()
        self._held: _Held | None = None
        self._cipher: Cipher | None = None

    def placeholders(self, wanted: Iterable[Value]) -> Mapping[Value, str]:
        """The placeholder of each value, made where there is none. Raises LilaError."""
        with self._lock:
            held = self._loaded()
            values = list(dict.fromkeys(wanted))
            missing = [value for value in values if value not in held.placeholders]
            if missing:
                self._add(held, missing)
            return {value: held.placeholders[value] for value in values}

    def known(self, wanted: Iterable[Value]) -> Mapping[Value, str]:
        """The placeholders of those that have one; nothing is made."""
        with self._lock:
            held = self._loaded()
            return {
                value: held.placeholders[value] for value in wanted if value in held.placeholders
            }

    def value(self, placeholder: str) -> str | None:
        """What a placeholder stands for; None for one that stands for nothing here."""
        with self._lock:
            return self._loaded().values.get(placeholder)

    def ways(self, placeholder: str) -> tuple[str, ...]:
        """The placeholders of every way in which the same value is written."""
        with self._lock:
            number = re.sub(r"[A-Z]*\]$", "", placeholder)
            return tuple(
                one for one in self._loaded().values if re.sub(r"[A-Z]*\]$", "", one) == number
            )

    def spans(self, text: str, kinds: frozenset[Kind]) -> Iterator[Span]:
        """Where values the vault holds stand in a text, whether or not anything else finds them.

        What a reply repeated has lost the word beside it that told what it was.
        """
        with self._lock:
            words = self._words(self._loaded())
        if not words:
            return
        for match in _WORD.finditer(text):
            for before, value, kind in words.get(match[0], ()):
                start = match.start() - before
                if kind in kinds and start >= 0 and _whole(text, value, start):
                    yield Span(start, start + len(value), kind)

    def counts(self) -> Mapping[Kind, int]:
        """How many values of each kind are held."""
        with self._lock:
            counts: dict[Kind, int] = {}
            for kind in self._loaded().kinds.values():
                counts[kind] = counts.get(kind, 0) + 1
            return counts

    @property
    def next(self) -> int:
        """The number the next new value gets, if nobody is quicker."""
        return table.numbered(self._store) + 1

    @property
    def unreadable(self) -> int:
        """Entries hidden with another key than the one there is."""
        with self._lock:
            return self._loaded().unreadable

    def clear(self) -> int:
        """Empty the vault; what is kept under placeholders stays unreadable for good."""
        with self._lock, self._store.write() as connection:
            self._held = None
            return table.clear(connection)

    def _loaded(self) -> _Held:
        with self._store.read() as connection:
            stamp = _stamp(connection)
            if self._held is not None and self._held.stamp == stamp:
                return self._held
            rows = table.rows(connection)
        held = _Held(stamp, {}, {}, {})
        for row in rows:
            self._take(held, row)
        self._held = held
        return held

    def _take(self, held: _Held, row: VaultRow) -> None:
        value = self._ciphering(fresh=False).read(row.placeholder, row.hidden)
        kind = NAMES.get(row.kind)
        if value is None or kind is None:
            held.unreadable += 1
            return
        held.placeholders[kind, value] = row.placeholder
        held.values[row.placeholder] = value
        held.kinds[row.placeholder] = kind
        held.words = None

    def _ciphering(self, *, fresh: bool) -> Cipher:
        if self._cipher is None:
            self._cipher = Cipher(self._key(fresh))
        return self._cipher

    def _add(self, held: _Held, missing: list[Value]) -> None:
        """Number what is new; what another process numbered meanwhile is taken over."""
        if self._cipher is None:  # may ask a keyring: not while the store is locked
            self._ciphering(fresh=table.size(self._store) == 0)
        cipher = self._ciphering(fresh=True)
        with self._store.write() as connection:
            there = table.by_seals(connection, (cipher.seal(*one) for one in missing))
            for kind, value in missing:
                seal = cipher.seal(kind, value)
                placeholder = there.get(seal)
                if placeholder is None:
                    root = cipher.seal(kind, f"root\0{normalised(kind, value)}")
                    same = table.by_root(connection, root)
                    placeholder = _next(kind, same, lambda: table.next_number(connection))
                    hidden = cipher.hide(placeholder, value)
                    table.add(
                        connection, VaultRow(placeholder, kind, seal, root, hidden, self._at())
                    )
                held.placeholders[kind, value] = placeholder
                held.values[placeholder] = value
                held.kinds[placeholder] = kind
            held.stamp = _stamp(connection)
        held.words = None

    @staticmethod
    def _words(held: _Held) -> Mapping[str, list[tuple[int, str, Kind]]]:
        if held.words is None:
            held.words = {}
            for placeholder, value in held.values.items():
                kind = held.kinds[placeholder]
                first = _WORD.search(value)
                if first is not None and len(value) >= _TELLING.get(kind, len(value) + 1):
                    held.words.setdefault(first[0], []).append((first.start(), value, kind))
        return held.words


def _stamp(connection: Connection) -> tuple[int, int]:
    """What changes whenever anything was forgotten, or added by whatever process."""
    return erasure.generation(connection), table.numbered(connection)


def normalised(kind: Kind, value: str) -> str:
    """What two ways of writing the same value have in common."""
    plain = " ".join(value.split()).casefold()
    return _SIGNS.sub("", plain) if kind in _NUMBERS else plain


def _next(kind: Kind, same: tuple[str, ...], number: Callable[[], int]) -> str:
    """The placeholder of a value that has none, beside those of the same value written else."""
    another = number()  # also where an old one does: whoever holds the vault in memory looks again
    if same and len(same) < placeholders.WAYS:
        first = int(re.sub(r"\D", "", same[0]))
        way = next(
            way for way in range(len(same) + 1) if placeholders.made(kind, first, way) not in same
        )
        return placeholders.made(kind, first, way)
    return placeholders.made(kind, another)


def _whole(text: str, value: str, start: int) -> bool:
    """Whether a value stands there, and not as a part of a longer word."""
    end = start + len(value)
    if not text.startswith(value, start):
        return False
    before, after = text[start - 1 : start], text[end : end + 1]
    return not (_word(before) and _word(value[0])) and not (_word(after) and _word(value[-1]))


def _word(sign: str) -> bool:
    return sign.isalnum() or sign == "_"
