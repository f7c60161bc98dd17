"""What a person may choose: one TOML file, environment variables above it, nothing else.

The sentence under each field is its documentation. `LILA_MODEL=…` in the environment beats
`model = …` in the file; nested keys take two underscores (`LILA_PROVIDERS__LOCAL__BASE_URL`).
"""

from __future__ import annotations

import difflib
import os
import re
import tomllib
from collections.abc import Mapping
from decimal import Decimal
from functools import lru_cache
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin
from zoneinfo import ZoneInfo, available_timezones

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator
from pydantic_core import ErrorDetails
from pydantic_settings import (
    BaseSettings,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    SettingsError,
)

from lila_app.errors import ConfigError
from lila_app.paths import Home, read_text, write_private

_WITH_ADDRESS = ("anthropic", "openai", "gemini")
"""Providers that have an address of their own."""

Tokens = Annotated[int, Field(ge=1)]


class ProviderSettings(BaseModel):
    """A server that speaks the OpenAI protocol (Ollama, llama-server, LM Studio, vLLM).

    Under the names anthropic, openai and gemini it says where those providers are reached instead.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)

    base_url: str = ""
    """Where it listens, with the version path, as in `http://127.0.0.1:11434/v1`.

    For anthropic and gemini without it, as their SDKs want it; empty is their own address.
    """

    api_key_env: str = ""
    """Name of the environment variable that holds its key; empty for none of its own."""

    @field_validator("base_url")
    @classmethod
    def _is_url(cls, value: str) -> str:
        if value and not re.fullmatch(r"https?://\S+", value):
            raise ValueError(f"{value!r} is not an address such as http://127.0.0.1:11434/v1")
        return value

    @field_validator("api_key_env")
    @classmethod
    def _is_variable(cls, value: str) -> str:
        # Not quoted: who puts something else here most likely puts the key itself.
        if value and not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", value):
            raise ValueError(
                "it takes the name of an environment variable, and never a key; "
                "`lila keys set` keeps one"
            )
        return value


class ModelSettings(BaseModel):
    """Limits of one model, where the person knows better than the shipped table."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)

    window: Tokens | None = None
    """The model's context window in tokens."""

    context_budget: Tokens | None = None
    """How many tokens of prompt LILA chooses to spend on it."""


class MemorySettings(BaseModel):
    """How LILA comes to remember things."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)

    learn: bool = True
    """Whether what you say is looked through for facts, on this machine and without a model."""

    use_model: bool = False
    """Whether a model may help with that, with summaries and with the titles of conversations
    (`extraction`, `summary` and `title` in `policies/gateway.toml`). It is asked in the background
    and costs what it costs; off, nothing is sent anywhere for it. A model on your own machine that
    is capable enough is asked anyway.
    """

    writes: Literal["ask", "undoable"] = "ask"
    """What happens when the model wants to write to memory itself: `ask` asks you every time,
    `undoable` does it, says so, and `lila memory undo` takes it back.
    """


class VoiceSettings(BaseModel):
    """How LILA listens and speaks."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)

    microphone: str = ""
    """Part of the microphone's name (`lila voice devices` lists them); empty is the system's."""

    speaker: str = ""
    """Part of the speaker's name; empty is the system's."""

    headphones: bool = False
    """Whether you listen on headphones, so that LILA may listen while it speaks."""

    language: str = "en"
    """The language you speak, as in `en` or `de`; what is heard is read as that one alone."""

    recogniser: str = "whisper-base"
    """What reads your speech: `whisper-base`, `whisper-tiny.en` (quicker, English only), another
    name of faster-whisper's, or a folder with a model of that kind.
    """

    engine: Literal["", "espeak", "pyttsx3", "piper"] = ""
    """What speaks: `espeak` (Linux), `pyttsx3` (the system's voices), `piper` (an extra). Empty is
    espeak where it is, else pyttsx3.
    """

    voice: str = ""
    """The engine's voice, or for piper the voice's file; empty is one for your language."""

    words_per_minute: Annotated[int, Field(ge=80, le=450)] = 175
    """How fast LILA speaks."""

    fast: bool = False
    """Whether LILA answers sooner after you fall silent, and so cuts you off more often."""

    continuity: bool = False
    """Whether a spoken reply sees what was said before in the conversation (`voice_continuity` in
    `policies/allocation.toml`); `lila voice stats` shows what that costs.
    """

    @field_validator("language")
    @classmethod
    def _is_code(cls, value: str) -> str:
        if not re.fullmatch(r"[a-z]{2,3}", value):
            raise ValueError(
                f"{value!r} is not the code of a language, which has two or three small letters: "
                "`en` for English, `de` for German"
            )
        return value


