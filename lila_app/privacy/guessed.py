"""What has no checksum: addresses of houses and machines, postcodes, ages, titles, days.

Patterns alone, like `sure`, but of forms that other things have too; so they are by choice.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from lila_app.privacy.spans import Kind, Span

_STREET = (
    r"(?:street|st|avenue|ave|av|road|rd|lane|ln|drive|dr|boulevard|blvd|court|ct|place|pl"
    r"|square|sq|terrace|ter|parkway|pkwy|highway|hwy|circle|cir|trail|trl|way|close|crescent|cres"
    r"|grove|gardens|mews|row|walk|quay|esplanade|parade|alley|crossing|fork|forks|heights|hollow"
    r"|isle|junction|knoll|landing|loop|manor|meadows?|mount|orchard|overpass|path|pike|plaza"
    r"|point|ridge|route|run|shoal|shores?|spring|springs|summit|turnpike|union|valley|view|villages?"
    r"|vista|fort|cape|causeway|mills?|corner|bend|dam|glen|haven|brook|bridge|camp|canyon|cliffs?"
    r"|common|course|cove|creek|crest|dale|divide|estates?|expressway|extension|falls|ferry|fields?"
    r"|flats?|ford|forest|forge|freeway|garden|gateway|green|harbors?|hills?|inlet|island|key|lake"
    r"|light|lodge|mall|motorway|neck|oval|park|pass|passage|plain|port|prairie|radial|ramp|ranch"
    r"|rapids?|rest|river|skyway|station|stravenue|stream|throughway|trace|track|trafficway|tunnel"
    r"|underpass|viaduct|ville|well|wells)"
)
"""Endings of street names: the US postal service's list (Publication 28, appendix C1), in full."""

_SURELY_STREET = (
    r"(?:Street|St|Avenue|Ave|Road|Rd|Lane|Ln|Drive|Dr|Boulevard|Blvd|Court|Ct|Square|Sq|Terrace"
    r"|Parkway|Pkwy|Highway|Hwy|Circle|Crescent)"
)
"""Those that make a street of a name without a house's number."""

_NATIVE = (
    r"(?:[^\W\d_][\w'’.\-]{0,30}(?:stra(?:ss|ß)e|str\.|gasse|v[äa]gen|ulica|weg|platz|allee|damm|ufer|straat|laan|gracht"
    r"|plein|kade|gade|vej|gata|gatan|gate|vegen|veien|katu|tie|utca|utcája|útja|tér)"
    r"|(?:rue|avenue|boulevard|place|chemin|allée|quai|via|viale|piazza|corso|calle|avenida|avda\.?|plaza"
    r"|paseo|rua|travessa|praça|largo|ulica|ul\.|ulice|bulevardi|odos|οδός|λεωφόρος)\s+[^\W\d_]"
    r"[\w'’.\-]{0,40})"
)
"""Streets of other languages: with the ending, or after the word, they have there."""

_WORD = r"[^\W\d_][\w'’.\-]{0,40}"
_NAME = r"(?-i:[^\W\d_a-zà-ÿ][\w'’.\-]{0,40})"
"""A word that begins with no small letter."""
_HOUSE = r"(?:\d{2,6}\s)?\d{1,6}[A-Za-z]?(?:[\-/]\d{1,4}[A-Za-z]?)?"
_UNIT = (
    r"(?:(?:apt|apartment|suite|ste|unit|flat|floor|fl|room|rm|building|bldg|lot)\b\.?\s*\#?\s*"
    r"[\w\-]{1,6}|p\.?\s?o\.?\s?box\s+\d{1,6}|(?:psc|unit)\s+\d+,?\s+box\s+\d+"
    r"|(?:dpo|apo|fpo)\s+a[aep]\s+\d{5})"
)
_POSTCODE = (
    r"(?:\d{5}(?:-\d{4})?|[A-Z]{1,2}\d[A-Z\d]?\s\d[A-Z]{2}|[A-Z]\d[A-Z]\s?\d[A-Z]\d"
    r"|\d{4}\s?[A-Z]{2}|\d{3}\s\d{2}|\d{2}-\d{3}|\d{4})"
)

