"""German as it is said."""

from __future__ import annotations

from lila_app.voice.speakable.language import Amount, Currency, Language

_SMALL = (
    *("null", "eins", "zwei", "drei", "vier", "fünf", "sechs", "sieben", "acht", "neun"),
    *("zehn", "elf", "zwölf", "dreizehn", "vierzehn", "fünfzehn", "sechzehn", "siebzehn"),
    *("achtzehn", "neunzehn"),
)
_TENS = (
    *("", "", "zwanzig", "dreißig", "vierzig"),
    *("fünfzig", "sechzig", "siebzig", "achtzig", "neunzig"),
)
_SCALES = (
    (10**12, "eine Billion", "Billionen"),
    (10**9, "eine Milliarde", "Milliarden"),
    (10**6, "eine Million", "Millionen"),
)
_ORDINALS = {1: "erste", 3: "dritte", 7: "siebte", 8: "achte"}
_FRACTIONS = {2: ("halb", "halbe"), 3: ("drittel", "drittel"), 7: ("siebtel", "siebtel")}
_MONTHS = (
    *("Januar", "Februar", "März", "April", "Mai", "Juni"),
    *("Juli", "August", "September", "Oktober", "November", "Dezember"),
)
_SHORT_MONTHS = (
    *("Jan", "Feb", "Mär", "Apr", "Mai", "Jun"),
    *("Jul", "Aug", "Sept?", "Okt", "Nov", "Dez"),
)
_DATIVE = ("am", "vom", "zum", "beim", "im", "dem", "den", "seit", "bis", "ab")
_SAID_AS_WORDS = [
    "NATO",
    "UNO",
    "UNESCO",
    "UNICEF",
    "NASA",
    "ESA",
    "OPEC",
    "FIFA",
    "UEFA",
    "AIDS",
    "LASER",
    "RADAR",
    "PIN",
    "SIM",
    "RAM",
    "ROM",
    "LAN",
    "WLAN",
    "GIF",
    "JSON",
    "TOML",
    "YAML",
    "BAFÖG",
    "TÜV",
    "ELSTER",
    "SCHUFA",
    "GEMA",
    "LILA",
]


def cardinal(number: int) -> str:
    """How many, below 10^15: 1984 is "eintausendneunhundertvierundachtzig"."""
    for size, one, many in _SCALES:
        if number >= size:
            count, rest = divmod(number, size)
            said = one if count == 1 else f"{_leading(count)} {many}"
            return said + (f" {cardinal(rest)}" if rest else "")
    return _below_million(number)


def _below_million(number: int) -> str:
    if number >= 1000:
        thousands, rest = divmod(number, 1000)
        return f"{_leading(thousands)}tausend" + (_below_million(rest) if rest else "")
    if number >= 100:
        hundreds, rest = divmod(number, 100)
        return f"{_leading(hundreds)}hundert" + (_below_million(rest) if rest else "")
    if number < 20:
        return _SMALL[number]
    tens, rest = divmod(number, 10)
    return (f"{_leading(rest)}und" if rest else "") + _TENS[tens]


def _leading(number: int) -> str:
    """A number before what it counts, where "eins" is "ein"."""
    return cardinal(number).removesuffix("s") if number % 100 == 1 else cardinal(number)


def ordinal(number: int) -> str:
    """Which one, as it stands after an article: 21 is "einundzwanzigste"."""
    rest = number % 100
    if 0 < rest < 20:
        before = cardinal(number - rest) if number > rest else ""
        return before + _ORDINALS.get(rest, f"{_SMALL[rest]}te")
    return f"{cardinal(number)}ste"


def year(number: int) -> str:
    """A year of four digits: 1984 is "neunzehnhundertvierundachtzig"."""
    century, rest = divmod(number, 100)
    if century >= 20 or century == 10:
        return cardinal(number).removeprefix("ein")
    return f"{cardinal(century)}hundert" + (cardinal(rest) if rest else "")


def clock(hour: int, minute: int, half: str) -> str:
    """A time: 14:30 is "vierzehn Uhr dreißig"."""
    said = f"{_leading(hour)} Uhr"
    if minute:
        said += f" {cardinal(minute)}"
    return said + {"a": " vormittags", "p": " nachmittags", "": ""}[half]


