from __future__ import annotations

import re

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from lila_app.documents.chunk import CAP, TARGET, chunk
from lila_app.documents.markdown import blocks
from lila_app.documents.model import Chunk, Part
from lila_app.embedding import load_counter

_tokens = load_counter()


def words(text: str) -> int:
    return len(text.split())


def markdown(text: str) -> tuple[Part, ...]:
    return (Part(text, markdown=True, first_line=1),)


def bare(text: str) -> str:
    return "".join(text.split())


def in_order(needle: str, hay: str) -> bool:
    """Whether the characters of `needle` occur in `hay` in that order."""
    rest = iter(hay)
    return all(character in rest for character in needle)


AFTER = "What comes after it has words enough to stand alone."

TRIP = """# Trip

Before anything else.

## Lisbon

We fly on Friday.
The hotel is near the river.

### Hotel

Breakfast is included.

## Porto

Two nights, then home.
"""


def test_chunks_follow_headings_and_know_their_path_and_line() -> None:
    chunks = chunk(markdown(TRIP), words)
    assert [(c.heading, c.text, c.first_line) for c in chunks] == [
        ("Trip", "Before anything else.", 3),
        ("Trip › Lisbon", "We fly on Friday.\nThe hotel is near the river.", 7),
        ("Trip › Lisbon › Hotel", "Breakfast is included.", 12),
        ("Trip › Porto", "Two nights, then home.", 16),
    ]


def test_tokens_are_those_of_the_text() -> None:
    assert [c.tokens for c in chunk(markdown(TRIP), words)] == [3, 10, 3, 4]


def test_a_heading_with_nothing_under_it_is_still_found() -> None:
    text = "# A\n## Empty\n## Full\ntext\n# Last"
    assert [(c.heading, c.text, c.first_line) for c in chunk(markdown(text), words)] == [
        ("A › Empty", "Empty", 2),
        ("A › Full", "text", 4),
        ("Last", "Last", 5),
    ]


def test_underlined_headings_count_but_rules_tables_and_lists_do_not() -> None:
    text = "Title\n=====\n\nBody\n\n---\n\nSub\n---\n- item\n---\nend\n"
    assert [(c.heading, c.text) for c in chunk(markdown(text), words)] == [
        ("Title", "Body\n\n---"),
        ("Title › Sub", "- item\n---\nend"),
    ]


def test_number_signs_inside_a_fence_are_no_headings() -> None:
    text = "# Real\n\n```sh\n# comment\nls\n```\n\n    # indented\n\n#hashtag\n"
    chunks = chunk(markdown(text), words)
    assert {c.heading for c in chunks} == {"Real"}
    assert "# comment" in chunks[0].text


def test_front_matter_is_kept_and_is_no_heading() -> None:
    text = "---\ntitle: Notes\ntags: [a, b]\n---\n\n# H\n\nbody\n"
    assert [(c.heading, c.text) for c in chunk(markdown(text), words)] == [
        ("", "---\ntitle: Notes\ntags: [a, b]\n---"),
        ("H", "body"),
    ]


def test_a_fence_past_the_target_stays_whole_within_the_cap() -> None:
    code = "```python\n" + "\n".join(f"call({n})" for n in range(30)) + "\n```"
    chunks = chunk(markdown(f"Before.\n\n{code}\n\nAfter."), words, target=20, cap=40)
    assert any(code in c.text for c in chunks)
    assert all(c.tokens <= 40 for c in chunks)


def test_a_fence_past_the_cap_is_cut_between_lines_and_each_part_is_a_fence() -> None:
    lines = [f"call({n})" for n in range(100)]
    text = "```python\n" + "\n".join(lines) + "\n```\n"
    chunks = chunk(markdown(text), words, target=20, cap=40)
    assert len(chunks) == 6  # 20 less the two marks: 18 lines a chunk
    for piece in chunks:
        assert piece.text.startswith("```python\n")
        assert piece.text.endswith("\n```")
    assert [line for c in chunks for line in c.text.split("\n")[1:-1]] == lines
    assert [c.first_line for c in chunks] == [2, 20, 38, 56, 74, 92]


def test_a_fence_left_open_is_cut_and_closed() -> None:
    text = "~~~~\n" + "x y z\n" * 50
    for piece in chunk(markdown(text), words, target=20, cap=40):
        assert re.fullmatch(r"~~~~\n(x y z\n)+~~~~", piece.text)


def test_a_table_past_the_cap_repeats_its_header() -> None:
    header = "| name | age |\n| --- | --- |\n"
    rows = [f"| p{n} | {n} |" for n in range(40)]
    chunks = chunk(markdown("# T\n\n" + header + "\n".join(rows)), words, target=40, cap=60)
    assert len(chunks) > 3
    for piece in chunks:
        assert piece.text.startswith(header)
        assert piece.heading == "T"
    assert [line for c in chunks for line in c.text.split("\n")[2:]] == rows


