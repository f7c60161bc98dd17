"""The door of a façade while the store holds placeholders: values in, placeholders behind it.

What a person says goes in redacted and what they are shown comes out restored, in this one place,
so that no façade knows of it. Where nothing was ever redacted before storage there is no door.
"""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, TypeVar, cast

from lila_app.privacy.sinks import Privacy

T = TypeVar("T")

_KEPT = ("text", "title", "subject", "object", "alias")
"""Parameters whose text is stored."""
_SOUGHT = ("query",)
"""Those that are looked for."""
_NAMED = ("entity", "a", "b", "name", "kept", "gone")
"""Those that name something whole."""


def through(privacy: Privacy, facade: T) -> T:
    """The façade itself, or its door."""
    return cast(T, _Door(privacy, facade)) if privacy.restoring else facade


class _Door:
    def __init__(self, privacy: Privacy, facade: object) -> None:
        self._privacy = privacy
        self._facade = facade

    def __getattr__(self, name: str) -> object:
        found = getattr(self._facade, name)
        return partial(self._call, found) if callable(found) else found

    def _call(self, method: Callable[..., object], *given: object, **named: object) -> object:
        bound = inspect.signature(method).bind(*given, **named)
        for name, value in bound.arguments.items():
            if isinstance(value, str):
                bound.arguments[name] = self._inward(name, value)
        return shown(self._privacy, method(*bound.args, **bound.kwargs))

    def _inward(self, name: str, text: str) -> str:
        if name in _KEPT:
            return self._privacy.kept(text)
        if name in _SOUGHT:
            return self._privacy.sought(text)
        return self._privacy.named(text) if name in _NAMED else text


def shown(privacy: Privacy, value: T) -> T:
    """A view with every text in it as the person sees it."""
    return cast(T, _shown(privacy, value))


def _shown(privacy: Privacy, value: object) -> object:
    if isinstance(value, str):
        return privacy.shown(value)
    if isinstance(value, tuple):
        return tuple(_shown(privacy, one) for one in cast("tuple[object, ...]", value))
    if isinstance(value, list):
        return [_shown(privacy, one) for one in cast("list[object]", value)]
    if isinstance(value, Mapping):
        mapping = cast("Mapping[str, object]", value)
        return {key: _shown(privacy, one) for key, one in mapping.items()}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        plain = cast(Any, value)
        fields = [field.name for field in dataclasses.fields(plain) if field.init]
        return dataclasses.replace(
            plain, **{name: _shown(privacy, getattr(plain, name)) for name in fields}
        )
    return value