def date(number: int, month: int, day: int, before: str) -> str:
    """A date, inflected after its preposition: "am dreißigsten November"."""
    article = before.casefold()
    ending = "n" if article in _DATIVE else "" if article in ("der", "die", "das") else "r"
    said = f"{ordinal(day)}{ending} {_MONTHS[month - 1]}"
    return f"{said} {year(number)}" if number else said


def money(whole: int, hundredths: int, currency: Currency) -> str:
    """An amount: "drei Euro fünfzig"."""
    large = currency.whole.one if whole == 1 else f"{cardinal(whole)} {currency.whole.many}"
    if not hundredths:
        return large
    if whole:
        return f"{large} {cardinal(hundredths)}"
    return currency.part.one if hundredths == 1 else f"{cardinal(hundredths)} {currency.part.many}"


def fraction(over: int, under: int) -> str:
    """A part: 3/4 is "drei viertel", 1/2 "ein halb"."""
    one, many = _FRACTIONS.get(under, (f"{cardinal(under)}{'tel' if under < 20 else 'stel'}",) * 2)
    return f"{_leading(over)} {one if over == 1 else many}"


def spelled(word: str) -> bool:
    """Whether to say it letter by letter: the engines read USB and ADAC as words.

    "VIII" they know to be a number.
    """
    return word not in _SAID_AS_WORDS and len(word) <= 5 and not set(word) <= set("IVX")


def _unit(article: str, one: str, many: str | None = None) -> Amount:
    return Amount(f"{article} {one}", many or one)


def _currency(one: str, part: str = "ein Cent", parts: str = "Cent") -> Currency:
    return Currency(Amount(f"ein {one}", one), Amount(part, parts))


_EURO = _currency("Euro")
_DOLLAR = _currency("Dollar")
_POUND = _currency("Pfund", "ein Penny", "Pence")
_FRANC = _currency("Franken", "ein Rappen", "Rappen")
_YEN = _currency("Yen", "ein Sen", "Sen")

_MILLION = Amount("eine Million", "Millionen")
_BILLION = Amount("eine Milliarde", "Milliarden")