_SEGMENT = (
    r"[ \t]*[,\n][\s,]{0,4}(?![^\W\d_]+:)(?-i:[^\W\d_a-zà-ÿ][\w'’.\-()]{0,40}"
    r"(?:[ \-]\(?[^\W\d_a-zà-ÿ][\w'’.\-)]{0,40}){0,4}|nan\b)"
)
_TAIL = (
    rf"(?:(?:[\s,]{{1,4}}{_UNIT})+(?:\s{_NAME}){{0,4}})?(?:{_SEGMENT}){{0,4}}"
    rf"(?:[\s,]{{1,4}}(?:{_POSTCODE})(?:{_SEGMENT})?)?(?!\w)"
)
"""What may follow a street: a flat, a town or region, a postcode."""


def _form(text: str) -> re.Pattern[str]:
    return re.compile(text, re.IGNORECASE)


_PROPER = r"[^\W\d_a-zà-ÿ][\w'’\-]{1,40}"
"""A word of two letters or more that begins with a capital."""
_FULL = rf"{_PROPER}(?:\s[^\W\d_a-z]\.?(?!\w))?(?:[ \-]{_PROPER}){{0,2}}"
"""A name of a person as people write it: up to three words, perhaps an initial."""

_MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?"
    r"|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)"
)

PATTERNS: tuple[tuple[Kind, re.Pattern[str]], ...] = (
    ("address", _form(rf"\b{_HOUSE}\s(?:{_NAME}\s){{1,4}}?{_STREET}\b\.?{_TAIL}")),
    (
        "address",
        _form(rf"(?<!\w){_HOUSE},?\s{_NATIVE}(?:\s{_WORD}){{0,3}}?(?:,?\s{_HOUSE})?{_TAIL}"),
    ),
    ("address", _form(rf"(?<!\w){_NATIVE}(?:\s{_NAME}){{0,3}},?\s{_HOUSE}\b{_TAIL}")),
    ("address", _form(rf"(?<!\w){_UNIT}{_TAIL}")),
    ("address", re.compile(rf"(?<!\w)\d{{2,6}},?\s(?:{_PROPER}\s){{1,3}}\d{{1,5}}(?!\w){_TAIL}")),
    (
        "address",
        re.compile(
            rf"(?<!\w)(?!(?:19|20)\d\d\s)\d{{1,6}}[A-Za-z]?\s{_PROPER}(?:\s{_PROPER}){{0,3}}"
            rf"(?=\s*[,\n]|\s+\d+(?!\w)){_TAIL}"
        ),
    ),
    (
        "address",
        re.compile(
            r"(?i:\b(?:address(?:\s+is|:)?|liv(?:e|es|ed|ing)\s+(?:at|on|in)|located\s+(?:at|on|in)"
            r"|moved?\s+to|return\s+to|deliver(?:ed)?\s+to))\s+"
            rf"(?P<it>(?:{_PROPER}\s){{1,4}}\d{{1,5}}(?!\w){_TAIL})"
        ),
    ),
    ("address", re.compile(rf"(?<!\w)(?:{_NAME}\s){{1,3}}{_SURELY_STREET}\b(?!\s+[a-z]+ing)")),
    (
        "postcode",
        _form(
            rf"\b(?:zip|postcode|post\s?code|postal\s+code|plz)(?:\s*code)?(?:\s+(?:is|to|for))*"
            rf"[\s:#=]*(?P<it>{_POSTCODE})(?!\w)"
        ),
    ),
    ("postcode", re.compile(r"(?<!\w)[A-Z]{1,2}\d[A-Z\d]? \d[A-Z]{2}(?!\w)")),
    ("postcode", re.compile(r"(?<=\b[A-Z]{2} )\d{5}(?:-\d{4})?(?!\w)")),
    (
        "title",
        re.compile(
            r"(?<!\w)(?:Mrs|Mr|Ms|Miss|Mx|Dr|Prof|Sir|Madam|Lord|Lady|Rev|Fr|Capt|Lt|Sgt|Hon"
            r"|Herr|Frau|Mme|Mlle|Sr|Sra|Judge|Senator|Professor|Doctor|mrs|mr|ms|dr)\b\.?"
            r"(?=\s+[^\W\d_])"
        ),
    ),
    (
        "person",
        re.compile(
            r"(?<!\w)(?:Mrs|Mr|Ms|Miss|Mx|Dr|Prof|mrs|mr|ms|dr|Herr|Frau)\b\.?\s+"
            rf"(?P<it>{_FULL})"
        ),
    ),
    (
        "person",
        re.compile(
            r"(?i:\b(?:my name is|my name's|name is|i am called|call me|sincerely,?"
            r"|(?:best|kind) regards,?|cheers,?|signed,?|yours,?))\s+"
            rf"(?P<it>{_FULL})"
        ),
    ),
    (
        "person",  # in small letters, as people type: only where nothing but a name can follow
        re.compile(
            r"(?i:\bmy name is|\bmy name's|\bname:)\s+"
            r"(?P<it>(?!not |the |on |in |a )[^\W\d_][\w'’\-]{1,40}"
            r"(?:\s(?!but\b|and\b|from\b|i\b|who\b|not\b|so\b)[^\W\d_][\w'’\-]{1,40})?)(?!\w)"
        ),
    ),
    ("person", re.compile(rf"(?<!\w){_PROPER}\s[A-Z]\.?\s{_PROPER}(?:-{_PROPER})?")),
    (
        "organisation",
        re.compile(
            rf"(?<!\w)(?:{_PROPER}(?:,?\s(?:and|&)\s|[ \-]|,\s)){{1,4}}"
            r"(?:Inc|Ltd|LLC|LLP|Corp|PLC|plc|Co|GmbH|AG|BV|NV|Oy|AB|Sons|Group|Partners|Holdings"
            r"|Technologies|Solutions|Systems|Labs|Laboratories|Industries|Consulting|Capital|Bank"
            r"|Insurance|University|College|Institute|Foundation|Association|Hospital|Clinic|Hotel"
            r"|Corporation|Company|Limited|Ventures|Media|Studios?|Airlines|Energy|Pharmaceuticals)"
            r"(?!\w)\.?"
        ),
    ),
    (
        "organisation",  # as law firms and partnerships are called
        re.compile(rf"(?<!\w){_PROPER},\s{_PROPER}\s(?:and|&)\s{_PROPER}"),
    ),
    (
        "age",
        _form(
            r"\b(?P<it>\d{1,3})(?=[ \-]?(?:years?|yrs?|months?|mos?|y\.?/?o\b|yo\b)"
            r"(?:[ \-]?old\b|[ \-]of[ \-]age\b|\b\.?/?o\b|(?<=o)\b))"
        ),
    ),
    ("age", _form(r"\b(?:aged?|turn(?:ed|ing|s)?|age:|at the age of)\s+(?P<it>\d{1,3})(?![\w%])")),
    ("date", _form(r"(?<!\w)(?:19|20)\d\d[\-/.](?:0?[1-9]|1[0-2])[\-/.](?:3[01]|[0-2]?\d)(?!\w)")),
    ("date", _form(r"(?<!\w)(?:3[01]|[0-2]?\d)[\-/.](?:3[01]|[0-2]?\d)[\-/.](?:\d\d){1,2}(?!\w)")),
    (
        "date",
        _form(
            rf"\b(?:(?:3[01]|[0-2]?\d)(?:st|nd|rd|th)?\s+(?:of\s+)?{_MONTH}\b|{_MONTH}\s+"
            r"(?:3[01]|[0-2]?\d)(?:st|nd|rd|th)?\b)(?:,?\s+(?:19|20)\d\d)?"
        ),
    ),
    ("date", _form(r"\b(?:mon|tues|wednes|thurs|fri|satur|sun)day\b")),
    ("date", re.compile(r"\b(?:1[5-9]|20)\d\d(?:s|(?!\w|[.,:]\d))")),
    (
        "ip",
        re.compile(r"(?<![\w.])(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)(?:\.(?!\D)|(?![\d.]\d))){4}(?!\w)"),
    ),
    (
        "ip",
        re.compile(
            r"(?<![\w:])(?=[0-9a-fA-F:]*:[0-9a-fA-F:]*:)(?:[0-9a-fA-F]{1,4}(?::|(?=::))){0,7}:?:?"
            r"(?:[0-9a-fA-F]{1,4}:){0,6}[0-9a-fA-F]{1,4}(?![\w:])"
        ),
    ),
    (
        "domain",
        _form(
            r"(?:https?://[^\s<>\"')\]]*[^\s<>\"')\].,;:!?]|(?<![\w@.\-])(?:www\.)?(?:[a-z0-9]"
            r"(?:[a-z0-9\-]{0,61}[a-z0-9])?\.)+(?:com|org|net|edu|gov|mil|int|info|biz|io|dev|app|ai"
            r"|co|me|tv|uk|us|de|fr|es|it|nl|be|ch|at|pl|se|no|dk|fi|ie|pt|cz|ru|ua|gr|hu|ro|eu|ca|au"
            r"|nz|jp|cn|in|br|mx|ar|za|kr|tr|il|sg|hk)\b(?:/[^\s<>\"')\]]*[^\s<>\"')\].,;:!?])?)"
        ),
    ),
    (
        "username",
        _form(r"(?<![\w@./])@(?P<it>[a-z][\w]{2,30})(?![\w.@])"),
    ),
    (
        "username",
        _form(
            r"\b(?:user\s?name|user\s?id|login|handle|nick(?:name)?)(?:\s+is|\s*[:=])\s*[\"'“]?"
            r"(?P<it>[\w.\-]{3,40}\w)"
        ),
    ),
)


