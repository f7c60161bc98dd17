"""Where everything LILA owns lives, and where the files it was shipped with are."""

from __future__ import annotations

import contextlib
import errno
import os
import re
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from lila_app.errors import ConfigError, DiskFullError, ReadOnlyStoreError, StorageError, UsageError

_PROFILE_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")


@dataclass(frozen=True, slots=True)
class Home:
    """The three folders of one LILA; nothing is created until `create` is called.

    With `LILA_HOME` (or `Home.at`) they are `config`, `data` and `state` below `root`; without,
    they are the platform's own and `root` is None.
    """

    root: Path | None
    config_dir: Path
    data_dir: Path
    state_dir: Path

    @classmethod
    def find(cls, environ: Mapping[str, str]) -> Home:
        """The home `environ` asks for with LILA_HOME, else the platform's folders for `lila`."""
        chosen = environ.get("LILA_HOME", "")
        if chosen:
            return cls.at(Path(chosen))
        from platformdirs import PlatformDirs

        dirs = PlatformDirs("lila", appauthor=False)
        return cls(None, dirs.user_config_path, dirs.user_data_path, dirs.user_state_path)

    @classmethod
    def at(cls, root: Path) -> Home:
        """The home below `root`; `~` is expanded and a relative path made absolute."""
        absolute = Path(os.path.abspath(root.expanduser()))  # noqa: PTH100 (resolve follows links)
        return cls(absolute, absolute / "config", absolute / "data", absolute / "state")

    @property
    def settings_file(self) -> Path:
        """What the person chose, TOML."""
        return self.config_dir / "settings.toml"

    @property
    def keys_file(self) -> Path:
        """Keys of model providers, TOML, 0600; used where there is no keyring."""
        return self.config_dir / "keys.toml"

    @property
    def persona_file(self) -> Path:
        """Who LILA is, in the person's own words; absent means the shipped persona."""
        return self.config_dir / "persona.md"

    @property
    def policies_dir(self) -> Path:
        """The person's own policy tables, each replacing the shipped one of the same name."""
        return self.config_dir / "policies"

    @property
    def profiles_dir(self) -> Path:
        """The stores, one file a profile."""
        return self.data_dir / "profiles"

    @property
    def models_dir(self) -> Path:
        """Model weights, shared by all profiles."""
        return self.data_dir / "models"

    @property
    def log_file(self) -> Path:
        """The rotating log; it never holds content."""
        return self.state_dir / "logs" / "lila.log"

    def profile_db(self, name: str) -> Path:
        """The store of profile `name`.

        Names are lower case so that no two of them are one file on a file system that ignores
        case; anything else is a `UsageError`.
        """
        if not _PROFILE_NAME.fullmatch(name):
            raise UsageError(
                f"{name!r} is not a profile name",
                hint="use up to 64 lower-case letters, digits, - and _, starting with a letter "
                "or digit",
            )
        return self.profiles_dir / f"{name}.db"

    def listing(self, profile: str) -> dict[str, str]:
        """Every place by name, for `lila paths`; whether or not it exists yet."""
        places = {
            "settings": self.settings_file,
            "keys": self.keys_file,
            "persona": self.persona_file,
            "policies": self.policies_dir,
            "store": self.profile_db(profile),
            "models": self.models_dir,
            "log": self.log_file,
        }
        return {name: str(place) for name, place in places.items()}

    def create(self) -> None:
        """Make the folders that are missing, each 0700; existing ones are left as they are."""
        for folder in (
            self.config_dir,
            self.policies_dir,
            self.profiles_dir,
            self.models_dir,
            self.log_file.parent,
        ):
            make_private(folder)


def expanded(written: str) -> Path:
    """A path as a person writes it, with `~` as their folder.

    `~ada` stays as it is where there is no Ada, so that whoever looks for it finds nothing.
    """
    return Path(os.path.expanduser(written))  # noqa: PTH111 (the other raises RuntimeError for it)


def make_private(folder: Path) -> None:
    """Make `folder` and its missing parents, 0700 each (`Path.mkdir` gives parents the umask's)."""
    try:
        if folder.is_dir():
            return
        if folder.parent != folder:
            make_private(folder.parent)
        folder.mkdir(mode=0o700, exist_ok=True)
    except OSError as error:
        raise explained(error, folder) from error


def read_text(path: Path, *, missing: str | None = None) -> str:
    """A file the person may have written; `missing` stands for one that is not there.

    Raises `ConfigError` that names the file.
    """
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise ConfigError(
            f"{path} is not UTF-8 (byte {error.start})", hint="save the file as UTF-8"
        ) from error
    except OSError as error:
        if missing is not None and isinstance(error, FileNotFoundError):
            return missing
        raise ConfigError(
            f"{path} cannot be read: {error.strerror}", hint="make the file readable for you"
        ) from error


def write_private(path: Path, text: str) -> None:
    """Replace `path` by `text` in UTF-8, 0600, whole or not at all; a link's target is kept one."""
    target = Path(os.path.realpath(path))
    make_private(target.parent)
    try:
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
        try:
            with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            Path(name).replace(target)
        except BaseException:
            with contextlib.suppress(OSError):
                Path(name).unlink()
            raise
    except OSError as error:
        raise explained(error, target) from error


def explained(error: OSError, path: Path) -> StorageError:
    """The storage error that says in a sentence what the system refused at `path`."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return DiskFullError(
            f"there is no space left to write {path}", hint="free some space and try again"
        )
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        return ReadOnlyStoreError(
            f"{path} cannot be written",
            hint="make it writable for you, or point LILA_HOME at a folder that is",
        )
    if error.errno in (errno.EEXIST, errno.ENOTDIR):
        return StorageError(
            f"{path} is a file where LILA needs a folder",
            hint="move it away, or point LILA_HOME at a folder",
        )
    return StorageError(
        f"{path} cannot be used: {os.strerror(error.errno or 0)}",
        hint="look at the path with `lila paths`, or point LILA_HOME elsewhere",
    )


_PACKAGE = Path(__file__).resolve().parent


@lru_cache(maxsize=8)
def shipped(name: str) -> Path:
    """The folder `name` ("policies", "assets" or "data") LILA was shipped with.

    In a wheel it is inside the package; in a checkout it is beside it.
    """
    for folder in (_PACKAGE / "shipped" / name, _PACKAGE.parent / name):
        if folder.is_dir():
            return folder
    raise StorageError(
        f"LILA's own folder {name!r} is missing from the installation",
        hint="install LILA again",
    )
