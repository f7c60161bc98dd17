"""The extractor: sentence by sentence through the gate, the parser and the rules."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date

from lila_app.memory.dates import resolve
from lila_app.memory.extraction import amending, asking, build, ending, gate, gazetteer, spelling
from lila_app.memory.extraction.being import being
from lila_app.memory.extraction.clauses import Clause, clauses
from lila_app.memory.extraction.doing import doing
from lila_app.memory.extraction.nouns import Mention, Speaking
from lila_app.memory.extraction.parser import Parser
from lila_app.memory.extraction.planning import planning
from lila_app.memory.extraction.reading import Fact, Reading, read
from lila_app.memory.extraction.templates import templated
from lila_app.memory.extraction.words import Word, listed
from lila_app.memory.model import ME, Candidate, Doubt, Extracted, Refused, ResolvedDate, Utterance
from lila_app.memory.predicates import Predicates

_BEING = listed("be call name turn base locate keep become bear")
# What somebody wants, tries or will be, they are not: no rule of what is so reads it.
_WANTING = listed(
    "want wish hope plan try intend need aim train prepare expect attempt seem appear pretend "
    "decide refuse apply consider mean"
)
_WILL = listed("will 'll wo shall")
# Said of nobody, or of none of several.
_NONE = listed("nobody none neither nor noone")
_DEPENDENT = frozenset(("ccomp", "csubj", "pcomp", "acl"))
_KIN = re.compile(r"^kin_|_of$")
_SINCE = re.compile(r"\b(?:since|from|as of|starting)\b", re.IGNORECASE)
_UNTIL = re.compile(r"\b(?:until|till|through|up to)\b", re.IGNORECASE)
# Would it be a fact, if it were meant? Only then is a refusal worth a word.
_LIKE_A_FACT = re.compile(
    r"\b(?:i|i'm|my|we|our|is|are|lives?|works?|has|have|likes?|hates?)\b|[a-z] [A-Z][a-z]",
    re.IGNORECASE,
)
_FOREIGN = re.compile(
    r"\b(?:ich|und|der|das|ist|nicht|eine?|mein|wir|habe|wohne|eu|não|uma?|meu|minha|moro|está|"
    r"yo|el|los|una?|mi|vivo|tengo|je|j'ai|le|les|une?|est|mon|suis|het|een|ik|niet|sono|gli|ho)\b",
    re.IGNORECASE,
)
_ENGLISH = re.compile(
    r"\b(?:the|is|are|am|was|i|i'm|my|we|our|and|to|of|in|on|at|with|for|have|has|that|not|an?|"
    r"lives?|works?|likes?|loves?|hates?|prefers?|reports?)\b",
    re.IGNORECASE,
)


class Extractor:
    """Finds what is stated. Cheap to make, safe to share between threads.

    The same utterance with the same known names gives the same, whatever was extracted before.
    """

    def __init__(self, predicates: Predicates) -> None:
        self._predicates = predicates
        self._parser = Parser()

    def warm(self) -> None:
        """Load the parser now (2 to 3 s) instead of at the first utterance."""
        self._parser.warm()

    def extract(self, utterance: Utterance, known: Mapping[str, str]) -> Extracted:
        """What an utterance states; `known` leads spoken names in lower case to entities' names.

        Sentences after the 40th, and what is longer than 400 characters without an end, are not
        looked at. Raises `WeightsError` when the parser's files are missing or not the known ones.
        """
        dates = resolve(utterance.text, utterance.at)
        spans = gate.sentences(utterance.text)
        speaking = Speaking(utterance.speaker, known)
        found: list[Candidate] = []
        refused: list[Refused] = []
        last: list[Candidate] = []
        for place, (start, end) in enumerate(spans):
            sentence = utterance.text[start:end]
            following = utterance.text[slice(*spans[place + 1])] if place + 1 < len(spans) else ""
            if last and place:
                head = utterance.text[slice(*spans[place - 1])]
                found[-len(last) :] = amending.amended(last, head, sentence)
            last = []
            doubt = _doubt(sentence, following, utterance.recalled)
            if doubt is not None:
                if _LIKE_A_FACT.search(sentence):
                    refused.append(Refused(start, end, doubt))
            elif _worth_parsing(sentence):
                before, today = utterance.text[:start], utterance.at.date()
                last = self._sentence(sentence, start, dates, speaking, before, today)
                last = amending.amended(last, *amending.parted(sentence))
                found += last
        return Extracted(_unique(found), tuple(refused), dates)

    def _sentence(
        self,
        sentence: str,
        start: int,
        dates: Sequence[ResolvedDate],
        speaking: Speaking,
        before: str,
        today: date,
    ) -> list[Candidate]:
        lead = asking.asked(sentence)
        if speaking.speaker != ME:
            lead = replace(lead, explicit=False)
        body = spelling.unshouted(sentence[lead.start :])
        inside = [_shifted(one, start + lead.start) for one in dates]
        inside = [one for one in inside if one.start >= 0 and one.end <= len(body)]
        stated = build.Stated(
            start,
            start + len(sentence),
            inside,
            *_sides(body, inside),
            lead.explicit,
            lead.cue,
            body,
            today,
        )
        facts = self._spoken_to(body, lead.explicit, speaking)
        made = [build.candidate(fact, stated, self._predicates) for fact in facts]
        if not facts and not asking.is_command(body) and _english(body):
            made = [
                build.candidate(fact, replace(stated, dates=near), self._predicates)
                for fact, near in self._facts(body, inside, speaking, lead.cue, today)
                # What is to be remembered of a name is kept as it was said.
                if not (lead.explicit and ending.by_name(fact))
            ]
        kept = [one for one in made if one is not None]
        if not kept and not asking.is_command(body):
            facts = templated(body, speaking.speaker, lead.cue, before[-400:])
            made = [build.candidate(fact, stated, self._predicates) for fact in facts]
            kept = [one for one in made if one is not None]
        if not kept and lead.explicit and len(body.split()) > 1 and not body.endswith("?"):
            kept = self._note(sentence[lead.start :], stated, speaking)
        return kept

    def _note(self, body: str, stated: build.Stated, speaking: Speaking) -> list[Candidate]:
        fact = build.note(body.strip().rstrip("."), speaking.speaker)
        made = build.candidate(fact, stated, self._predicates)
        return [made] if made else []

    def _spoken_to(self, body: str, explicit: bool, speaking: Speaking) -> list[Fact]:
        """A wish of how LILA is to behave, or how somebody is called."""
        told = explicit or speaking.speaker != ME
        wish = "" if told else asking.wish(body)
        if wish:
            return [Fact(speaking.speaker, "wish", wish, confidence=9_000)]
        nickname = asking.nickname(body)
        first = [Fact(speaking.speaker, "called", nickname)] if nickname else []
        return first if not re.search(r"\bname is\b", body) else []

    def _facts(
        self,
        body: str,
        dates: Sequence[ResolvedDate],
        speaking: Speaking,
        cue: str,
        today: date,
    ) -> list[tuple[Fact, list[ResolvedDate]]]:
        """Each fact of a sentence with the dates of its clause."""
        hits = gazetteer.found(body, speaking.known)
        parsed = spelling.opened(
            spelling.chatted(self._parser.parse(gazetteer.recased(body, hits)))
        )
        words, ages = spelling.aged(_marked(parsed, body, dates, hits))
        found: list[tuple[Fact, list[ResolvedDate]]] = []
        parts = clauses(words)
        nickname = asking.nickname(body)
        if nickname:
            found.append((Fact(speaking.speaker, "called", nickname), []))
        for place, clause in enumerate(parts):
            if place and clause.depends in _DEPENDENT:
                continue
            begin = clause.begin if place else 0
            end = parts[place + 1].begin if place + 1 < len(parts) else len(body)
            near = [one for one in dates if begin <= one.start < end and not _denied(body, one)]
            speaking.before = tuple(speaking.named)
            reading = read(clause, body, speaking)
            if not clause.subject and not place and clause.begin == 0 and clause.tags[0] == "VBD":
                # "Lost my job yesterday": a chat leaves out who.
                reading.subjects = [Mention("me", speaking.speaker)]
            reading.dated = bool(near)
            reading.ahead = any(one.last >= today for one in near)
            if cue == "correction":
                reading.cue = "correction"
            found += [(fact, near) for fact in _ruled(reading, clause)]
        return found + [(fact, []) for fact in _ages(ages, [fact for fact, _ in found])]


def _ages(ages: Mapping[str, str], found: Sequence[Fact]) -> list[Fact]:
    """Leo (4): the age of somebody the sentence says is somebody's child, sister, friend."""
    kin = {fact.subject for fact in found if _KIN.search(fact.predicate)}
    return [Fact(name, "age", age) for name, age in ages.items() if name in kin]


