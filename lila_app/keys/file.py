"""Keys in a file of the config folder, for machines without a keyring."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from pathlib import Path

from lila_app.errors import ConfigError
from lila_app.paths import write_private

_HEAD = (
    "# Keys of model providers, as `lila keys set` wrote them. LILA uses them only while nobody\n"
    "# but you can read this file (mode 0600).\n\n"
)


class KeyFile:
    """A TOML file of `provider = "key"`, 0600, replaced whole or not at all."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def get(self, provider: str) -> str | None:
        """The key of a provider.

        Raises `ConfigError` for a file that is no such table, and for a key others could read.
        """
        keys, mode = self._read()
        if provider in keys and mode & 0o077:
            raise ConfigError(
                f"others on this machine may read the keys in {self.path} (mode {mode:04o}), "
                "so LILA does not use them",
                hint=f"chmod 600 '{self.path}'",
            )
        return keys.get(provider)

    def set(self, provider: str, key: str) -> None:
        """Keep a key; the file is yours alone afterwards, whatever it was."""
        self._write({**self._read()[0], provider: key})

    def delete(self, provider: str) -> bool:
        """Forget a key; False when there was none."""
        keys = dict(self._read()[0])
        if keys.pop(provider, None) is None:
            return False
        self._write(keys)
        return True

    def _read(self) -> tuple[Mapping[str, str], int]:
        """The keys and the mode of the very file they were read from."""
        try:
            with self.path.open("rb") as file:
                mode = os.fstat(file.fileno()).st_mode & 0o777 if os.name == "posix" else 0o600
                text = file.read().decode()
            table = tomllib.loads(text)
        except FileNotFoundError:
            return {}, 0o600
        except OSError as error:
            raise ConfigError(
                f"{self.path} cannot be read: {error.strerror}", hint="make it readable for you"
            ) from None
        except ValueError:  # its text would quote the line, and the line is a key
            raise ConfigError(
                f"{self.path} is not TOML", hint='each line is: provider = "key"'
            ) from None
        keys = {name: value for name, value in table.items() if isinstance(value, str)}
        if len(keys) < len(table):
            wrong = next(name for name in table if name not in keys)
            raise ConfigError(
                f"{self.path}: {wrong} is not a text", hint=f'write it as {wrong} = "key"'
            )
        return keys, mode

    def _write(self, keys: Mapping[str, str]) -> None:
        import tomlkit

        write_private(self.path, _HEAD + tomlkit.dumps(dict(sorted(keys.items()))))
