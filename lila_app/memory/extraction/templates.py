"""Templates for what is said of things by their form: tickets, orders, who leads what, times.

Tried on the words as they stand where the rules for clauses found nothing, for such sentences are
often no English the tagger knows ("ticket OPS-12 is priority P2").
"""

from __future__ import annotations

import re

from lila_app.memory.extraction.lexicon import DIETS, is_medicine
from lila_app.memory.extraction.reading import Fact
from lila_app.memory.model import Cue

_THING = r"(?:the |my |our )?(?P<thing>[\w#][\w# -]{1,60}?)"
_AT = (
    r"(?P<at>noon|midnight|(?:half past|quarter past|quarter to) \w+|"
    r"\d{1,2}(?::\d\d)?(?: ?[ap]m)?|"
    r"one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)(?: o'clock)?"
)
_PRIORITY = re.compile(
    rf"^{_THING} (?:is|was|has been)(?: currently| now| still)?"
    r"(?P<moved> (?:escalated|lowered|raised|moved|changed|set|downgraded|bumped) to)?"
    r"(?: at)? priority (?P<value>P?\d|high|low|medium|urgent|critical|normal)\b",
    re.IGNORECASE,
)
_STATUS = re.compile(
    rf"^{_THING} (?:(?:is|was)(?: currently| now| still)? |(?P<moved>has(?: just|"
    rf" now)?(?: been)?) )"
    r"(?P<value>pending|shipped|delivered|cancelled|canceled|open|closed|merged|done|blocked|"
    r"in progress|on hold|delayed|approved|rejected|paid|refunded|returned|ready|resolved|fixed)\b"
    r"[.! ]*$",
    re.IGNORECASE,
)
_LEADS = re.compile(
    r"^(?P<who>[A-Z][\w'’-]+(?: [A-Z][\w'’-]+)?|I)(?:'m| am| is|'s)(?: now)?(?: the)?(?: new)? "
    r"(?P<role>lead|head|captain|chair|president|treasurer|secretary|owner|director|coach)"
    r" (?:on|of|for|at) (?:the |our |my )?(?P<thing>[\w&' -]{2,60}?)(?: now)?[.!]*$"
)
_BARE_LEAD = re.compile(r"^[A-Z][\w'’-]+ is now the (?:new )?(?:lead|head|captain|chair)[.! ]*$")
_TEAM = re.compile(
    r"\b(?:on|of|for|in) (?:the |our )?([\w-]+(?: [\w-]+)? (?:team|project|group|department))\b"
)
_DIET = re.compile(
    r"\b([\w-]+) (?:is|works|would be) (?:fine|ok|okay)(?: for me)? now\b", re.IGNORECASE
)
# What the gate lets through: with how often it is to be taken.
_PRESCRIBED = re.compile(
    r"^my \w+ (?:has )?told me to take (?:[\d.,]+ ?(?:mg|mcg|µg|g|ml|units?|tablets?|pills?)? )?"
    r"(?:of )?([a-z]+)\b(?! or\b)",
    re.IGNORECASE,
)
_TIMED = re.compile(
    rf"^{_THING} (?:is|starts|begins|(?P<moved>(?:was |has been )?(?:moved|pushed|changed|shifted)"
    rf"(?: back| forward)? to)|(?P<now>is now|now starts))(?: now)?(?: at)? {_AT}[.! ]*$",
    re.IGNORECASE,
)
_CHANGED = re.compile(
    rf"^{_THING} (?:was|has been|got)(?: just)? (?:changed|updated|reset|set) to "
    r"(?P<value>[\w.@#+-]{2,40})[.! ]*$",
    re.IGNORECASE,
)
_ATTRIBUTE = re.compile(
    r"^(?P<thing>[\w -]{2,40}) (?P<what>password|code|number|pin|combination|plate|passphrase)"
    r"(?: (?:(?:of|for)|(?P<at>at|in)) (?:the |my |our )?(?P<of>.{2,40}))?$",
    re.IGNORECASE,
)
_SCHEDULED = re.compile(
    r"\b(?:meeting|rehearsal|class|lesson|appointment|call|stand-?up|lunch|dinner|party|concert|"
    r"exam|interview|show|practice|training|course|session|match|game|flight|train|webinar)\b",
    re.IGNORECASE,
)
_NUMBERED = re.compile(r"\d")