GERMAN = Language(
    code_omitted="Code ausgelassen",
    decimal=",",
    thousands=".",
    point="Komma",
    dot="Punkt",
    at="at",
    dash="Strich",
    minus="minus",
    plus="plus",
    to="bis",
    ratio="zu",
    per="pro",
    slash="Schrägstrich",
    out_of="von",
    number_dot="Punkt",
    by="mal",
    times="mal",
    about="etwa",
    number="Nummer",
    power="hoch",
    cardinal=cardinal,
    ordinal=ordinal,
    year=year,
    clock=clock,
    date=date,
    money=money,
    fraction=fraction,
    ordinal_suffix=r"\.(?=\s[a-zäöüA-ZÄÖÜ])",
    spelled=spelled,
    months=_MONTHS,
    short_months=_SHORT_MONTHS,
    weekdays=(),
    day_first=True,
    units={
        "km": _unit("ein", "Kilometer"),
        "m": _unit("ein", "Meter"),
        "cm": _unit("ein", "Zentimeter"),
        "mm": _unit("ein", "Millimeter"),
        "km²": _unit("ein", "Quadratkilometer"),
        "m²": _unit("ein", "Quadratmeter"),
        "m³": _unit("ein", "Kubikmeter"),
        "kg": _unit("ein", "Kilogramm"),
        "g": _unit("ein", "Gramm"),
        "mg": _unit("ein", "Milligramm"),
        "t": _unit("eine", "Tonne", "Tonnen"),
        "l": _unit("ein", "Liter"),
        "L": _unit("ein", "Liter"),
        "ml": _unit("ein", "Milliliter"),
        "EL": _unit("ein", "Esslöffel"),
        "TL": _unit("ein", "Teelöffel"),
        "°C": _unit("ein", "Grad Celsius"),
        "°F": _unit("ein", "Grad Fahrenheit"),
        "°": _unit("ein", "Grad"),
        "km/h": _unit("ein", "Kilometer pro Stunde"),
        "m/s": _unit("ein", "Meter pro Sekunde"),
        "B": _unit("ein", "Byte"),
        "kB": _unit("ein", "Kilobyte"),
        "KB": _unit("ein", "Kilobyte"),
        "MB": _unit("ein", "Megabyte"),
        "GB": _unit("ein", "Gigabyte"),
        "TB": _unit("ein", "Terabyte"),
        "Mbit/s": _unit("ein", "Megabit pro Sekunde"),
        "ms": _unit("eine", "Millisekunde", "Millisekunden"),
        "s": _unit("eine", "Sekunde", "Sekunden"),
        "Sek.": _unit("eine", "Sekunde", "Sekunden"),
        "min": _unit("eine", "Minute", "Minuten"),
        "Min.": _unit("eine", "Minute", "Minuten"),
        "h": _unit("eine", "Stunde", "Stunden"),
        "Std.": _unit("eine", "Stunde", "Stunden"),
        "Hz": _unit("ein", "Hertz"),
        "kHz": _unit("ein", "Kilohertz"),
        "MHz": _unit("ein", "Megahertz"),
        "GHz": _unit("ein", "Gigahertz"),
        "W": _unit("ein", "Watt"),
        "kW": _unit("ein", "Kilowatt"),
        "kWh": _unit("eine", "Kilowattstunde", "Kilowattstunden"),
        "V": _unit("ein", "Volt"),
        "kJ": _unit("ein", "Kilojoule"),
        "kcal": _unit("eine", "Kilokalorie", "Kilokalorien"),
        "dB": _unit("ein", "Dezibel"),
        "hPa": _unit("ein", "Hektopascal"),
        "%": _unit("ein", "Prozent"),
        "‰": _unit("ein", "Promille"),
    },
    currencies={
        "€": _EURO,
        "EUR": _EURO,
        "Euro": _EURO,
        "$": _DOLLAR,
        "USD": _DOLLAR,
        "£": _POUND,
        "GBP": _POUND,
        "CHF": _FRANC,
        "¥": _YEN,
    },
    scales={
        "Tsd.": Amount("eintausend", "tausend"),
        **dict.fromkeys(("Mio.", "Mio", "Millionen", "Million"), _MILLION),
        **dict.fromkeys(("Mrd.", "Mrd", "Milliarden", "Milliarde"), _BILLION),
    },
    bare_scales={},
    abbreviations={
        "z.B.": "zum Beispiel",
        "z. B.": "zum Beispiel",
        "d.h.": "das heißt",
        "d. h.": "das heißt",
        "u.a.": "unter anderem",
        "u. a.": "unter anderem",
        "z.T.": "zum Teil",
        "z. T.": "zum Teil",
        "u.U.": "unter Umständen",
        "i.d.R.": "in der Regel",
        "o.ä.": "oder ähnliches",
        "o.Ä.": "oder Ähnliches",
        "usw.": "und so weiter",
        "etc.": "et cetera",
        "bzw.": "beziehungsweise",
        "ca.": "circa",
        "vgl.": "vergleiche",
        "inkl.": "inklusive",
        "exkl.": "exklusive",
        "evtl.": "eventuell",
        "ggf.": "gegebenenfalls",
        "mind.": "mindestens",
        "max.": "maximal",
        "sog.": "sogenannte",
        "bspw.": "beispielsweise",
        "Dr.": "Doktor",
        "Prof.": "Professor",
        "Hr.": "Herr",
        "Fr.": "Frau",
        "Nr.": "Nummer",
        "Str.": "Straße",
        "Tel.": "Telefon",
        "Abb.": "Abbildung",
        "Kap.": "Kapitel",
    },
    counted={"S.": "Seite", "Bd.": "Band", "Art.": "Artikel", "Abs.": "Absatz"},
    closing=frozenset(("usw.", "etc.", "o.ä.", "o.Ä.")),
    signs={
        "&": "und",
        "%": "Prozent",
        "°": "Grad",
        "+": "plus",
        "=": "gleich",
        "==": "gleich",
        "≠": "ungleich",
        "!=": "ungleich",
        "≈": "ungefähr",
        "<": "kleiner als",
        ">": "größer als",
        "≤": "höchstens",
        "<=": "höchstens",
        "≥": "mindestens",
        ">=": "mindestens",
        "×": "mal",
        "÷": "geteilt durch",
        "±": "plus minus",
        "√": "Wurzel aus",
        "π": "Pi",
        "∞": "unendlich",
        "²": "Quadrat",
        "³": "hoch drei",
        "½": "ein halb",
        "¼": "ein viertel",
        "¾": "drei viertel",
        "⅓": "ein drittel",
        "⅔": "zwei drittel",
        "§": "Paragraf",
        "€": "Euro",
        "$": "Dollar",
        "£": "Pfund",
        "@": "at",
        "C++": "C plus plus",
        "C#": "C sharp",
    },
)
