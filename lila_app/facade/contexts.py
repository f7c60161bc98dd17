"""`lila.contexts`: what the model saw on a turn, shown, made again, compared."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, cast

from lila_app import citing, moments
from lila_app.context import (
    Context,
    Specification,
    assemble,
    from_inputs,
    from_snapshot,
    policy_hash,
)
from lila_app.embedding.tokens import TOKENIZER
from lila_app.errors import NotFoundError
from lila_app.facade.differences import compare
from lila_app.resources import Resources
from lila_app.storage import ledger, records, turns
from lila_app.views import CallInfo, ContextDiff, Replay
from lila_app.views.documents import Citations

Record = Mapping[str, Any]


class Contexts:
    """Context records of one profile."""

    def __init__(self, resources: Resources) -> None:
        self._resources = resources
        self._store = resources.store

    def show(
        self, id: str = "last", session: str | None = None, at: datetime | str | None = None
    ) -> dict[str, Any]:
        """A record: by id, the last one (of a session), or the last at a moment of the past."""
        return dict(self._record(id, session, at))

    def calls(self, id: str) -> tuple[CallInfo, ...]:
        """Which models were asked with this record's prompt, and how each call ended."""
        return tuple(
            CallInfo(
                model=f"{row.provider}/{row.model}",
                outcome=row.finished,
                at=row.at,
                first_token_ms=row.first_token_ms,
                total_ms=row.total_ms,
                tokens=row.total,
                read=row.read,
                output=row.output,
            )
            for row in ledger.of_record(self._store, id)
        )

    def citations(self, id: str) -> Citations | None:
        """Which sources the reply made with a record names, and which of them it was given.

        Made anew from the stored reply and record. None where there is no such reply, or something
        in the prompt was forgotten since.
        """
        record = self._record(id, None, None)
        turn = turns.of_record(self._store, id)
        if turn is None or not turn.reply or record.get("erased"):
            return None
        seen = [
            str(item["id"])
            for layer in record["layers"]
            if layer["name"] == "conversation"
            for item in layer["items"]
        ]
        said = [row.reply or "" for row in turns.by_ids(self._store, seen)]
        found = citing.check(turn.reply, records.included(self._store, id), said)
        return Citations(found.given, found.earlier, found.unknown)

    def replay(
        self, id: str = "last", session: str | None = None, at: datetime | str | None = None
    ) -> Replay:
        """Assemble a recorded turn again from its stored candidates and compare the bytes.

        Under changed code or another tokenizer it says so instead of claiming equality; under a
        changed policy the bytes are compared all the same (the record keeps its own policy) and
        the two hashes are named.
        """
        record = self._record(id, session, at)
        record_id = str(record["meta"]["record_id"])
        if record.get("erased"):
            return Replay(record_id, "unreplayable", "erased", ())
        specification = self._specification(record_id, record)
        again = assemble(specification, self._resources.count)
        differences = self._versions(record)
        if again.bytes_sha256 == record["bytes_sha256"]:
            return Replay(record_id, "identical", "the same bytes", differences)
        differences += compare(record, again.record)
        if record["code_version"] != self._resources.code_version:
            reason = "the assembler's code changed since"
        elif record["tokenizer"] != TOKENIZER:
            reason = "the declared tokenizer changed since"
        else:
            reason = "the bytes differ under the same code"
        return Replay(record_id, "differs", reason, differences)

    def diff(self, a: str, b: str) -> ContextDiff:
        """What changed between two records."""
        one, other = self._record(a, None, None), self._record(b, None, None)
        names = (str(one["meta"]["record_id"]), str(other["meta"]["record_id"]))
        return ContextDiff(*names, compare(one, other))

    def text(self, id: str = "last") -> str:
        """The exact prompt of a record, made again from its candidates."""
        return self.context(id).text

    def context(self, id: str = "last") -> Context:
        """What was assembled for a record, made again. Raises NotFoundError where it is erased."""
        record = self._record(id, None, None)
        record_id = str(record["meta"]["record_id"])
        if record.get("erased"):
            raise NotFoundError(
                f"the prompt of {record_id} is gone: something in it was forgotten",
                hint="`lila context show` still shows what is left of the record",
            )
        return assemble(self._specification(record_id, record), self._resources.count)

    def _specification(self, record_id: str, record: Record) -> Specification:
        policy = from_snapshot(records.get_policy(self._store, str(record["policy_hash"])))
        return from_inputs(records.get_inputs(self._store, record_id), policy)

    def _versions(self, record: Record) -> tuple[str, ...]:
        now = {
            "code_version": self._resources.code_version,
            "policy_hash": policy_hash(self._resources.policy),
            "tokenizer": TOKENIZER,
        }
        return tuple(
            f"{key} {record[key]} → {value}" for key, value in now.items() if record[key] != value
        )

    def _record(self, id: str, session: str | None, at: datetime | str | None) -> Record:
        if at is not None:
            moment = moments.stored(moments.resolve(at, self._resources.clock))
            found = records.at_time(self._store, moment, session_id=session)
        elif id == "last":
            found = records.latest(self._store, session)
        else:
            found = records.get_record(self._store, id)
        if found is None:
            raise NotFoundError(
                "there is no context record yet" if at is None else f"no record is as old as {at}",
                hint="ask something first: `lila ask …`",
            )
        return cast("Record", found)
