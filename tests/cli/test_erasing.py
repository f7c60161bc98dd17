from __future__ import annotations

import json

from tests.cli.conftest import Say
from tests.cli.fake import SESSION, FakeLila


def test_a_script_forgets_without_being_asked(fake: FakeLila, say: Say) -> None:
    seen = say("memory", "forget", "m5")
    assert seen.stdout == "erased m5\n"
    assert "can no longer be replayed: c3, c4" in seen.stderr
    assert "words or answers that repeated it were erased in: t9" in seen.stderr
    assert ("forget", "m5") in fake.calls


def test_a_memory_that_is_not_there_is_not_forgotten(fake: FakeLila, say: Say) -> None:
    seen = say("memory", "forget", "m6")
    assert seen.exit_code == 5
    assert fake.calls == [("close",)]


def test_backups_that_still_hold_it_are_named(fake: FakeLila, say: Say) -> None:
    fake.sessions_known = (SESSION,)
    seen = say("sessions", "delete", "s7", "--json")
    assert json.loads(seen.stdout)["backups"] == ["/b.db"]
    assert "this backup still holds it; delete it yourself: /b.db" in seen.stderr
