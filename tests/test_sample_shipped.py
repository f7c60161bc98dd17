"""The sample life as it is shipped: whole, in order, and of nobody."""

from __future__ import annotations

import re
from collections import Counter
from datetime import datetime

from lila_app import sample
from lila_app.paths import shipped

FOLDER = shipped("data") / sample.PROFILE


def test_ids_are_unique_and_titles_name_one_session_each() -> None:
    life = sample.read_life()
    for rows in (life.memories, life.relations, life.notes, life.goals):
        assert not [id for id, times in Counter(row.id for row in rows).items() if times > 1]
    pairs = {(one.session, one.title) for one in life.exchanges}
    assert len({session for session, _ in pairs}) == len({title for _, title in pairs}) == 24
    assert len({row.text for row in life.memories}) == len(life.memories)


def test_every_time_has_a_zone_and_conversations_run_forward() -> None:
    life = sample.read_life()
    times = [datetime.fromisoformat(one.at) for one in life.exchanges]
    assert all(time.tzinfo for time in times)
    assert times == sorted(times)
    assert all(datetime.fromisoformat(one.at).tzinfo for one in life.memories)
    assert (times[0].date().isoformat(), times[-1].date().isoformat()) == (
        "2026-10-12",
        "2026-11-29",
    )


def test_relations_end_after_they_begin_and_aliases_name_known_entities() -> None:
    life = sample.read_life()
    for one in life.relations:
        assert not (one.valid_from and one.valid_to) or one.valid_from < one.valid_to
    entities = {one.subject for one in life.relations} | {one.object for one in life.relations}
    assert {name.entity for name in life.aliases} <= entities
    assert not {name.alias for name in life.aliases} & entities


def test_notes_belong_to_sessions_there_are() -> None:
    life = sample.read_life()
    assert {note.session for note in life.notes} <= {one.session for one in life.exchanges}
    assert {note.kind for note in life.notes} == {"note", "open"}


def test_the_calendar_for_reading_names_every_event_of_the_calendar() -> None:
    raw = (FOLDER / "calendar.ics").read_text(encoding="utf-8").replace("\n ", "")
    summaries = [line for line in raw.splitlines() if line.startswith("SUMMARY:")]
    readable = (FOLDER / "calendar.md").read_text(encoding="utf-8")
    assert len(summaries) == raw.count("BEGIN:VEVENT") == 31
    for line in summaries:
        name = line.removeprefix("SUMMARY:").replace("\\,", ",")
        assert f"**{name}**" in readable


def test_addresses_and_numbers_are_of_the_kind_that_belongs_to_nobody() -> None:
    for path in FOLDER.rglob("*"):
        if path.suffix in {".md", ".txt", ".log", ".html", ".jsonl", ".ics"}:
            text = path.read_text(encoding="utf-8").replace("\\n", "\n")
            hosts = re.findall(r"\w@([\w.-]+\w)", text)
            assert all(host.endswith(".example") for host in hosts), path
            assert not re.findall(r"(?<![\w-])\+?\d{9,}(?![\w-])", text), path
            assert not re.findall(r"https?://", text), path