class Settings(BaseSettings):
    """Everything a person may set in settings.toml."""

    model_config = SettingsConfigDict(
        env_prefix="LILA_",
        env_nested_delimiter="__",
        extra="forbid",
        frozen=True,
        use_attribute_docstrings=True,
    )

    timezone: str = ""
    """IANA name of the zone the person lives in, as in `Europe/Berlin`; empty is the system's."""

    model: str = ""
    """The model that replies, as `provider/model`; empty is the embedded one."""

    providers: dict[str, ProviderSettings] = {}
    """Servers by the name you give them: `[providers.local]` is asked for as `local/model`."""

    models: dict[str, ModelSettings] = {}
    """Limits by model: `[models."embedded/smollm2-135m"]`."""

    monthly_budget_usd: Annotated[Decimal, Field(gt=0)] | None = None
    """What models may cost in a calendar month, in US dollars. At 80 % you are told; at 100 % only
    models on your own machine are asked. Empty is no limit. `lila cost usage` shows what is spent.
    """

    memory: MemorySettings = MemorySettings()
    """How LILA comes to remember things: `[memory]`."""

    voice: VoiceSettings = VoiceSettings()
    """How LILA listens and speaks: `[voice]`."""

    @field_validator("timezone")
    @classmethod
    def _known_zone(cls, value: str) -> str:
        if value and value not in _known_zones():
            near = difflib.get_close_matches(value, sorted(_known_zones()), n=1)
            meant = f"; did you mean {near[0]}?" if near else ""
            raise ValueError(f"{value!r} is not an IANA time zone{meant}")
        return value

    @field_validator("providers")
    @classmethod
    def _have_addresses(cls, value: dict[str, ProviderSettings]) -> dict[str, ProviderSettings]:
        for name, entry in value.items():
            if not entry.base_url and name not in _WITH_ADDRESS:
                raise ValueError(f"{name} has no base_url, such as http://127.0.0.1:11434/v1")
        return value

    @property
    def zone(self) -> ZoneInfo:
        """The zone times are shown in."""
        return ZoneInfo(self.timezone or system_timezone())

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """The environment above what `load` read from the file; no dotenv, no secrets folder."""
        del settings_cls, dotenv_settings, file_secret_settings
        return env_settings, init_settings


def load(home: Home) -> Settings:
    """The person's settings; defaults where there is no file.

    Raises `ConfigError` that names the file (or the variable), the key and what is allowed.
    """
    path = home.settings_file
    return _validated(path, read_text(path, missing=""))


def set_value(home: Home, key: str, value: str | int | bool) -> None:
    """Set one key in the person's settings file, keeping comments and order.

    `key` is written as in TOML, so a name with a dot or slash is quoted:
    `models."local/llama3.2".context_budget`. Nothing is written when the result is not valid.
    """
    import tomlkit
    from tomlkit.items import Table

    load(home)  # a file that is already wrong is reported, not overwritten
    path = home.settings_file
    document = tomlkit.parse(path.read_text(encoding="utf-8") if path.exists() else "")
    *parents, last = _key_path(key)
    table: Any = document
    for name in parents:
        if name not in table:
            created: Table = tomlkit.table(is_super_table=name != parents[-1])
            table[name] = created
        table = table[name]
    table[last] = value
    text = tomlkit.dumps(document)
    _validated(path, text)
    write_private(path, text)


def system_timezone() -> str:
    """The IANA name this machine is set to, "UTC" when it does not say.

    The TZ variable is left out on purpose: it belongs to one process, and the same turn must
    give the same bytes whichever process assembles it.
    """
    zones = _known_zones()
    _, found, name = os.path.realpath("/etc/localtime").partition("zoneinfo/")
    if found and name in zones:
        return name
    try:
        name = Path("/etc/timezone").read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError):
        return "UTC"
    return name if name in zones else "UTC"


@lru_cache(maxsize=1)
def _known_zones() -> frozenset[str]:
    """Looked up once: it walks the zone database, 5 ms, and a turn asks for the zone."""
    return frozenset(available_timezones())


def _key_path(key: str) -> list[str]:
    """The names in a dotted TOML key, unquoted."""
    try:
        node: dict[str, Any] = tomllib.loads(f"{key} = 0")
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(
            f"{key!r} is not a settings key", hint="quote names that hold a dot or a slash"
        ) from error
    parts: list[str] = []
    while node:
        ((name, inner),) = node.items()
        parts.append(name)
        node = inner or {}
    return parts


def _validated(path: Path, text: str) -> Settings:
    try:
        values = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{path} is not TOML: {error}", hint=f"correct {path}") from error
    try:
        return Settings(**values)
    except SettingsError as error:
        raise ConfigError(
            f"a LILA_ environment variable cannot be read: {error}",
            hint="write tables as LILA_PROVIDERS__LOCAL__BASE_URL=…",
        ) from error
    except ValidationError as error:
        details = error.errors(include_url=False)
        # A misspelt key is also a missing one; only the first says what to do.
        details.sort(key=lambda detail: detail["type"] != "extra_forbidden")
        raise _config_error(path, details[0]) from error


def _config_error(path: Path, detail: ErrorDetails) -> ConfigError:
    location = [str(part) for part in detail["loc"]]
    variable = "LILA_" + "__".join(location).upper()
    place = f"environment variable {variable}" if variable in os.environ else str(path)
    key = ".".join(part if part.isidentifier() else f'"{part}"' for part in location)
    if detail["type"] == "extra_forbidden":
        allowed = _fields_at(location[:-1])
        near = difflib.get_close_matches(location[-1], allowed, n=1)
        hint = f"did you mean {near[0]}?" if near else f"allowed here: {', '.join(allowed)}"
        if near == ["api_key_env"]:
            hint = "`lila keys set` keeps a key; api_key_env names the variable that holds one"
        return ConfigError(f"{place}: there is no setting {key}", hint=hint)
    reason = detail["msg"].removeprefix("Value error, ")
    return ConfigError(f"{place}: {key}: {reason}", hint=f"correct {place}")


def _fields_at(location: list[str]) -> list[str]:
    """Names allowed below `location`, walking through dicts of models."""
    model: type[BaseModel] = Settings
    remaining = list(location)
    while remaining:
        inner = _model_in(model.model_fields[remaining.pop(0)].annotation)
        if inner is None:
            return []
        model = inner
        remaining = remaining[1:]  # the name the person gave the table
    return list(model.model_fields)


def _model_in(annotation: object) -> type[BaseModel] | None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    if get_origin(annotation) in (dict, Mapping, Union, UnionType):
        return next(filter(None, map(_model_in, get_args(annotation))), None)
    return None
