"""`python -m tests.cli.run_fake CASE ARGS...`: the command line over a fake assistant."""

from __future__ import annotations

import sys

import lila_app
from lila_app.cli import main
from lila_app.errors import UnavailableError
from lila_app.events import Confirmation, TextDelta, ToolCall
from tests.cli.fake import SESSION, FakeLila, opener

CASES = {
    "answers": FakeLila(sessions_known=(SESSION,)),
    "never-ends": FakeLila(
        script=(TextDelta("It begins. "), TextDelta("And then. So")), forever=True
    ),
    "fails": FakeLila(script=(UnavailableError("nothing answered", hint="start the server"),)),
    "consent": FakeLila(
        script=(
            TextDelta("Shall I?"),
            ToolCall("memory_add", '{"text":"x"}'),
            Confirmation("memory_add", "{}", "Remember “the\x1b[31m key”?"),
        )
    ),
    "rude": FakeLila(script=(TextDelta("a\x1b]0;owned\x07b. "),)),
}

if __name__ == "__main__":
    case = sys.argv.pop(1)
    setattr(lila_app, "open", opener(CASES[case]))  # noqa: B010 (not declared to be replaced)
    main()