_FOREIGN = re.compile(r"(?<!\w)[^\W\d_a-zà-ÿ][\w'’\-]{0,40}(?:[ \-][^\W\d_a-zà-ÿ][\w'’\-]{0,40})*")
_TOKEN = re.compile(r"[^\W\d_]+")
_MOSTLY = 3
"""One word in so many may hold letters English has not, for a text to be English all the same."""


def find(text: str, kinds: frozenset[Kind]) -> Iterator[Span]:
    """Everything of these kinds that a pattern finds; finds may overlap."""
    for kind, form in PATTERNS:
        if kind in kinds:
            group = "it" if "it" in form.groupindex else 0
            for match in form.finditer(text):
                if match.end(group) > match.start(group):
                    yield Span(*match.span(group), kind)
    if "person" in kinds and not text.isascii():
        yield from _foreign(text)


def _foreign(text: str) -> Iterator[Span]:
    """Capitalised words with letters English does not have: in English text they are names."""
    words = _TOKEN.findall(text)
    if sum(not word.isascii() for word in words) * _MOSTLY > len(words):
        return
    for match in _FOREIGN.finditer(text):
        if any(sign.isalpha() and not sign.isascii() for sign in match[0]):
            yield Span(match.start(), match.end(), "person")


_AROUND: tuple[tuple[int, int, Kind], ...] = ((-1, 2, "person"), (1, 4, "place"))
"""Which way lines are looked at from an address, how many, and what they are taken for."""


def block(text: str, found: Sequence[Span]) -> Iterator[Span]:
    """Short lines around an address that stands on a line of its own: who lives there, and where.

    As in a signature or on an envelope: up to two lines before, up to four after.
    """
    lines: list[tuple[int, int]] = []
    start = 0
    for line in text.split("\n"):
        lines.append((start, start + len(line)))
        start += len(line) + 1
    places = [
        place
        for place, (start, end) in enumerate(lines)
        if any(
            one.kind == "address"
            and one.start < end
            and one.end > start
            and 2 * (min(one.end, end) - max(one.start, start)) >= end - start
            for one in found
        )
    ]
    for place in places:
        for step, most, kind in _AROUND:
            near = place + step
            while 0 <= near < len(lines) and abs(near - place) <= most:
                inner = _SHORT.fullmatch(text, *lines[near])
                if inner is None:
                    break
                if inner["it"]:
                    yield Span(*inner.span("it"), kind)
                near += step


_SHORT = re.compile(
    r"[\s,>?*|\-]*"
    r"(?P<it>(?:[^\W_][\w'’.\-]{0,40}(?:[ ,&()]+[^\W_][\w'’.\-]{0,40}\)?){0,4})?)[\s,.]*"
)
