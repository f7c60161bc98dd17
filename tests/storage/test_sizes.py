from __future__ import annotations

from lila_app.storage.connection import Store
from lila_app.storage.sizes import Sizes, block_sizes
from tests.storage.builders import save, sized


def test_sizes_are_means_over_the_prompts_of_a_use_case_and_a_missing_block_counts_as_none(
    store: Store,
) -> None:
    sized(store, "chat", 4_000, identity=100, conversation=301)
    sized(store, "chat", 4_000, identity=100)
    sized(store, "voice", 4_000, identity=999)
    assert block_sizes(store, "chat", 4_000) == Sizes(2, {"identity": 100, "conversation": 151})


def test_prompts_made_under_other_limits_say_nothing(store: Store) -> None:
    sized(store, "chat", 1_200, identity=100)
    save(store, None, [])  # a record that says nothing of limits
    assert block_sizes(store, "chat", 4_000) == Sizes(0, {})
