"""A question to the search alone, outside any turn."""

from __future__ import annotations

from lila_app import moments
from lila_app.layers.port import Question
from lila_app.resources import Resources
from lila_app.storage.values import storable


def plain_question(resources: Resources, query: str, *, now: str | None = None) -> Question:
    """What the layers' search is asked when a person searches by hand."""
    return Question(
        text=storable(query),
        vector=resources.embed_query(query),
        session_id=None,
        before_sequence=None,
        pack=(),
        now=now or moments.stored(resources.clock()),
        policy=resources.policy,
    )
