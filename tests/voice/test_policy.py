"""The table of the spoken assistant: what is laid over it, and what is refused."""

from __future__ import annotations

from dataclasses import fields, is_dataclass

import pytest

from lila_app.context import Source
from lila_app.errors import PolicyError
from lila_app.paths import shipped
from lila_app.voice.policy import load
from tests.voice.talk import policy

SHIPPED = (shipped("policies") / "voice.toml").read_text("utf-8")


def test_every_number_of_the_shipped_table_has_its_row() -> None:
    table = policy()
    rows = [getattr(table, field.name) for field in fields(table)]
    assert all(is_dataclass(row) for row in rows)
    assert table.activity.begins == 500
    assert table.words.stop[0] == "stop"
    assert table.recogniser.least_likely["whisper-base"] == -900


def test_fast_takes_the_place_of_the_waits_and_of_nothing_else() -> None:
    usual, fast = policy(), policy(fast=True)
    assert (fast.endpoint.speculate, fast.endpoint.wait, fast.endpoint.complete) == (128, 352, 256)
    assert fast.endpoint.trailing == usual.endpoint.trailing
    assert (fast.activity, fast.words) == (usual.activity, usual.words)


def test_a_persons_own_keys_are_laid_over_the_shipped_ones() -> None:
    own = "[endpoint]\nwait = 900\n[words]\nstop = ['Basta']\n"
    own += "[recogniser.least_likely]\n'whisper-small' = -700\n"
    table = policy(own=own)
    assert (table.endpoint.wait, table.endpoint.complete) == (900, 320)
    assert table.words.stop == ("basta",)
    assert table.recogniser.least_likely == {
        "whisper-base": -900,
        "whisper-tiny.en": -1_000,
        "other": -1_000,
        "whisper-small": -700,
    }


@pytest.mark.parametrize(
    ("own", "key", "found"),
    [
        ("[endpoint]\nwait = -1", "endpoint.wait", "-1"),
        ("[endpoint]\nwait = true", "endpoint.wait", "True"),
        ("[endpoint]\nwait = '512'", "endpoint.wait", "'512'"),
        ("[endpoint]\nwiat = 512", "endpoint.wiat", "wiat"),
        ("[endpoints]\nwait = 512", "endpoints", "endpoints"),
        ("[fast]\nbegins = 512", "fast.begins", "begins"),
        ("[fast]\nspeculate = 300", "fast.speculate", "300"),
        ("endpoint = 3", "endpoint", "3"),
        ("version = 2", "version", "2"),
        ("[activity]\nbegins = 1001", "activity.begins", "1001"),
        ("[activity]\nframes = 0", "activity.frames", "0"),
        ("[activity]\nends = 501", "activity.ends", "501"),
        ("[endpoint]\nspeculate = 400", "endpoint.speculate", "400"),
        ("[chunks]\nfirst_words = 0", "chunks.first_words", "0"),
        ("[words]\nstop = 'stop'", "words.stop", "'stop'"),
        ("[words]\nstop = [1]", "words.stop", "1"),
        ("[words]\nstop = [' ']", "words.stop", "' '"),
        ("[recogniser.least_likely]\nother = 5", "recogniser.least_likely.other", "5"),
        ("[recogniser]\nleast_likely = 5", "recogniser.least_likely", "5"),
        ("[words", "", "no TOML: "),
    ],
)
def test_a_wrong_table_is_refused_with_file_key_and_value(own: str, key: str, found: str) -> None:
    with pytest.raises(PolicyError) as refusal:
        policy(own=own)
    error = refusal.value
    assert (error.file, error.key) == ("own/voice.toml", key)
    assert error.found.startswith(found) if not key else error.found == found
    assert error.allowed and "lila policy check" in error.hint


def test_a_table_without_a_number_it_needs_is_refused() -> None:
    without = SHIPPED.replace("reopen = 800", "")
    with pytest.raises(PolicyError, match=r"voice\.toml: endpoint\.reopen: found nothing"):
        load([Source("voice.toml", without)])
    with pytest.raises(PolicyError, match=r"activity\.begins"):
        load([])
