"""Which of two finds that overlap stays."""

from hypothesis import given
from hypothesis import strategies as st

from lila_app.privacy.spans import Span, resolved


def test_the_longest_stays_and_of_equals_the_leftmost() -> None:
    found = resolved([Span(5, 9, "place"), Span(0, 12, "address"), Span(20, 24, "mail")])
    assert found == (Span(0, 12, "address"), Span(20, 24, "mail"))
    assert resolved([Span(2, 6, "place"), Span(0, 4, "person")]) == (
        Span(0, 4, "person"),
        Span(4, 6, "place"),
    )


def test_what_sticks_out_of_a_longer_find_is_not_shown() -> None:
    found = resolved([Span(0, 6, "person"), Span(4, 14, "mail"), Span(12, 16, "phone")])
    assert found == (Span(0, 4, "person"), Span(4, 14, "mail"), Span(14, 16, "phone"))


def test_of_two_over_the_same_characters_the_first_given_stays() -> None:
    assert resolved([Span(0, 4, "phone"), Span(0, 4, "account")]) == (Span(0, 4, "phone"),)
    assert resolved([Span(0, 4, "phone"), Span(0, 4, "denied")]) == (Span(0, 4, "denied"),)


def test_of_two_ranks_the_first_keeps_all_it_found() -> None:
    account, longer = Span(4, 9, "account"), Span(0, 12, "organisation")
    assert resolved([longer, account]) == (longer,)
    assert resolved([account], [longer, account]) == (
        Span(0, 4, "organisation"), account, Span(9, 12, "organisation"),
    )  # fmt: skip


def test_nothing_longer_takes_in_what_looks_like_a_placeholder() -> None:
    found = resolved([Span(0, 20, "address"), Span(5, 12, "lookalike")])
    assert found == (Span(0, 5, "address"), Span(5, 12, "lookalike"), Span(12, 20, "address"))


_SPANS = st.lists(
    st.tuples(st.integers(0, 40), st.integers(1, 12), st.sampled_from(["mail", "phone", "person"]))
)


@given(_SPANS)
def test_the_same_characters_are_covered_once(found: list[tuple[int, int, str]]) -> None:
    spans = [Span(start, start + length, kind) for start, length, kind in found]  # type: ignore[arg-type]
    kept = resolved(spans)
    covered = [place for one in kept for place in range(one.start, one.end)]
    assert len(covered) == len(set(covered))
    assert set(covered) == {place for one in spans for place in range(one.start, one.end)}
    assert list(kept) == sorted(kept, key=lambda one: one.start)
