"""The list of sessions: what is in it, what a search finds, and what can be done to one."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from datetime import datetime, tzinfo

from lila_app.tui.facade import Assistant
from lila_app.tui.plain import one_line
from lila_app.views import ForgetReport, SessionInfo

LISTED = 500
_SNIPPET = 70


@dataclass(frozen=True, slots=True)
class Entry:
    """One session in the list; `snippet` is the words of the turn a search found in it."""

    id: str
    title: str
    detail: str
    snippet: str = ""


class SessionCatalog:
    """Sessions for the picker; times are shown in `zone` (None: the machine's own)."""

    def __init__(self, lila: Assistant, zone: tzinfo | None = None) -> None:
        self._sessions = lila.sessions
        self._zone = zone

    async def entries(self, query: str = "") -> tuple[Entry, ...]:
        """Sessions whose title has `query` in it, then those where something said matches it."""
        infos = await asyncio.to_thread(self._sessions.list, LISTED)
        wanted = query.strip().casefold()
        if not wanted:
            return tuple(self._entry(info) for info in infos)
        titled = [info for info in infos if wanted in info.title.casefold()]
        entries = {info.id: self._entry(info) for info in titled}
        by_id = {info.id: info for info in infos}
        for hit in await asyncio.to_thread(self._sessions.search, query):
            info = by_id.get(hit.session_id)
            if info is not None and info.id not in entries:
                entries[info.id] = self._entry(info, one_line(hit.turn.user, _SNIPPET))
        return tuple(entries.values())

    async def rename(self, id: str, title: str) -> None:
        """Give a session another title."""
        await asyncio.to_thread(self._sessions.rename, id, title)

    async def fork(self, id: str) -> str:
        """Copy a session; returns the id of the copy."""
        return (await asyncio.to_thread(self._sessions.fork, id)).id

    async def delete(self, id: str) -> ForgetReport:
        """Erase a session."""
        return await asyncio.to_thread(self._sessions.delete, id)

    def _entry(self, info: SessionInfo, snippet: str = "") -> Entry:
        turns = "1 turn" if info.turns == 1 else f"{info.turns} turns"
        parts = [turns, self._time(info.last_at)]
        if info.forked_from:
            parts.append(f"fork of {info.forked_from}")
        title = one_line(info.title, 60) or f"session {info.id}"
        return Entry(info.id, title, " · ".join(parts), snippet)

    def _time(self, at: str) -> str:
        try:
            return datetime.fromisoformat(at).astimezone(self._zone).strftime("%Y-%m-%d %H:%M")
        except ValueError:
            return at
