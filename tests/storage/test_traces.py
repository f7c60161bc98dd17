from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from lila_app.storage import traces


def _never(word: str) -> bool:
    return False


MEMORY = "Zebulon is allergic to penicillin since 1987"


def test_the_whole_text_is_known_whatever_its_case_and_spacing() -> None:
    found = traces.of(MEMORY, (), _never)
    assert found.whole_in("I know: ZEBULON is allergic\nto penicillin, since 1987!")
    assert not found.whole_in("Zebulon is allergic to penicillin since 19875")


def test_a_telling_run_or_word_gives_it_away() -> None:
    found = traces.of(MEMORY, (), _never)
    for text in (
        "someone is allergic to something",
        "No penicillin for him.",
        "That was in 1987.",
        "zebulon called",
    ):
        assert found.any_in(text), text
    for text in ("He is to rest.", "since when?", "is it to be", ""):
        assert not found.any_in(text), text


def test_what_other_memories_say_gives_nothing_away() -> None:
    found = traces.of(MEMORY, ["Zebulon likes tea", "Ben is allergic to nuts"], _never)
    assert not found.any_in("Zebulon is here and allergic to nuts")
    assert not found.any_in("is allergic to")
    assert found.any_in("penicillin")


def test_words_in_wide_use_give_nothing_away() -> None:
    found = traces.of("Zebulon waters plants", (), lambda word: word == "plants")
    assert not found.any_in("plants need light")
    assert found.any_in("someone waters them")


def test_names_and_numbers_count_however_short() -> None:
    found = traces.of("My son Bo is 7", (), _never)
    assert found.any_in("Bo called")
    assert found.any_in("he is 7 years old")
    assert not found.any_in("my son")


def test_of_a_long_text_only_runs_count() -> None:
    text = "one two three four five six seven eight nine"
    found = traces.of(text, (), lambda _: True, length=6)
    assert found.any_in("he said two three four five six seven and left")
    assert not found.any_in("three four five six seven")
    assert not found.any_in("nine")


def test_a_summary_loses_the_sentences_that_tell_and_keeps_the_rest() -> None:
    found = traces.of(MEMORY, (), _never)
    summary = "They spoke of tea. Zebulon cannot take penicillin. It rained.\n- plans for May"
    left, gone = traces.without(summary, found)
    assert left == "They spoke of tea. It rained.\n- plans for May"
    assert gone == ["Zebulon cannot take penicillin."]


def test_scripts_without_spaces_are_seen_through() -> None:
    found = traces.of("安娜住在格拉茨", (), _never)
    assert found.whole_in("我说过安娜住在格拉茨。")
    assert found.any_in("她在格拉茨。")
    assert not found.any_in("她在维也纳。")


def test_a_text_without_words_is_known_as_it_stands() -> None:
    found = traces.of("🫠🫠", (), _never)
    assert found.whole_in("so: 🫠🫠!")
    assert not found.whole_in("so: 🫠!")


@given(st.text(max_size=60), st.text(max_size=60), st.text(max_size=60))
def test_a_text_always_gives_itself_away_inside_another(before: str, text: str, after: str) -> None:
    found = traces.of(text, (), lambda _: True)
    held = f"{before} . {text} . {after}"
    assert found.whole_in(held) == bool(text.strip())
    left, _ = traces.without(text, found)
    assert not found.whole_in(left)
