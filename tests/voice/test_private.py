"""A spoken conversation while the store holds placeholders: none of it is on the disk as said."""

from __future__ import annotations

from contextlib import aclosing
from pathlib import Path

from lila_app.testing import Scripted, ScriptedProvider
from lila_app.voice.conversation import SpokenConversation
from tests.privacy.redacted import MAIL, NEW, PHONE, VALUES, opened, redacting
from tests.traces import holding


async def test_what_is_said_revised_heard_and_named_ahead_is_kept_in_placeholders(
    tmp_path: Path,
) -> None:
    home = tmp_path / "home"
    place = redacting(home)
    provider = ScriptedProvider(
        Scripted((f"I write to {MAIL}", " now."), hangs=True),
        f"I write to {NEW} now, and call {PHONE}.",
        "Pardon?",
    )
    with opened(home, provider) as lila:
        lila.graph.add(f"Ada at {MAIL}", "knows", "Charles")
        conversation = SpokenConversation(lila)
        await conversation.start()
        conversation.open(1)
        async with aclosing(conversation.ask(1, f"Write to {MAIL}")) as first:
            assert await anext(first) == f"I write to {MAIL}"
        async with aclosing(conversation.ask(1, f"Write to {NEW}, not {MAIL}")) as second:
            said = "".join([piece async for piece in second])
        assert said == f"I write to {NEW} now, and call {PHONE}."
        await conversation.heard(1, f"I write to {NEW} now,")
        conversation.open(2)
        async with aclosing(conversation.ask(2, f"mail {MAIL} mail")) as third:
            assert await anext(third)
        await conversation.withdraw(2)
        hotwords = conversation.hotwords()
        await conversation.close()
        (turn,) = lila.sessions.show(conversation.session or "").turns
        assert turn.user == f"Write to {NEW}, not {MAIL}"
        assert turn.reply == f"I write to {NEW} now,"
        assert lila.sessions.list()[0].title == turn.user
        assert hotwords == f"Lila, Ada at {MAIL}, Charles"
        assert holding(home, VALUES) == []
        assert lila.db.check().problems == ()
    assert holding(home, VALUES) == []
    assert (place.config_dir / "vault.key").is_file()
