"""English as it is said."""

from __future__ import annotations

from lila_app.voice.speakable.language import Amount, Currency, Language

_SMALL = (
    *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"),
    *("ten", "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen"),
    *("eighteen", "nineteen"),
)
_TENS = ("", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_SCALES = ((10**12, "trillion"), (10**9, "billion"), (10**6, "million"), (1000, "thousand"))
_ORDINALS = {
    "one": "first",
    "two": "second",
    "three": "third",
    "five": "fifth",
    "eight": "eighth",
    "nine": "ninth",
    "twelve": "twelfth",
}
_FRACTIONS = {2: ("half", "halves"), 4: ("quarter", "quarters")}
_MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
_SHORT_MONTHS = (
    *("Jan", "Feb", "Mar", "Apr", "May", "Jun"),
    *("Jul", "Aug", "Sept?", "Oct", "Nov", "Dec"),
)


def cardinal(number: int) -> str:
    """How many, below 10^15: 1984 is "one thousand nine hundred eighty-four"."""
    if number < 20:
        return _SMALL[number]
    if number < 100:
        tens, rest = divmod(number, 10)
        return _TENS[tens] + (f"-{_SMALL[rest]}" if rest else "")
    if number < 1000:
        hundreds, rest = divmod(number, 100)
        return f"{_SMALL[hundreds]} hundred" + (f" {cardinal(rest)}" if rest else "")
    size, name = next(scale for scale in _SCALES if number >= scale[0])
    many, rest = divmod(number, size)
    return f"{cardinal(many)} {name}" + (f" {cardinal(rest)}" if rest else "")


def ordinal(number: int) -> str:
    """Which one: 21 is "twenty-first"."""
    words = cardinal(number)
    cut = max(words.rfind(" "), words.rfind("-")) + 1
    last = words[cut:]
    if last not in _ORDINALS:
        return words[:-1] + "ieth" if last.endswith("y") else words + "th"
    return words[:cut] + _ORDINALS[last]


def year(number: int) -> str:
    """A year of four digits: 1984 is "nineteen eighty-four", 2005 "two thousand five"."""
    century, rest = divmod(number, 100)
    if century % 10 == 0 and rest < 10:
        return cardinal(number)
    if not rest:
        return f"{cardinal(century)} hundred"
    return f"{cardinal(century)} " + (f"oh {_SMALL[rest]}" if rest < 10 else cardinal(rest))


def clock(hour: int, minute: int, half: str) -> str:
    """A time: 9:05 is "nine oh five", 15:00 "fifteen hundred", 3 p.m. stays "three p.m."."""
    after = f" {half}.m." if half else ""
    if minute:
        return f"{cardinal(hour)} " + (
            f"oh {_SMALL[minute]}{after}" if minute < 10 else f"{cardinal(minute)}{after}"
        )
    if half:
        return cardinal(hour) + after
    if hour == 0:
        return "midnight"
    return f"{cardinal(hour)} hundred" if hour > 12 else f"{cardinal(hour)} o'clock"


def date(number: int, month: int, day: int, before: str) -> str:
    """A date: "November thirtieth, twenty twenty-six"."""
    del before
    said = f"{_MONTHS[month - 1]} {ordinal(day)}"
    return f"{said}, {year(number)}" if number else said


def money(whole: int, hundredths: int, currency: Currency) -> str:
    """An amount: "three dollars and fifty cents"."""
    large = currency.whole.one if whole == 1 else f"{cardinal(whole)} {currency.whole.many}"
    small = currency.part.one if hundredths == 1 else f"{cardinal(hundredths)} {currency.part.many}"
    if not hundredths:
        return large
    return f"{large} and {small}" if whole else small


def fraction(over: int, under: int) -> str:
    """A part: 3/4 is "three quarters", 1/2 "one half"."""
    one, many = _FRACTIONS.get(under, (ordinal(under), f"{ordinal(under)}s"))
    return f"{cardinal(over)} {one if over == 1 else many}"


def spelled(word: str) -> bool:
    """Whether to say it letter by letter: never, the engines tell USB from NASA themselves."""
    del word
    return False


def _unit(one: str, many: str | None = None) -> Amount:
    return Amount(f"one {one}", many or f"{one}s")


def _currency(one: str, many: str, part: str, parts: str) -> Currency:
    return Currency(Amount(f"one {one}", many), Amount(f"one {part}", parts))


_DOLLAR = _currency("dollar", "dollars", "cent", "cents")
_EURO = _currency("euro", "euros", "cent", "cents")
_POUND = _currency("pound", "pounds", "penny", "pence")
_YEN = _currency("yen", "yen", "sen", "sen")
_FRANC = _currency("franc", "francs", "centime", "centimes")
_RUPEE = _currency("rupee", "rupees", "paisa", "paise")

_THOUSAND = Amount("one thousand", "thousand")
_MILLION = Amount("one million", "million")
_BILLION = Amount("one billion", "billion")

ENGLISH = Language(
    code_omitted="code omitted",
    decimal=".",
    thousands=",",
    point="point",
    dot="dot",
    at="at",
    dash="dash",
    minus="minus",
    plus="plus",
    to="to",
    ratio="to",
    per="per",
    slash="slash",
    out_of="out of",
    number_dot="point",
    by="by",
    times="times",
    about="about",
    number="number",
    power="to the power of",
    cardinal=cardinal,
    ordinal=ordinal,
    year=year,
    clock=clock,
    date=date,
    money=money,
    fraction=fraction,
    ordinal_suffix=r"(?:st|nd|rd|th)\b",
    spelled=spelled,
    months=_MONTHS,
    short_months=_SHORT_MONTHS,
    weekdays=("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"),
    day_first=False,
    units={
        "km": _unit("kilometer"),
        "m": _unit("meter"),
        "cm": _unit("centimeter"),
        "mm": _unit("millimeter"),
        "µm": _unit("micrometer"),
        "nm": _unit("nanometer"),
        "km²": _unit("square kilometer"),
        "m²": _unit("square meter"),
        "m2": _unit("square meter"),
        "m³": _unit("cubic meter"),
        "kg": _unit("kilogram"),
        "g": _unit("gram"),
        "mg": _unit("milligram"),
        "t": _unit("ton"),
        "l": _unit("liter"),
        "L": _unit("liter"),
        "ml": _unit("milliliter"),
        "mL": _unit("milliliter"),
        "ft": _unit("foot", "feet"),
        "mi": _unit("mile"),
        "yd": _unit("yard"),
        "lb": _unit("pound"),
        "lbs": _unit("pound"),
        "oz": _unit("ounce"),
        "tbsp": _unit("tablespoon"),
        "tsp": _unit("teaspoon"),
        "°C": _unit("degree Celsius", "degrees Celsius"),
        "°F": _unit("degree Fahrenheit", "degrees Fahrenheit"),
        "°": _unit("degree"),
        "km/h": _unit("kilometer per hour", "kilometers per hour"),
        "kph": _unit("kilometer per hour", "kilometers per hour"),
        "mph": _unit("mile per hour", "miles per hour"),
        "m/s": _unit("meter per second", "meters per second"),
        "B": _unit("byte"),
        "kB": _unit("kilobyte"),
        "KB": _unit("kilobyte"),
        "MB": _unit("megabyte"),
        "GB": _unit("gigabyte"),
        "TB": _unit("terabyte"),
        "KiB": _unit("kibibyte"),
        "MiB": _unit("mebibyte"),
        "GiB": _unit("gibibyte"),
        "Mbit/s": _unit("megabit per second", "megabits per second"),
        "Mbps": _unit("megabit per second", "megabits per second"),
        "ns": _unit("nanosecond"),
        "µs": _unit("microsecond"),
        "ms": _unit("millisecond"),
        "s": _unit("second"),
        "sec": _unit("second"),
        "secs": _unit("second"),
        "min": _unit("minute"),
        "mins": _unit("minute"),
        "h": _unit("hour"),
        "hr": _unit("hour"),
        "hrs": _unit("hour"),
        "Hz": _unit("hertz", "hertz"),
        "kHz": _unit("kilohertz", "kilohertz"),
        "MHz": _unit("megahertz", "megahertz"),
        "GHz": _unit("gigahertz", "gigahertz"),
        "W": _unit("watt"),
        "kW": _unit("kilowatt"),
        "MW": _unit("megawatt"),
        "kWh": _unit("kilowatt hour"),
        "V": _unit("volt"),
        "mAh": _unit("milliamp hour"),
        "J": _unit("joule"),
        "kJ": _unit("kilojoule"),
        "kcal": _unit("kilocalorie"),
        "dB": _unit("decibel"),
        "px": _unit("pixel"),
        "fps": _unit("frame per second", "frames per second"),
        "wpm": _unit("word per minute", "words per minute"),
        "hPa": _unit("hectopascal"),
        "%": _unit("percent", "percent"),
        "‰": _unit("per mille", "per mille"),
    },
    currencies={
        "$": _DOLLAR,
        "US$": _DOLLAR,
        "USD": _DOLLAR,
        "€": _EURO,
        "EUR": _EURO,
        "£": _POUND,
        "GBP": _POUND,
        "¥": _YEN,
        "JPY": _YEN,
        "CHF": _FRANC,
        "₹": _RUPEE,
        "INR": _RUPEE,
    },
    scales={
        "k": _THOUSAND,
        "K": _THOUSAND,
        "thousand": _THOUSAND,
        "m": _MILLION,
        "M": _MILLION,
        "mn": _MILLION,
        "million": _MILLION,
        "b": _BILLION,
        "B": _BILLION,
        "bn": _BILLION,
        "billion": _BILLION,
        "trillion": Amount("one trillion", "trillion"),
    },
    bare_scales={"k": "thousand", "K": "thousand", "M": "million"},
    abbreviations={
        "e.g.": "for example",
        "i.e.": "that is",
        "etc.": "et cetera",
        "vs.": "versus",
        "vs": "versus",
        "cf.": "compare",
        "approx.": "approximately",
        "incl.": "including",
        "excl.": "excluding",
        "est.": "estimated",
        "dept.": "department",
        "govt.": "government",
        "w/o": "without",
        "w/": "with",
        "a.k.a.": "also known as",
        "aka": "also known as",
        "Dr.": "Doctor",
        "Mr.": "Mister",
        "Mrs.": "Missus",
        "Ms.": "Miz",
        "Prof.": "Professor",
        "Rev.": "Reverend",
        "Gen.": "General",
        "Sen.": "Senator",
        "Gov.": "Governor",
        "Jr.": "Junior",
        "Sr.": "Senior",
        "Ave.": "Avenue",
        "Blvd.": "Boulevard",
        "Mt.": "Mount",
        "Inc.": "Incorporated",
        "Ltd.": "Limited",
        "Co.": "Company",
        "Corp.": "Corporation",
        "ASAP": "as soon as possible",
        "FYI": "for your information",
        "TBD": "to be decided",
    },
    counted={
        "No.": "number",
        "no.": "number",
        "p.": "page",
        "pp.": "pages",
        "Fig.": "figure",
        "fig.": "figure",
        "Ch.": "chapter",
        "Sec.": "section",
        "Vol.": "volume",
    },
    closing=frozenset(("etc.", "Inc.", "Ltd.", "Co.", "Corp.", "Jr.", "Sr.", "Ave.", "Blvd.")),
    signs={
        "&": "and",
        "%": "percent",
        "°": "degrees",
        "+": "plus",
        "=": "equals",
        "==": "equals",
        "≠": "is not equal to",
        "!=": "is not equal to",
        "≈": "is about",
        "<": "is less than",
        ">": "is greater than",
        "≤": "is at most",
        "<=": "is at most",
        "≥": "is at least",
        ">=": "is at least",
        "×": "times",
        "÷": "divided by",
        "±": "plus or minus",
        "√": "the square root of",
        "π": "pi",
        "∞": "infinity",
        "²": "squared",
        "³": "cubed",
        "½": "one half",
        "¼": "one quarter",
        "¾": "three quarters",
        "⅓": "one third",
        "⅔": "two thirds",
        "§": "section",
        "¢": "cents",
        "€": "euros",
        "$": "dollars",
        "£": "pounds",
        "@": "at",
        "C++": "C plus plus",
        "C#": "C sharp",
        "F#": "F sharp",
    },
)
