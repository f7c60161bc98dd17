"""Which entities may be one: found by rule, decided by the person.

Nothing here merges. A nickname, an initial or a likeness of letters is what two people share as
easily as one has two of them; what was told apart by hand is not suggested again.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from lila_app.storage.entities import EntityRow
from lila_app.storage.naming import base, folded, key

LIKE = 88
"""rapidfuzz's ratio in percent from which spellings are alike: one letter of eight, two of
seventeen. By hand; below it, first names of one ending ("Anna", "Hanna") crowd the list."""

_SHORTEST_LIKE = 5
"""Shorter names are alike by chance."""

MOST_OF_ONE_KIND = 4
"""What more entities than this have in common is no sign that two of them are one."""

_TITLE = re.compile(r"(mr|mrs|ms|miss|dr|doctor|prof|professor|sir|madam|aunt|uncle)\s+(?=\S)")
_DIGITS = re.compile(r"\d+")


@dataclass(frozen=True, slots=True)
class Suggestion:
    """Two entities that may be one, the one to keep first, and what speaks for it."""

    kept: EntityRow
    gone: EntityRow
    reason: str


def suggestions(
    entities: Sequence[EntityRow],
    counts: Mapping[str, int],
    apart: Iterable[frozenset[str]],
    nicknames: Mapping[str, tuple[str, ...]],
) -> tuple[Suggestion, ...]:
    """Pairs that may be one, best reason first, each pair once.

    `counts` are relations by entity id: the entity with more is the one to keep, then the older.
    `apart` are pairs of ids that were told apart.
    """
    told = set(apart)
    found: dict[frozenset[str], Suggestion] = {}
    known = {one.id: one for one in entities}
    for one, other, reason in _found(entities, nicknames):
        pair = frozenset((one, other))
        if len(pair) == 2 and pair not in told and pair not in found:
            kept, gone = sorted(pair, key=lambda id: (-counts.get(id, 0), int(id[1:])))
            found[pair] = Suggestion(known[kept], known[gone], reason)
    return tuple(found.values())


def _found(
    entities: Sequence[EntityRow], nicknames: Mapping[str, tuple[str, ...]]
) -> Iterator[tuple[str, str, str]]:
    names = [
        (folded(name), one.id)
        for one in entities
        for name in (one.name, *one.aliases)
        if not base(name) and key(name) != "me"
    ]
    yield from _shared("the same but for the spelling", names)
    yield from _shared("the same but for a title", [(_untitled(name), id) for name, id in names])
    yield from _shared(
        'the same but for "the"', [(name.removeprefix("the "), id) for name, id in names]
    )
    yield from _nicknamed(names, nicknames)
    yield from _initialled(names)
    yield from _first_names(names)
    yield from _shared("one may be the plural of the other", [(_single(n), id) for n, id in names])
    yield from _alike(names)


def _shared(reason: str, names: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str, str]]:
    """Pairs of entities that have a form of their names in common."""
    by_form: dict[str, dict[str, None]] = defaultdict(dict)
    for form, id in names:
        by_form[form][id] = None
    for ids in by_form.values():
        if len(ids) <= MOST_OF_ONE_KIND:
            for one, other in combinations(ids, 2):
                yield one, other, reason


def _untitled(name: str) -> str:
    return _TITLE.sub("", name, count=1) if _TITLE.match(name) else name


def _single(name: str) -> str:
    return name[:-1] if len(name) > 4 and name.endswith("s") and not name.endswith("ss") else name


def _nicknamed(
    names: Sequence[tuple[str, str]], nicknames: Mapping[str, tuple[str, ...]]
) -> Iterator[tuple[str, str, str]]:
    """One's first name is short for the other's, and nothing else of their names differs."""
    by_name: dict[str, dict[str, None]] = defaultdict(dict)
    for name, id in names:
        by_name[name][id] = None
    for name, id in names:
        first, _, rest = name.partition(" ")
        for short in nicknames.get(first, ()):
            for other in (f"{short} {rest}".strip(), short):
                ids = by_name.get(other, {})
                if len(ids) <= MOST_OF_ONE_KIND:
                    for one in ids:
                        yield id, one, f"{short.capitalize()} is short for {first.capitalize()}"


def _initialled(names: Sequence[tuple[str, str]]) -> Iterator[tuple[str, str, str]]:
    """One has an initial where the other has a first name before the same last one."""
    by_end: dict[tuple[str, str], list[tuple[str, str]]] = defaultdict(list)
    for name, id in names:
        words = name.split()
        if len(words) > 1:
            by_end[words[0][0], words[-1]].append((words[0], id))
    for group in by_end.values():
        if 1 < len(group) <= MOST_OF_ONE_KIND:
            for (first, one), (second, other) in combinations(group, 2):
                if (len(first) == 1) != (len(second) == 1):
                    yield one, other, "the initial and the last name are the same"


def _first_names(names: Sequence[tuple[str, str]]) -> Iterator[tuple[str, str, str]]:
    """One is called by a first name that the other begins with."""
    by_first: dict[str, dict[str, None]] = defaultdict(dict)
    single: dict[str, dict[str, None]] = defaultdict(dict)
    for name, id in names:
        words = name.split()
        if len(words) > 1:
            by_first[words[0]][id] = None
        elif words:
            single[words[0]][id] = None
    for first, ids in single.items():
        full = by_first.get(first, {})
        if len(full) <= MOST_OF_ONE_KIND:
            for one in ids:
                for other in full:
                    yield other, one, "the first name is the same"


def _alike(names: Sequence[tuple[str, str]]) -> Iterator[tuple[str, str, str]]:
    """Names of the same first letter and the same numbers that nearly have the same letters."""
    import numpy as np
    from rapidfuzz import fuzz, process

    blocks: dict[tuple[str, ...], list[tuple[str, str]]] = defaultdict(list)
    for name, id in names:
        if len(name) >= _SHORTEST_LIKE:
            blocks[name[0], *_DIGITS.findall(name)].append((name, id))
    for block in blocks.values():
        texts = [name for name, _ in block]
        # All pairs at once: one by one they take a hundred times as long.
        ratios = process.cdist(texts, texts, scorer=fuzz.ratio, score_cutoff=LIKE, dtype=np.uint8)
        for one, other in np.argwhere(np.triu(ratios, 1)).tolist():
            if block[one][1] != block[other][1]:
                yield block[one][1], block[other][1], f"spelt alike ({ratios[one, other]} %)"
