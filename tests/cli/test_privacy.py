"""`lila privacy` and `lila eval privacy` as a person uses them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.lila import here

MAIL = "ada@example.org"
TEXT = f"Mail {MAIL} or call +44 20 7946 0018 on Tuesday"


def test_a_text_is_tried_and_nothing_of_it_is_kept(home: Path) -> None:
    done = here(home, "privacy", "test", "--fast", "--json", TEXT)
    trial = done.json["trial"]
    found = {(one["kind"], one["text"]): (one["wire"], one["storage"]) for one in trial["found"]}
    assert found["mail", MAIL] == found["phone", "+44 20 7946 0018"] == (True, False)
    assert trial["wire"] == "Mail [MAIL1] or call [PHONE2] on Tuesday"
    assert (trial["stored"], trial["restored"], trial["exact"]) == (TEXT, TEXT, True)
    assert not any(MAIL.encode() in path.read_bytes() for path in home.rglob("*") if path.is_file())
    assert here(home, "privacy", "report", "--json").json["report"]["vault"] == []


def test_a_text_may_come_from_standard_input(home: Path) -> None:
    done = here(home, "privacy", "test", "--fast", "-", stdin=f"pay with {MAIL}\n".encode())
    assert done.code == 0
    assert "on the wire: pay with [MAIL1]" in done.out
    assert "recall is never 1" in done.err


@pytest.mark.slow
def test_names_are_shown_also_where_nothing_replaces_them(home: Path) -> None:
    done = here(home, "privacy", "test", "--json", "Ada Lovelace lives in London")
    kinds = {one["text"]: (one["kind"], one["wire"]) for one in done.json["trial"]["found"]}
    assert kinds == {"Ada Lovelace": ("person", False), "London": ("place", False)}
    assert done.json["trial"]["wire"] == "Ada Lovelace lives in London"


@pytest.mark.slow
def test_what_is_replaced_is_shown_as_replaced_whatever_else_is_found_over_it(home: Path) -> None:
    key = "AKIAIOSFODNN7EXAMPLE"
    done = here(home, "privacy", "test", "--json", f"my key for AWS {key}, password: hunter2!")
    found = {one["text"]: (one["kind"], one["wire"]) for one in done.json["trial"]["found"]}
    assert found[key] == ("key", True)
    assert done.json["trial"]["wire"] == "my key for AWS [SECRET1], password: [SECRET2]!"


def test_a_report_counts_what_is_held_and_names_who_is_told_what(home: Path) -> None:
    here(home, "sessions", "list")
    for text in (f"Ada's mail is {MAIL}", "the boat is blue"):
        assert here(home, "memory", "add", text).code == 0
    report = here(home, "privacy", "--json").json["report"]
    assert {(one["place"], one["kind"]): one["plain"] for one in report["held"]} == {
        ("memories", "mail"): 1
    }
    wire, storage = report["sinks"]
    assert (wire["name"], wire["redact"], "mail" in wire["kinds"]) == ("wire", True, True)
    assert (storage["name"], storage["redact"], storage["kinds"]) == ("storage", False, [])
    assert report["local"] == ["embedded/smollm2-135m"] and report["remote"] == []
    assert report["store"].endswith("default.db") and report["key"] == ""
    shown = here(home, "privacy", "report")
    assert "told everything, on this machine: embedded/smollm2-135m" in shown.out
    assert "Recall is never 1" in shown.err


def test_a_model_of_the_network_is_named_as_one_that_is_told_placeholders(home: Path) -> None:
    (home / "config").mkdir(parents=True)
    (home / "config" / "settings.toml").write_text(
        'model = "ollama/gpt-oss:120b-cloud"\n[providers.work]\nbase_url = "http://10.0.0.7/v1"\n'
    )
    policies = home / "config" / "policies"
    policies.mkdir()
    (policies / "gateway.toml").write_text(
        '[jobs]\nreply = ["ollama/llama3.2", "work/large", "anthropic/claude-sonnet-5-5"]\n'
    )
    report = here(home, "privacy", "--json").json["report"]
    assert {"ollama/gpt-oss:120b-cloud", "work/large", "anthropic/claude-sonnet-5-5"} <= set(
        report["remote"]
    )
    assert "ollama/llama3.2" in report["local"]


def test_a_record_is_shown_as_it_goes_on_the_wire(home: Path) -> None:
    done = here(home, "privacy", "wire")
    assert done.code == 5  # there is none yet


def test_a_bad_table_is_named_with_its_key(home: Path) -> None:
    policies = home / "config" / "policies"
    policies.mkdir(parents=True)
    (policies / "privacy.toml").write_text('[wire]\nsure = ["mails"]\n')
    done = here(home, "privacy", "test", "--fast", "x")
    assert done.code == 3
    assert "privacy.toml: wire.sure: found 'mails'" in done.err
    assert here(home, "policy", "check").code == 3


def test_the_vault_is_emptied_when_asked_for(home: Path) -> None:
    assert here(home, "privacy", "reset", "--yes").out == "0 entries are gone\n"


def test_recall_and_precision_are_counted_by_characters(tmp_path: Path, home: Path) -> None:
    # Every second template is tuned: the address of the first is found whole; of the second the
    # name (3) is missed, which needs the model, and an address (13) is labelled nowhere.
    sentences = [
        _labelled("1", "Mail a.b@example.org.", [(5, 20, "EMAIL_ADDRESS")]),
        _labelled("2", "I am Zed, c@example.net", [(5, 8, "PERSON")]),
    ]
    path = tmp_path / "sentences.json"
    path.write_text(json.dumps(sentences))
    done = here(home, "eval", "privacy", "--sure", "--json", str(path))
    tuned, untouched = done.json["outcome"]["halves"]
    assert (tuned["name"], tuned["sentences"]) == ("tuned", 1)
    assert (tuned["recall"]["right"], tuned["recall"]["all"]) == (15, 15)
    assert (untouched["recall"]["right"], untouched["recall"]["all"]) == (0, 3)
    assert (untouched["precision"]["right"], untouched["precision"]["all"]) == (0, 13)
    path.write_text('[{"full_text": "x"}]')
    refused = here(home, "eval", "privacy", str(path))
    assert refused.code == 2 and "entry 0" in refused.err


def _labelled(template: str, text: str, spans: list[tuple[int, int, str]]) -> dict[str, object]:
    return {
        "full_text": text,
        "template_id": int(template),
        "spans": [
            {"start_position": start, "end_position": end, "entity_type": kind}
            for start, end, kind in spans
        ],
    }
