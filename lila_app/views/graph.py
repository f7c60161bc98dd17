"""What front-ends get of the graph beside relations."""

from __future__ import annotations

from dataclasses import dataclass

_KIN = "kin_"


def relation_words(predicate: str) -> str:
    """How a relation is shown to a person: `kin_neighbour` as "neighbour of".

    Every other name is shown as it is, for that is how it is given to `lila graph add`.
    """
    if not predicate.startswith(_KIN):
        return predicate
    return f"{predicate.removeprefix(_KIN).replace('_', ' ')} of"


@dataclass(frozen=True, slots=True)
class EntityInfo:
    """Someone or something by all its names; `relations` is how many are about it."""

    id: str
    name: str
    aliases: tuple[str, ...]
    relations: int


@dataclass(frozen=True, slots=True)
class MergeInfo:
    """Two entities that are taken for one: by name, and why ("spelling", "by hand")."""

    id: str
    kept: str
    gone: str
    why: str
    at: str


@dataclass(frozen=True, slots=True)
class PartedInfo:
    """Two entities again; `later` are relations learnt while they were one, which stayed."""

    kept: EntityInfo
    gone: EntityInfo
    later: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SuggestionInfo:
    """Two entities that may be one, by id and name, and what speaks for it."""

    kept: str
    kept_name: str
    gone: str
    gone_name: str
    reason: str
