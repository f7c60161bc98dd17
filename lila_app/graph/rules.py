"""policies/graph.toml as checked values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import cast

from lila_app.context import Source
from lila_app.declared import Table, inner, loaded, number, only, refused

SCORES = (
    "answer", "partial", "directed", "between", "path", "connection", "near", "near_me", "asked",
    "elsewhen_bp",
)  # fmt: skip
_WALK = ("damping_bp", "rounds", "full_bp", "nothing_bp", "person_bp")
_LIMITS = ("entities", "relations", "least", "near", "reach", "path")
_ROLE = ("words", "forward", "backward", "weak", "weak_forward", "weak_backward")
_TABLES = ("scores", "walk", "limits", "past", "connection", "roles", "nicknames")


@dataclass(frozen=True, slots=True)
class Scores:
    """What kinds of evidence are worth, 0..10,000; `elsewhen_bp` is a share in basis points."""

    answer: int
    partial: int
    directed: int
    between: int
    path: tuple[int, ...]
    connection: int
    near: int
    near_me: int
    asked: int
    elsewhen_bp: int


@dataclass(frozen=True, slots=True)
class Walk:
    """Personalised PageRank: shares in basis points, `rounds` of the iteration."""

    damping_bp: int
    rounds: int
    full_bp: int
    nothing_bp: int
    person_bp: int


@dataclass(frozen=True, slots=True)
class Limits:
    """How far a question goes."""

    entities: int
    relations: int
    least: int
    near: int
    reach: int
    path: int


@dataclass(frozen=True, slots=True)
class Role:
    """Predicates that lead from somebody to who has the role for them.

    `forward` have the somebody as subject, `backward` as object; `weak_forward` and
    `weak_backward` are tried where those lead nowhere.
    """

    forward: frozenset[str]
    backward: frozenset[str]
    weak_forward: frozenset[str] = frozenset()
    weak_backward: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Rules:
    """The table in force; `roles` by each of their words, words in lower case."""

    scores: Scores
    walk: Walk
    limits: Limits
    past: tuple[str, ...]
    connection: tuple[str, ...]
    roles: Mapping[str, Role]
    nicknames: Mapping[str, tuple[str, ...]]
    inverses: Mapping[str, str]

    def role(self, words: str) -> Role:
        """The role of this name, by what is declared and by the predicates named after it."""
        role = self.roles.get(words) or Role(_forward(words), _backward(words))
        inverse = self.inverses
        return replace(
            role,
            weak_forward=role.weak_forward
            | {inverse[one] for one in role.backward if one in inverse},
            weak_backward=role.weak_backward
            | {inverse[one] for one in role.forward if one in inverse},
        )


def _forward(words: str) -> frozenset[str]:
    name = words.replace(" ", "_")
    return frozenset({name, f"has_{name}"})


def _backward(words: str) -> frozenset[str]:
    name = words.replace(" ", "_")
    return frozenset({f"{name}_of", f"kin_{name}"})


def load(sources: Sequence[Source], inverses: Mapping[str, str]) -> Rules:
    """The table the sources declare, later ones laid over earlier. Raises `PolicyError`.

    `inverses` are the predicates that say the same the other way round.
    """
    merged: dict[str, dict[str, object]] = {name: {} for name in _TABLES}
    for source in sources:
        table = loaded(source)
        only(source, "", table, ("version", *_TABLES))
        for name in _TABLES:
            merged[name].update(inner(source, name, table.get(name, {})))
    last = sources[-1]
    scores = _numbers(last, "scores", merged["scores"], SCORES, skip=("path",))
    steps = _steps(last, merged["scores"].get("path"))
    return Rules(
        scores=Scores(path=steps, **scores),
        walk=Walk(**_numbers(last, "walk", merged["walk"], _WALK)),
        limits=Limits(**_numbers(last, "limits", merged["limits"], _LIMITS)),
        past=_words(last, "past.words", merged["past"].get("words")),
        connection=_words(last, "connection.words", merged["connection"].get("words")),
        roles=_roles(last, merged["roles"]),
        nicknames={
            name: _words(last, f"nicknames.{name}", found)
            for name, found in merged["nicknames"].items()
        },
        inverses=inverses,
    )


def _numbers(
    source: Source, name: str, table: Table, keys: Sequence[str], skip: Sequence[str] = ()
) -> dict[str, int]:
    only(source, name, table, keys)
    return {
        key: number(source, f"{name}.{key}", table.get(key), (1, 10_000))
        for key in keys
        if key not in skip
    }


def _steps(source: Source, found: object) -> tuple[int, ...]:
    if not isinstance(found, list):
        raise refused(source, "scores.path", found, "a list of numbers")
    return tuple(
        number(source, "scores.path", one, (1, 10_000)) for one in cast("list[object]", found)
    )


def _words(source: Source, key: str, found: object) -> tuple[str, ...]:
    if not isinstance(found, list):
        raise refused(source, key, found, "a list of words")
    words = cast("list[object]", found)
    for one in words:
        if not isinstance(one, str) or not one or one != one.lower():
            raise refused(source, key, one, "words in lower case")
    return tuple(cast("list[str]", words))


def _roles(source: Source, table: Table) -> dict[str, Role]:
    roles: dict[str, Role] = {}
    for name, found in table.items():
        role = inner(source, f"roles.{name}", found)
        only(source, f"roles.{name}", role, _ROLE)
        lists = {key: _words(source, f"roles.{name}.{key}", role.get(key, [])) for key in _ROLE}
        forward, backward = set(lists["forward"]), set(lists["backward"])
        for words in lists["words"]:
            forward |= _forward(words)
            backward |= _backward(words)
        made = Role(
            frozenset(forward),
            frozenset(backward),
            frozenset((*lists["weak"], *lists["weak_forward"])),
            frozenset((*lists["weak"], *lists["weak_backward"])),
        )
        roles.update(dict.fromkeys(lists["words"], made))
    return roles