def templated(body: str, speaker: str, cue: Cue, before: str = "") -> list[Fact]:
    """What the first template that fits a sentence states; `before` is what was said before it."""
    body = re.sub(r"^update[:,]\s*", "", body.strip(), flags=re.IGNORECASE)
    if _BARE_LEAD.search(body) and (team := named_before(before)):
        body = f"{body.rstrip('.! ')} of {team}"
    for rule in (_priority, _status, _leads, _changed, _timed, _eats, _prescribed):
        facts = rule(body, speaker, cue)
        if facts:
            return facts
    return []


def _cue(found: re.Match[str], cue: Cue) -> Cue:
    return cue or ("update" if found.groupdict().get("moved") else "")


def _priority(body: str, speaker: str, cue: Cue) -> list[Fact]:
    del speaker
    found = _PRIORITY.match(body)
    if not found:
        return []
    return [Fact(found["thing"], "attribute_priority", found["value"], cue=_cue(found, cue))]


def _status(body: str, speaker: str, cue: Cue) -> list[Fact]:
    """Order KX-88 has shipped: only what has a number of its own."""
    del speaker
    found = _STATUS.match(body)
    if not found or not _NUMBERED.search(found["thing"]):
        return []
    return [Fact(found["thing"], "attribute_status", found["value"].lower(), cue=_cue(found, cue))]


def _leads(body: str, speaker: str, cue: Cue) -> list[Fact]:
    """Priya is the lead on the payments team."""
    found = _LEADS.match(body)
    if not found:
        return []
    who = speaker if found["who"] == "I" else found["who"]
    changed: Cue = "update" if re.search(r"\b(?:now|new)\b", body) else cue
    return [Fact(found["thing"], f"has_{found['role']}", who, cue=changed)]


def _timed(body: str, speaker: str, cue: Cue) -> list[Fact]:
    """The rehearsal is at half past seven: a time without a day."""
    del speaker
    found = _TIMED.match(body)
    if not found or not _SCHEDULED.search(found["thing"]):
        return []
    moved: Cue = "update" if found["moved"] or found["now"] else cue
    return [Fact(scheduled(found["thing"]), "attribute_time", found["at"], cue=moved or cue)]


def _changed(body: str, speaker: str, cue: Cue) -> list[Fact]:
    """The password of the cabin was changed to otter77."""
    found = _CHANGED.match(body)
    held = _ATTRIBUTE.match(found["thing"]) if found else None
    if not found or not held:
        return []
    owner = speaker if body.lower().startswith(("my ", "our ")) else held["thing"].lower()
    what = held["what"].lower()
    if owner == speaker:
        what = f"{held['thing'].lower().replace(' ', '_')}_{what}"
    elif held["at"]:
        # The place has its own: said the same way where it is first told.
        owner, what = held["of"].lower(), f"{owner.replace(' ', '_')}_{what}"
    value = found["value"].rstrip(".")
    return [Fact(owner, f"attribute_{what}", value, cue=cue or "update")]


def _prescribed(body: str, speaker: str, cue: Cue) -> list[Fact]:
    """My doctor told me to take 20 mg of lisinopril every morning."""
    found = _PRESCRIBED.match(body)
    if not found or not is_medicine(found[1]):
        return []
    return [Fact(speaker, "takes_medicine", found[1], cue=cue or "update", when="from")]


def _eats(body: str, speaker: str, cue: Cue) -> list[Fact]:
    """So pescatarian is fine now."""
    found = _DIET.search(body)
    if not found or found[1].lower() not in DIETS:
        return []
    return [Fact(speaker, "diet", found[1].lower(), cue=cue or "update", when="from")]


def named_before(text: str) -> str:
    """The team or project that was spoken of last."""
    found = _TEAM.findall(text)
    return found[-1] if found else ""


_WITH_TEAM = re.compile(
    r"^(?P<what>[\w -]+?) with (?:the |our |my )?(?P<team>[\w -]+ (?:team|group|committee|board|"
    r"department|crew))$",
    re.IGNORECASE,
)


def scheduled(name: str) -> str:
    """One name for what is said in two ways: the meeting with the design team, its deadline."""
    name = re.sub(r"^(?:the person's|the|my|our) ", "", name)
    name = re.sub(r"(?<=\w) (?:deadline|due date)$", "", name)
    found = _WITH_TEAM.match(name)
    return f"{found['team']} {found['what']}" if found else name