def _ruled(reading: Reading, clause: Clause) -> list[Fact]:
    """What the rules find in a clause, and what its noun phrases imply."""
    named = [
        mention
        for words in [words for _, words in reading.parts]
        for mention in (reading.names(words) if words else [])
    ]
    states = clause.main in _BEING and (clause.main != "keep" or "be" in clause.verbs)
    if any(word.low in _NONE for word in (*clause.subject, *clause.rest)):
        return []
    wanted = bool(_WANTING & set(clause.verbs[:-1])) or (states and bool(_WILL & set(clause.verbs)))
    facts = [] if wanted else being(reading) if states else doing(reading)
    if not states or not facts:
        facts += planning(reading)
    implied = [
        Fact(*triple, cue="update" if mention.new else "", confidence=8_500, passing=True)
        for mention in (*reading.subjects, *named)
        for triple in mention.implied
    ]
    if clause.main in ("die", "pass") or (clause.main == "put" and "down" in _words_of(clause)):
        implied = [replace(f, cue="ended") if f.predicate == "has_pet" else f for f in implied]
    pronoun = any(mention.sort == "pronoun" for mention in reading.subjects)
    sure = [replace(fact, confidence=6_500) if pronoun else fact for fact in facts]
    return [*sure, *implied]


def _worth_parsing(sentence: str) -> bool:
    return len(sentence) <= gate.LONGEST and not gate.is_code(sentence)


