"""The branch of a conversation that was followed, where messages name the one before them."""

from __future__ import annotations

from collections.abc import Mapping


def path(leaf: str, parents: Mapping[str, str]) -> list[str]:
    """From the beginning to a leaf, by parents; ends where one is missing or comes twice."""
    found: dict[str, None] = {}
    node = leaf
    while node in parents and node not in found:
        found[node] = None
        node = parents[node]
    return list(reversed(found))


def leaves(parents: Mapping[str, str]) -> list[str]:
    """Messages nothing follows, in the order given; the last one where all are in a circle."""
    followed = set(parents.values())
    return [node for node in parents if node not in followed] or list(parents)[-1:]


def others(taken: list[str], parents: Mapping[str, str]) -> list[list[str]]:
    """What the other branches have of their own, one list a leaf; each message once."""
    seen = set(taken)
    found: list[list[str]] = []
    for leaf in leaves(parents):
        own: list[str] = []
        node = leaf
        while node in parents and node not in seen:
            seen.add(node)
            own.append(node)
            node = parents[node]
        if own:
            found.append(own[::-1])
    return found
