"""A reader of a dozen plain sentences, so that what LILA does with facts is tested apart from how
it finds them, and turns to say them in."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, timedelta
from zoneinfo import ZoneInfo

from lila_app.context import Source
from lila_app.memory import promotion
from lila_app.memory.learning import Kept, Learner, Learnt, Means
from lila_app.memory.model import ME, Candidate, Cue, Extracted, Kind, ResolvedDate, Utterance
from lila_app.memory.predicates import Predicates
from lila_app.memory.promotion import Rules
from lila_app.paths import shipped
from lila_app.storage import sessions, turns
from lila_app.storage.connection import Store
from lila_app.storage.memories import MemoryRow
from lila_app.storage.turns import TurnRow

ZONE = ZoneInfo("Europe/Lisbon")

_WHO = r"(?P<who>I|[A-Z]\w+)"


@dataclass(frozen=True, slots=True)
class Rule:
    pattern: str
    predicate: str
    kind: Kind = "durable"
    many: bool = False
    entity: bool = False
    cue: Cue = ""
    negated: bool = False


RULES = (
    Rule(rf"{_WHO} lives? in (?P<value>\w+)", "lives_in", entity=True),
    Rule(rf"{_WHO} (?:have |has )?moved to (?P<value>\w+)", "lives_in", entity=True, cue="update"),
    Rule(rf"{_WHO} no longer lives? in (?P<value>\w+)", "lives_in", entity=True, cue="ended"),
    Rule(rf"Correction: {_WHO} lives? in (?P<value>\w+)", "lives_in", cue="correction"),
    Rule(rf"{_WHO} (?:don't|doesn't) live in (?P<value>\w+)", "lives_in", negated=True),
    Rule(rf"{_WHO} likes? (?P<value>\w+)", "likes", "preference", many=True),
    Rule(
        rf"{_WHO} (?:don't|doesn't) like (?P<value>\w+)", "likes", "preference", True, negated=True
    ),
    Rule(rf"{_WHO} (?:am|is) allergic to (?P<value>\w+)", "allergic_to", many=True),
    Rule(rf"{_WHO} ran (?P<value>\w+)", "did", "event", many=True),
    Rule(rf"{_WHO} (?:am|is) (?P<value>tired|ill)", "feels", "state"),
    Rule(rf"{_WHO} works? as an? (?P<value>\w+)", "job"),
    Rule(rf"{_WHO} (?:am|is) meeting (?P<value>\w+) tomorrow", "plans_to", "plan", many=True),
)


class Reader:
    """What the rules above find, in order, sentence by sentence."""

    def extract(self, utterance: Utterance, known: Mapping[str, str]) -> Extracted:
        found: list[Candidate] = []
        for sentence in re.finditer(r"[^.!?]+", utterance.text):
            for rule in sorted(RULES, key=lambda rule: -len(rule.pattern)):
                match = re.search(rule.pattern, sentence[0])
                if match is None:
                    continue
                found.append(self._candidate(rule, match, sentence.start(), utterance))
                break
        dates = tuple(
            ResolvedDate(
                one.start(),
                one.end(),
                utterance.at.date() - timedelta(1),
                utterance.at.date() - timedelta(1),
            )
            for one in re.finditer("yesterday", utterance.text)
        )
        return Extracted(tuple(found), (), dates)

    def _candidate(
        self, rule: Rule, match: re.Match[str], start: int, utterance: Utterance
    ) -> Candidate:
        who = utterance.speaker if match["who"] == "I" else match["who"]
        shown = "the person" if who == ME else who
        tomorrow = utterance.at.date() + timedelta(1) if rule.kind == "plan" else None
        no = "not " if rule.negated or rule.cue == "ended" else ""
        return Candidate(
            subject=who,
            predicate=rule.predicate,
            value=match["value"],
            text=f"{shown} {no}{rule.predicate} {match['value']}",
            kind=rule.kind,
            is_entity=rule.entity,
            many=rule.many,
            start=start + match.start(),
            end=start + match.end(),
            negated=rule.negated,
            cue=rule.cue,
            explicit="remember" in utterance.text.casefold(),
            valid_from=tomorrow,
        )


def rules() -> Rules:
    path = shipped("policies") / "promotion.toml"
    return promotion.load((Source(str(path), path.read_text(encoding="utf-8")),))


@dataclass
class Life:
    """Somebody who says things on days counted from the first of January 2026."""

    store: Store
    learner: Learner
    session: str = ""
    said: list[TurnRow] = field(default_factory=list[TurnRow])

    def say(
        self,
        text: str,
        day: int = 0,
        *,
        hour: int = 12,
        speaker: str = "",
        reply: str = "I see.",
        learn: bool = True,
        origin: str = "",
    ) -> TurnRow:
        at = when(day, hour)
        if not self.session:
            self.session = sessions.create(self.store, at=at, use_case="chat", title="").id
        turn = turns.begin(
            self.store, self.session, text, use_case="chat", at=at, speaker=speaker, origin=origin
        )
        turn = turns.finish(
            self.store, turn.id, reply, stopped=False, record_id=None, model="fake/one", at=at
        )
        self.said.append(turn)
        if learn:
            self.learner.run()
        return turn

    def keep(self, text: str, day: int = 0, *, hour: int = 12, core: bool = False) -> MemoryRow:
        return self.learner.keep(Kept(text, "core" if core else "fact", False, when(day, hour)))

    def learn(self) -> Learnt:
        return self.learner.run()


def when(day: int, hour: int = 12) -> str:
    """Noon, or another hour, of a day counted from the first of January 2026, in UTC."""
    moment = date(2026, 1, 1) + timedelta(day)
    return f"{moment.isoformat()}T{hour:02}:00:00+00:00"


def life(store: Store) -> Life:
    means = Means(store, Reader(), Predicates({}), rules(), ZONE, dict[str, str])
    return Life(store, Learner(means))
