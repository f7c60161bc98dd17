"""What holds of every call, whatever fails."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from lila_app.errors import (
    AuthenticationError,
    LilaError,
    RateLimitedError,
    RequestRefusedError,
    SpendLimitError,
    TimedOutError,
    TruncatedReplyError,
    UnavailableError,
    UnreachableError,
)
from lila_app.gateway.calls.calling import Switched
from lila_app.gateway.port import Finished, ProviderEvent, TextDelta
from lila_app.testing import Scripted
from tests.gateway.bench import ASKED, RULES, Bench, model, switches, text

ERRORS = (
    UnavailableError("down"),
    UnreachableError("gone"),
    TimedOutError("slow"),
    TruncatedReplyError("half"),
    RateLimitedError("wait", retry_after=3),
    RateLimitedError("wait", retry_after=900),
    RateLimitedError("wait"),
    SpendLimitError("poor"),
    AuthenticationError("who"),
    RequestRefusedError("what"),
)
ENDINGS = [
    Scripted(pieces, thinking=thinking, error=error, whole=whole)
    for whole in (True, False)
    for error in (None, *ERRORS)
    for thinking in ("", "hm")
    for pieces in ((), ("one ",), ("one ", "two "))
]
endings = st.sampled_from(ENDINGS)
ASKINGS = 8
REPLIES = ASKINGS * RULES.attempts
"""Of each model: no more can be asked for."""


@given(
    scripts=st.lists(st.lists(endings, min_size=REPLIES, max_size=REPLIES), min_size=1, max_size=3),
    pauses=st.lists(st.sampled_from([0, 5, 31, 700, 4_000]), min_size=1, max_size=ASKINGS),
    closes=st.lists(st.none() | st.integers(1, 4), min_size=ASKINGS, max_size=ASKINGS),
)
@settings(max_examples=60)
async def test_whatever_fails_there_is_one_voice_and_every_call_is_on_record(
    scripts: list[list[Scripted]], pauses: list[int], closes: list[int | None]
) -> None:
    bench = Bench(
        *(model(f"{name}/m", *script) for name, script in zip("abc", scripts, strict=False))
    )
    for pause, close in zip(pauses, closes, strict=False):
        bench.clock.advance(pause)
        before = len(bench.ledger.attempts)
        events: list[ProviderEvent | Switched] = []
        raised: LilaError | None = None
        stream = bench.caller.stream(bench.models, ASKED)
        try:
            async for event in stream:
                events.append(event)
                if len(events) == close:
                    break
        except LilaError as error:
            raised = error
        await stream.aclose()
        made = bench.ledger.attempts[before:]
        # Whatever reached a model is on record, in the order it was asked.
        assert len(bench.ledger.attempts) == sum(len(m.requests) for m in bench.models)
        # Only the last call may have shown anything; the others failed without a visible token.
        assert all(attempt.first_token_ms is None for attempt in made[:-1])
        assert all(attempt.outcome.endswith("Error") for attempt in made[:-1])
        whole = any(isinstance(event, Finished) for event in events)
        if whole:
            assert raised is None and made[-1].outcome == "stop"
        elif raised is None:
            assert close is not None and len(events) == close
            assert not made or made[-1].outcome in ("stopped", "stop")
        # A switch comes before the first event of another model, and its name is the answer's.
        for before_it, event in pairwise(events):
            assert not (isinstance(before_it, TextDelta) and isinstance(event, Switched))
        if text(events):
            names = [f"{attempt.provider}/{attempt.model}" for attempt in made]
            told = [event.to for event in switches(events)]
            assert (told[-1] if told else "a/m") == names[-1]
