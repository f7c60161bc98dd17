"""The order in which a provider's key is looked for: flag, environment, keyring, file."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Mapping
from difflib import get_close_matches

from lila_app.errors import ConfigError, MissingKeyError, NotFoundError, UsageError
from lila_app.gateway.remote import REMOTES
from lila_app.keys.file import KeyFile
from lila_app.keys.model import Key, KeyInfo, usable
from lila_app.keys.ring import NoRing, Ring, SilentRing
from lila_app.paths import Home
from lila_app.settings import ProviderSettings


class Keys:
    """The keys of one home. Asking may wait some seconds for a keyring; not for the event loop.

    `given` are keys by provider that were handed over for this process alone.
    """

    def __init__(
        self,
        home: Home,
        configured: Mapping[str, ProviderSettings],
        *,
        given: Mapping[str, str] | None = None,
        environ: Mapping[str, str] = os.environ,
        ring: Ring | None = None,
    ) -> None:
        self._configured = configured
        self._given = {
            self.known(name): usable(key, f"the key given for {name}")
            for name, key in (given or {}).items()
        }
        self._environ = environ
        # Two homes never share an entry: deleting a key of the one leaves the other's.
        self._ring = ring or Ring(f"lila {home.root}" if home.root else "lila")
        self.file = KeyFile(home.keys_file)

    def configure(self, configured: Mapping[str, ProviderSettings]) -> None:
        """Go on with changed settings."""
        self._configured = configured

    @property
    def providers(self) -> tuple[str, ...]:
        """Those a key can be kept for: the remote ones and the ones named in settings."""
        return (*REMOTES, *sorted(set(self._configured) - set(REMOTES)))

    def known(self, provider: str) -> str:
        """The name itself, if a key can be kept for it.

        Raises `UsageError`, which does not repeat the name: it may be a key in the wrong place.
        """
        if provider in self.providers:
            return provider
        near = get_close_matches(provider, self.providers, n=1)
        meant = f"did you mean {near[0]}? " if near else ""
        raise UsageError(
            "that is no provider LILA keeps a key for",
            hint=f"{meant}known are {', '.join(self.providers)}; `[providers.NAME]` with a "
            "base_url in settings.toml adds yours",
        )

    def find(self, provider: str) -> Key | None:
        """The key that is used, None without one.

        Raises `ConfigError` for a key that is there and must not or cannot be used.
        """
        return next(self._found(provider, []), None)

    def need(self, provider: str) -> Key:
        """The key that is used. Raises `MissingKeyError` that says how to set one."""
        troubles: list[str] = []
        key = next(self._found(provider, troubles), None)
        if key is not None:
            return key
        variables = self.variables(provider)
        also = f", or set {variables[0]}" if variables else ""
        trouble = f" ({troubles[0]})" if troubles else ""
        raise MissingKeyError(
            f"there is no key for {provider}{trouble}", hint=f"`lila keys set {provider}`{also}"
        )

    def info(self, provider: str) -> KeyInfo:
        """A provider's key as it is listed; what stands in its way is part of that."""
        troubles: list[str] = []
        keys: list[Key] = []
        try:
            for key in self._found(provider, troubles):
                keys.append(key)
        except ConfigError as error:
            troubles.append(f"{error.message} ({error.hint})")
        said = "; ".join(troubles)
        if not keys:
            return KeyInfo(provider, trouble=said)
        first = keys[0]
        behind = tuple(key.origin for key in keys[1:])
        return KeyInfo(provider, first.source, first.where, first.shown, behind, said)

    def list(self) -> tuple[KeyInfo, ...]:
        """Every provider, with or without a key."""
        return tuple(map(self.info, self.providers))

    def set(self, provider: str, text: str) -> Key:
        """Keep a key in the keyring, else in the file; whatever was kept before is replaced."""
        self.known(provider)
        value = usable(text, "your input")
        try:
            self._ring.set(provider, value)
        except (NoRing, SilentRing):
            self.file.set(provider, value)
            return Key(provider, value, "file", str(self.file.path))
        self.file.delete(provider)
        return Key(provider, value, "keyring", self._ring.name())

    def delete(self, provider: str) -> tuple[str, ...]:
        """Forget the kept key; the places it was in.

        Raises `NotFoundError` when there was none, and `SilentRing` when the keyring would not
        say; the file is seen to before that.
        """
        self.known(provider)
        gone: list[str] = []
        if self.file.delete(provider):
            gone.append(str(self.file.path))
        with contextlib.suppress(NoRing):  # then it holds none
            if self._ring.delete(provider):
                gone.append(self._ring.name())
        if not gone:
            raise NotFoundError(
                f"no key is kept for {provider}", hint="`lila keys list` says where keys come from"
            )
        return tuple(gone)

    def variables(self, provider: str) -> tuple[str, ...]:
        """The environment variables that may hold a provider's key, the one that wins first."""
        entry = self._configured.get(provider)
        own = (entry.api_key_env,) if entry is not None and entry.api_key_env else ()
        return own + (REMOTES[provider].key_variables if provider in REMOTES else ())

    def keyring(self) -> str:
        """What the keyring calls itself. Raises `NoRing` or `SilentRing`."""
        return self._ring.name()

    def _found(self, provider: str, troubles: list[str]) -> Iterator[Key]:
        """The keys of a provider in order, each looked up when the one before did not do."""
        if provider in self._given:
            yield Key(provider, self._given[provider], "flag", "--key-file")
        for variable in self.variables(provider):
            if text := self._environ.get(variable, "").strip():
                yield Key(provider, usable(text, variable), "environment", variable)
        if text := self._kept(provider, troubles):
            value = usable(text, f"the keyring for {provider}")
            yield Key(provider, value, "keyring", self._ring.name())
        if text := self.file.get(provider):
            where = str(self.file.path)
            yield Key(provider, usable(text, where), "file", where)

    def _kept(self, provider: str, troubles: list[str]) -> str | None:
        """What the keyring holds; one that is absent, locked or silent is a link that is passed."""
        try:
            return self._ring.get(provider)
        except NoRing:
            return None
        except SilentRing as error:
            troubles.append(error.message)
            return None


def read_key_file(argument: str) -> tuple[str, str]:
    """Provider and key from `PROVIDER=PATH`; the file holds the key and nothing else.

    Its mode is not judged: who names a file says that it will do, and a pipe or a container's
    secret has the mode it has. No error repeats the argument, which may be a key in the wrong
    place. Raises `UsageError`.
    """
    provider, _, path = argument.partition("=")
    if not provider or not path:
        raise UsageError(
            "--key-file takes PROVIDER=PATH", hint="as in --key-file anthropic=/run/secrets/key"
        )
    try:
        with open(os.path.expanduser(path), encoding="utf-8") as file:  # noqa: PTH111, PTH123
            text = file.read(8_192)
        return provider, usable(text, "the file given with --key-file")
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not text"
        raise UsageError(
            f"the file given with --key-file cannot be read: {reason}",
            hint="it takes PROVIDER=PATH, and never the key itself",
        ) from None
    except ConfigError as error:
        raise UsageError(error.message, hint=error.hint) from None