def test_a_long_paragraph_is_cut_between_sentences() -> None:
    text = " ".join(f"Sentence {n} has exactly six words." for n in range(20))
    chunks = chunk(markdown(text), words, target=20, cap=40)
    assert all(c.text.endswith("words.") for c in chunks)
    assert [c.tokens for c in chunks] == [18, 18, 18, 18, 18, 18, 12]


def test_a_short_rest_joins_what_is_before_it() -> None:
    text = " ".join(["One two three four five six."] * 3 + ["Rest."])
    assert [c.tokens for c in chunk(markdown(text), words, target=18, cap=40)] == [19]


def test_a_line_that_announces_a_long_block_stays_with_it() -> None:
    code = "```\n" + "a b\n" * 12 + "```"
    (piece,) = chunk(markdown(f"Run this:\n\n{code}\n"), words, target=20, cap=40)
    assert piece.text == f"Run this:\n\n{code}"


def test_plain_text_has_no_headings() -> None:
    (piece,) = chunk((Part("# not a heading\n\ntext", first_line=1),), words)
    assert (piece.heading, piece.text) == ("", "# not a heading\n\ntext")


def test_a_chunk_never_crosses_a_page() -> None:
    pages = (Part("one", page=1, heading=("Book",)), Part("two", page=2, heading=("Book", "II")))
    assert [(c.text, c.page, c.heading) for c in chunk(pages, words)] == [
        ("one", 1, "Book"),
        ("two", 2, "Book › II"),
    ]


def test_log_lines_are_cut_between_lines() -> None:
    lines = [f"2026-11-{n % 30 + 1:02d} worker {n} failed. Retrying at once" for n in range(60)]
    chunks = chunk((Part("\n".join(lines), first_line=1),), words, target=30, cap=60)
    assert [line for c in chunks for line in c.text.split("\n")] == lines


@pytest.mark.slow
@pytest.mark.parametrize(
    ("before", "unit", "times", "after"),
    [
        ("", "x", 300_000, ""),
        ("", " ", 300_000, "x"),
        ("# ", " ", 300_000, "x"),
        ("|", " ", 300_000, "x|\n|-|"),
        ("|a|\n", " ", 300_000, "x|\n"),
        ("", ".", 300_000, ""),
        ("", '!"', 150_000, ""),
        ("", "`", 300_000, "\na"),
        ("", "- a\n", 60_000, ""),
        ("", "# a\n", 30_000, ""),
        ("", "|a|\n", 60_000, ""),
        ("|a|\n|-|\n", "|a|\n", 60_000, ""),
        ("```\n", "a\n", 100_000, "```"),
        ("", "a\n---\n", 30_000, ""),
        ("", "漢", 100_000, ""),
        ("", "\u0301", 100_000, ""),
    ],
)
@pytest.mark.timeout(60)
def test_monstrous_text_is_cut_in_bounded_time(
    before: str, unit: str, times: int, after: str
) -> None:
    chunks = chunk(markdown(before + unit * times + after), _tokens)
    assert all(c.tokens <= CAP for c in chunks)


_LINES = st.lists(
    st.one_of(
        st.text(max_size=40),
        st.sampled_from(
            [
                "", "", "# A", "## B b", "### C #", "#", "###### F", "===", "---", "```", "```py",
                "~~~", "| a | b |", "| - | - |", "|x|y|", "- item", "1. one", "> q", "    code",
                "Sentence one. Sentence two! Three? 漢字。かな。", "word " * 30, "x" * 90, "\t",
            ]
        ),
    ),
    max_size=40,
).map("\n".join)  # fmt: skip


@settings(max_examples=300, deadline=None)
@given(_LINES, st.integers(1, 30), st.integers(0, 30))
@example("```\n" + "a\n" * 30, 5, 3)
def test_nothing_of_a_plain_text_is_lost_or_moved(text: str, target: int, more: int) -> None:
    chunks = chunk((Part(text, first_line=1),), len, target=target, cap=target + more)
    assert bare("".join(c.text for c in chunks)) == bare(text)


@settings(max_examples=300, deadline=None)
@given(_LINES, st.integers(1, 30), st.integers(0, 30))
@example("| a | b |\n| - | - |\n" + "|x|y|\n" * 30, 30, 3)
@example("```py\n" + "word " * 30, 20, 3)
@example("## B b\n###### F\n# A", 9, 9)
def test_every_word_of_a_markdown_text_is_in_some_chunk(text: str, target: int, more: int) -> None:
    chunks = chunk(markdown(text), words, target=target, cap=target + more)
    bodies = bare("".join(c.text for c in chunks))
    headings = " ".join(c.heading for c in chunks)
    # Number signs and underlines that make a heading are not words.
    for word in re.sub(r"(?m)^ {0,3}(#+|=+|-+)(?=\s|$)|#+\s*$", "", text).split():
        assert word in bodies or word in headings