def _denied(body: str, one: ResolvedDate) -> bool:
    """Not Monday."""
    return body[: one.start].rstrip().endswith((" not", ",not"))


def _words_of(clause: Clause) -> list[str]:
    """What follows a clause's verb, in lower case."""
    return [word.low for word in clause.rest]


def _doubt(sentence: str, following: str, recalled: Sequence[str]) -> Doubt | None:
    lead = asking.asked(sentence)
    doubt = gate.doubt_of(sentence[lead.start :] if lead.explicit else sentence, following)
    if doubt is not None:
        return doubt
    if gate.repeats(sentence[lead.start :], recalled):
        return "recalled"
    body = sentence[lead.start :]
    wanted = lead.explicit or asking.wish(body) or asking.nickname(body)
    return "command" if asking.is_command(body) and not wanted else None


def _english(text: str) -> bool:
    """Is it more English than anything else? The rules read nothing else."""
    return len(_FOREIGN.findall(text)) <= len(_ENGLISH.findall(text))


def _shifted(one: ResolvedDate, by: int) -> ResolvedDate:
    return replace(one, start=one.start - by, end=one.end - by)


def _sides(body: str, dates: Sequence[ResolvedDate]) -> tuple[frozenset[int], frozenset[int]]:
    """Which dates are said with "since", and which with "until"."""
    since: set[int] = set()
    until: set[int] = set()
    for one in dates:
        words = body[max(0, one.start - 9) : one.start + 6]
        if _SINCE.search(words):
            since.add(one.start)
        if _UNTIL.search(words):
            until.add(one.start)
    return frozenset(since), frozenset(until)


def _marked(
    words: Sequence[Word],
    body: str,
    dates: Sequence[ResolvedDate],
    hits: Sequence[gazetteer.Known],
) -> list[Word]:
    """Words as they were written, with the dates and the known names they belong to."""
    found: list[Word] = []
    for place, word in enumerate(words):
        dated = any(one.start < word.end and word.start < one.end for one in dates)
        entity = next((h.entity for h in hits if h.start <= word.start and word.end <= h.end), "")
        text = body[word.start : word.end]
        tag = "NNP" if entity and word.tag != "POS" else word.tag
        if tag in ("NN", "NNS") and place and text.istitle() and not dated:
            # A name with the ending of a plural ("Annelies").
            tag = "NNP"
        found.append(replace(word, text=text, dated=dated and not entity, entity=entity, tag=tag))
    return found


def _unique(found: Sequence[Candidate]) -> tuple[Candidate, ...]:
    """Each statement once, the first time it was made."""
    seen: set[tuple[str, str, str, bool]] = set()
    kept: list[Candidate] = []
    for one in found:
        key = (one.subject.lower(), one.predicate, one.value.lower(), one.negated)
        if key not in seen:
            seen.add(key)
            kept.append(one)
    return tuple(kept)
