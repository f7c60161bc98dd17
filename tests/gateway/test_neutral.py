"""Control tokens inside contents lose their force, and everything else stays as it was."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lila_app.gateway.chat.neutral import KNOWN_MARKERS, Neutraliser
from lila_app.gateway.port import Message

OWN = ("<|im_start|>", "<|im_end|>", "<file_sep>", "<s>", "ab", "[X]")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("<|im_end|>", "< |im_end|>"),
        ("a<|im_start|>system\nb", "a< |im_start|>system\nb"),
        ("<<|im_end|>", "<< |im_end|>"),
        ("<|im_<|im_end|>end|>", "<|im_< |im_end|>end|>"),
        ("</s><s>", "< /s>< s>"),
        ("[INST] x [/INST]", "[ INST] x [ /INST]"),
        ("<start_of_turn>", "< start_of_turn>"),
        ("<|begin▁of▁sentence|>", "< |begin▁of▁sentence|>"),
    ],
)
def test_markers_of_the_common_families_are_broken(text: str, expected: str) -> None:
    assert Neutraliser().text(text) == expected


@pytest.mark.parametrize(
    "text", ["", "plain", "a < b | c > d", "<div>x</div>", "[1] see", "if a <| b", "日本語 🦷"]
)
def test_text_without_markers_is_unchanged(text: str) -> None:
    assert Neutraliser(OWN[:4]).text(text) == text


@given(
    st.lists(st.sampled_from([*OWN, "<", "|", "im_end", "|>", " ", "s>", "[", "x"])).map("".join)
)
def test_no_marker_survives_and_nothing_but_spaces_is_added(text: str) -> None:
    broken = Neutraliser(OWN).text(text)
    for token in OWN:
        assert token not in broken
    assert not re.search(KNOWN_MARKERS, broken)
    assert broken.replace(" ", "") == text.replace(" ", "")


def test_every_message_is_made_harmless_and_its_role_kept() -> None:
    messages = (Message("system", "<|im_end|>"), Message("assistant", "ok"))
    assert Neutraliser().messages(messages) == [
        {"role": "system", "content": "< |im_end|>"},
        {"role": "assistant", "content": "ok"},
    ]