@settings(max_examples=300, deadline=None)
@given(_LINES, st.integers(1, 30), st.integers(0, 30))
def test_body_words_keep_their_order(text: str, target: int, more: int) -> None:
    chunks = chunk(markdown(text), words, target=target, cap=target + more)
    body = [line for line in _body(text) if line.strip()]
    assert in_order(bare("\n".join(body)), bare("\n".join(c.text for c in chunks)))


def _body(text: str) -> list[str]:
    """Lines that can be no heading under any reading: no sign, no underline after them."""
    lines = text.split("\n")
    following = [*lines[1:], ""]
    return [
        line
        for line, after in zip(lines, following, strict=True)
        if not line.lstrip().startswith(("#", "=", "-"))
        and not after.lstrip().startswith(("=", "-"))
    ]


@settings(max_examples=200, deadline=None)
@given(_LINES)
@example("𐀀" * 10 + "\n===")
def test_no_chunk_is_blank_over_the_cap_or_miscounted(text: str) -> None:
    for piece in chunk(markdown(text), _tokens, target=12, cap=25):
        assert piece.text.strip()
        assert piece.text == piece.text.rstrip()
        assert piece.tokens == _tokens(piece.text)
        assert piece.tokens <= 25 or len(piece.text) == 1


@settings(max_examples=200, deadline=None)
@given(_LINES)
@example("```\n\n" + "0\n" * 9 + "0 0 0\n" * 9)
def test_first_lines_rise_and_point_at_the_chunk(text: str) -> None:
    chunks = chunk(markdown(text), words, target=12, cap=25)
    lines = text.split("\n")
    firsts = [c.first_line or 0 for c in chunks]
    assert firsts == sorted(firsts)
    for piece in chunks:
        at = (piece.first_line or 0) - 1
        candidates = [line.strip() for line in piece.text.split("\n") if line.strip()]
        assert any(c in " ".join(lines[at].split()) or c in lines[at] for c in candidates)


@settings(max_examples=100, deadline=None)
@given(_LINES)
def test_the_cap_holds_even_where_the_whole_counts_more_than_its_parts(text: str) -> None:
    def steep(text: str) -> int:
        return len(text) ** 2 // 20

    chunks = chunk((Part(text),), steep, target=30, cap=40)
    assert all(c.tokens <= 40 for c in chunks)
    assert bare("".join(c.text for c in chunks)) == bare(text)


def test_the_real_sizes_hold_for_real_prose() -> None:
    prose = "The starter wants feeding twice a day, at eight and at eight. " * 400
    chunks: tuple[Chunk, ...] = chunk(markdown(prose), _tokens)
    assert all(c.tokens <= TARGET for c in chunks)
    assert all(c.tokens > TARGET * 0.9 for c in chunks[:-1])


def test_a_list_past_the_target_stays_whole_within_the_cap_with_what_announces_it() -> None:
    items = "\n\n".join(f"- item {n}\n  with a line under it" for n in range(5))
    chunks = chunk(markdown(f"# Trip\n\nBring:\n\n{items}\n\n{AFTER}"), words, target=20, cap=45)
    assert chunks[0].text == f"Bring:\n\n{items}"
    assert [c.text for c in chunks[1:]] == [AFTER]


def test_a_list_past_the_cap_is_cut_between_items_with_what_is_under_them() -> None:
    items = [f"- item {n}\n  - under it, in six words\n\n  and more" for n in range(12)]
    chunks = chunk(markdown("\n".join(items) + "\n"), words, target=22, cap=30)
    assert len(chunks) == 6
    assert all(c.text.startswith("- item ") and c.text.count("- item") == 2 for c in chunks)
    assert "\n".join(c.text for c in chunks) == "\n".join(items)


def test_a_list_ends_before_what_is_not_in_it() -> None:
    text = "1. one\n\n2. two\n\n   ```sh\n   # no heading\n\n   ls\n   ```\n\n"
    text += "Prose.\n- x\n# Next\n- y\n"
    kinds = [(b.kind.value, text[b.start : b.end]) for b in blocks(text)]
    assert kinds == [
        ("list", text[: text.index("Prose")]),
        ("text", "Prose.\n- x\n"),
        ("heading", "# Next\n"),
        ("list", "- y\n"),
    ]


@pytest.mark.parametrize("line", ["  ```a\n", "- \n", "\n- a\n", "  - b\n", " \n", "- a\n  ~~~\n"])
def test_what_looks_like_a_list_is_read_in_linear_time(line: str) -> None:
    text = "- x\n" + line * 60_000
    assert sum(b.end - b.start for b in blocks(text)) == len(text)
