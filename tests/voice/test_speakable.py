"""How a reply is said: golden sentences, and where each spoken character was written."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lila_app.voice.heard import written
from lila_app.voice.model import Word
from lila_app.voice.speakable import speakable
from lila_app.voice.synth.timing import spans

ENGLISH = {
    # Markup
    "**Bold**, *slanted*, __both__, ~~gone~~ and `code`.": "Bold, slanted, both, gone and code.",
    "## Supper\nSoup and bread": "Supper. Soup and bread",
    "- soup\n- bread\n* cheese": "soup. bread. cheese",
    "1. soup\n2) bread": "one, soup. two, bread",
    "- [ ] call Ada\n- [x] done": "call Ada. done",
    "> A wise word\n> in two lines.": "A wise word in two lines.",
    "A line\nthat was only broken.": "A line that was only broken.",
    "Title\n\nText": "Title. Text",
    "| who | age |\n|---|--:|\n| Ada | 36 |": "who, age. Ada, thirty-six",
    "Run this:\n```sh\nls -la | wc\n```\nThat is all.": "Run this: code omitted. That is all.",
    "~~~\nx = 1": "code omitted.",
    "Use `{[()]}=>` here.": "Use code omitted here.",
    "See [the page](https://example.com/a_(b)) now.": "See the page now.",
    "![a red cat](cat.png) sleeps": "a red cat sleeps",
    "[docs][1] help\n\n[1]: https://example.com": "docs help",
    "<b>Bold</b><br>next &amp; last": "Bold next and last",
    "snake_case_name": "snake case name",
    "above\n\n---\n\nbelow": "above. below",
    # Sources
    "Paris [m3], as you said [d4.1, t12].[^2]": "Paris, as you said.",
    "It is so [1].": "It is so.",
    "It is so 【m7】.": "It is so.",
    # Numbers
    "0 1 12 21 40 105": "zero one twelve twenty-one forty one hundred five",
    "1,234,567": "one million two hundred thirty-four thousand five hundred sixty-seven",
    "3.14 and -5 and -0.5": "three point one four and minus five and minus zero point five",
    "In 1984, 2005, 1900 and 2026.": (
        "In nineteen eighty-four, two thousand five, nineteen hundred and twenty twenty-six."
    ),
    "the 1990s, the '80s, the 2000s": "the nineteen nineties, the eighties, the two thousands",
    "the 1st, 2nd, 3rd, 20th and 112th": (
        "the first, second, third, twentieth and one hundred twelfth"
    ),
    "1/2, 3/4, 2 1/3 and 24/7": "one half, three quarters, two and one third and twenty-four seven",
    "10-20, 3–5 and 5 - 3": "ten to twenty, three to five and five minus three",
    "Version 1.2.3": "Version one point two point three",
    "007": "zero zero seven",
    "Call +49 151 2345678": (
        "Call plus four nine, one five one, two three four five six seven eight"
    ),
    "555-123-4567": "five five five, one two three, four five six seven",
    "won 3:2": "won three to two",
    "a 1920x1080 screen, 3x as large": (
        "a nineteen twenty by ten eighty screen, three times as large"
    ),
    "#1 of ~20": "number one of about twenty",
    "x^2 + 2^10 * 3 = 6": "x squared plus two to the power of ten times three equals six",
    "GPT-4 and MP3": "GPT-four and MP3",
    "9/11, 7/2 and 50/50": "nine eleven, seven slash two and fifty fifty",
    "p. 12, No. 5, no. No.": "page twelve, number five, no. No.",
    "3.5M, .5 and 10−3": "three point five million, zero point five and ten minus three",
    "5'10\" tall": "five foot ten tall",
    # Dates and times
    "on 2026-11-30": "on November thirtieth, twenty twenty-six",
    "at 2026-01-02T09:05:00Z": "at January second, twenty twenty-six at nine oh five",
    "2026-13-45": "two thousand twenty-six-thirteen-forty-five",
    "May 5 or Nov. 3rd, 2025": "May fifth or November third, twenty twenty-five",
    "on 30 November 2026 and the 3rd of May": (
        "on the thirtieth of November, twenty twenty-six and the third of May"
    ),
    "3/14/2025": "March fourteenth, twenty twenty-five",
    "3/4/2025": "three, four, twenty twenty-five",
    "9:05, 14:30, 9:00, 13:00, 00:00": (
        "nine oh five, fourteen thirty, nine o'clock, thirteen hundred, midnight"
    ),
    "at 3pm, 3:30 p.m. or 10 AM.": "at three p.m., three thirty p.m. or ten a.m.",
    "from 1:30-2:45": "from one thirty to two forty-five",
    "10:30 AM–12:00 PM on Mon, Jan 5": ("ten thirty a.m. to twelve p.m. on Monday, January fifth"),
    # Money and units
    "$3.50, $1, $0.99, €3 and 1,000 €": (
        "three dollars and fifty cents, one dollar, ninety-nine cents, three euros and "
        "one thousand euros"
    ),
    "$5k, €1.2bn and £2 million": (
        "five thousand dollars, one point two billion euros and two million pounds"
    ),
    "5 km, 1 kg, 2.5 kg, 20 °C, -3°C, 100%": (
        "five kilometers, one kilogram, two point five kilograms, twenty degrees Celsius, "
        "minus three degrees Celsius, one hundred percent"
    ),
    "50 km/h for 1 h": "fifty kilometers per hour for one hour",
    "~$15, $10/month, £9.99/year": (
        "about fifteen dollars, ten dollars per month, nine pounds and ninety-nine pence per year"
    ),
    # Addresses
    "https://www.example.com/path?q=1.": "example dot com.",
    "Mail ada.l-x@example.org!": "Mail ada dot l dash x at example dot org!",
    "Open settings.toml in /etc/lila.d": "Open settings dot toml in etc, lila dot d",
    "and/or TCP/IP": "and or TCP IP",
    # Abbreviations and signs
    "Dr. Ada vs. Mr. Bot, e.g. here, etc.": (
        "Doctor Ada versus Mister Bot, for example here, et cetera."
    ),
    "Eggs, milk etc. Then bread.": "Eggs, milk et cetera. Then bread.",
    "R&D in C++ and C#": "R and D in C plus plus and C sharp",
    "A → B, a < b": "A, B, a is less than b",
    "Well — yes… no": "Well, yes. no",
    'She said "hello" to the others\' friends': "She said hello to the others' friends",
    "port :8080 and C:\\Users\\ada [x](y)": "port :eight thousand eighty and C: Users ada x",
    "Fine :) I <3 it": "Fine I it",
    # Recipes
    "1/2 tsp salt, 1 1/2 kg flour, ½ tsp": (
        "one half teaspoon salt, one and one half kilograms flour, one half teaspoon"
    ),
    "1½ cups, 2 ½ hours": "one and one half cups, two and one half hours",
    "2 tbsp. of oil, 5 min. later": "two tablespoons of oil, five minutes later",
    "2h 15m and 5m 30s": "two hours fifteen minutes and five minutes thirty seconds",
    "3 GB/s, £3.20/kg": "three gigabytes per second, three pounds and twenty pence per kilogram",
    "Rated 4.5/5.": "Rated four point five out of five.",
    # Dates with a zero, decades without "the"
    "due 09/15/2024 or 05/06/2024 or 09-15-2024": (
        "due September fifteenth, twenty twenty-four or five, six, twenty twenty-four or "
        "September fifteenth, twenty twenty-four"
    ),
    "90's music in his 20s": "nineties music in his twenties",
    # Long numbers
    "50 000, 1\u202f234, 1'000 and 1_000_000": (
        "fifty thousand, one thousand two hundred thirty-four, one thousand and one million"
    ),
    "123-45-6789": "one two three, four five, six seven eight nine",
    "4111 1111 1111 1111": "four one one one, one one one one, one one one one, one one one one",
    "5~6": "five to six",
    # Sums
    "10**6, 10⁶ and 2.5e-3": (
        "ten to the power of six, ten to the power of six and two point five times ten to the "
        "power of minus three"
    ),
    "3 × 4 = 12, 30 × 40 cm": "three times four equals twelve, thirty by forty centimeters",
    "f(x) = 2x + 1, 5-3=2": "f(x) equals 2x plus one, five minus three equals two",
    "$$E = mc^2$$ and $a_1 \\leq \\frac{1}{2}$.": (
        "E equals mc squared and a one is at most one half."
    ),
    "\\[ \\frac{a}{b} = \\sqrt{x^{10}} \\]": (
        "a divided by b equals the square root of x to the power of ten"
    ),
    "Between $5 and $6": "Between five dollars and six dollars",
    # What looks like markup and is none
    "Use <Enter>, replace <your name>": "Use Enter, replace your name",
    "if a<b and c>d": "if a is less than b and c is greater than d",
    "It&#39;s caf&eacute;&#0;": "It's café",
    "See (https://example.com/a_(b)?x=1#y).": "See (example dot com).",
    "broken\r\nto fit\u2028here": "broken to fit here",
    "half \ud83d there": "half there",
    "README.md, .env": "README dot md, dot env",
    "0x1F": "0x1F",
    # Decoration
    "Great 🎉! 👍🏽": "Great!",
    "👍": "thumbs up sign",
    "": "",
    "---": "",
    "...": "",
}

GERMAN = {
    "1, 21, 101, 1984 und 1.000.000": (
        "eins, einundzwanzig, einhunderteins, neunzehnhundertvierundachtzig und eine Million"
    ),
    "3,5 und 3.14": "drei Komma fünf und drei Punkt eins vier",
    "Am 30.11.2026 um 14:30 Uhr": (
        "Am dreißigsten November zweitausendsechsundzwanzig um vierzehn Uhr dreißig"
    ),
    "der 3. Mai, am 3. Mai, bis 5. Juni 2025": (
        "der dritte Mai, am dritten Mai, bis fünften Juni zweitausendfünfundzwanzig"
    ),
    "Der 3. Mann. Es waren 3. Dann ging er.": "Der dritte Mann. Es waren drei. Dann ging er.",
    "3,50 €, 1 €, 0,99 € und 2,5 Mio. Euro": (
        "drei Euro fünfzig, ein Euro, neunundneunzig Cent und zwei Komma fünf Millionen Euro"
    ),
    "1 Std., 5 km, 50 %, -3 °C": "eine Stunde, fünf Kilometer, fünfzig Prozent, minus drei Grad "
    "Celsius",
    "z.B. Dr. Ada bzw. usw.": "zum Beispiel Doktor Ada beziehungsweise und so weiter.",
    "USB und NATO": "U S B und NATO",
    "1 Uhr, 21 Uhr 5": "ein Uhr, einundzwanzig Uhr fünf",
    "ada@example.de": "ada at example Punkt de",
    "1.234,56 EUR, ½ EL Öl, 1 Mio. €": (
        "eintausendzweihundertvierunddreißig Euro sechsundfünfzig, ein halb Esslöffel Öl, eine "
        "Million Euro"
    ),
    "Version 3.11. Heinrich VIII.": "Version drei Punkt eins eins. Heinrich VIII.",
    "USA, EU, CDU, SPD": "U S A, E U, C D U, S P D",
    "DAS IST SEHR LAUT": "DAS IST SEHR LAUT",
    "3:2, 1-2": "drei zu zwei, eins bis zwei",
    "```\nx\n```": "Code ausgelassen.",
    "**fett** & 1/2": "fett und ein halb",
}


@pytest.mark.parametrize(("written", "said"), ENGLISH.items(), ids=lambda each: each[:30])
def test_english_is_said_as_a_person_would(written: str, said: str) -> None:
    assert speakable(written).text == said


@pytest.mark.parametrize(("written", "said"), GERMAN.items(), ids=lambda each: each[:30])
def test_german_is_said_as_a_person_would(written: str, said: str) -> None:
    assert speakable(written, "de").text == said


def test_another_language_loses_its_markup_and_keeps_its_numbers() -> None:
    written = "**Bonjour** [m3], il est 14:30 le 3/4.\n```\nx\n```\nAu revoir 👋"
    assert speakable(written, "fr").text == "Bonjour, il est 14:30 le 3 4. Au revoir"


def test_a_word_that_is_not_rewritten_has_its_own_place() -> None:
    written = "So **yes**, [this](https://example.com) costs $3.50 today."
    spoken = speakable(written)
    for word in ("So", "yes", "this", "costs", "today"):
        assert spoken.origin[spoken.text.index(word)] == written.index(word)


def test_what_is_written_out_is_over_with_its_last_character() -> None:
    spoken = speakable("I paid $3.50 million in all")
    begin = spoken.text.index("three")
    end = spoken.text.index(" in all")
    assert set(spoken.origin[begin : end - 1]) == {7}
    assert spoken.origin[end - 1] == len("I paid $3.50 million") - 1


PIECES = st.lists(
    st.one_of(
        st.sampled_from([*ENGLISH, *GERMAN]),
        st.sampled_from(
            list("*_`~#>-|[]()<>!&/\\\n\r\t \x1e\u200b\ud83d.,:;1290aAxhmsß€$%°½²^={}👍")
        ),
        st.sampled_from(["\\frac{", "&#8203;", "<b>", "1/2", " kg", "/s", "\u2028"]),
        st.text(max_size=8),
    ),
    max_size=12,
).map("".join)


@given(PIECES, st.sampled_from(["en", "de", "fr"]))
def test_every_spoken_character_was_written_somewhere_in_the_same_order(
    written: str, language: str
) -> None:
    spoken = speakable(written, language)
    assert len(spoken.text) == len(spoken.origin)
    assert all(0 <= place < len(written) for place in spoken.origin)
    assert list(spoken.origin) == sorted(spoken.origin)


@given(PIECES, st.sampled_from(["en", "de"]))
def test_nothing_is_left_that_an_engine_would_stumble_over(written: str, language: str) -> None:
    said = speakable(written, language).text
    assert said == said.strip()
    assert not set(said) & set("*`#|[]{}<>\\^~\n\r\t\x1e\u200b👍\ufe0f")
    assert "  " not in said
    assert said == "" or any(map(str.isalnum, said))


def heard(text: str, language: str = "en") -> list[str]:
    """What was heard of a text after none, one, two … all of its spoken words."""
    spoken = speakable(text, language)
    words = [Word(0, first, last) for first, last in spans(spoken.text)]
    return [written(text, spoken, words, count) for count in range(len(words) + 1)]


def test_what_was_heard_is_told_in_the_words_that_were_written() -> None:
    assert heard("Pay **$3.50** [now](https://example.com), Dr. Ada.") == [
        "",
        "Pay",
        *["Pay"] * 4,  # three dollars and fifty
        "Pay **$3.50**",  # … cents
        "Pay **$3.50** [now](https://example.com),",
        "Pay **$3.50** [now](https://example.com), Dr.",
        "Pay **$3.50** [now](https://example.com), Dr. Ada.",
    ]
    assert heard("Paid $2.5 million more") == [
        "",
        *["Paid"] * 5,  # two point five million
        "Paid $2.5 million",  # … dollars
        "Paid $2.5 million more",
    ]


@given(PIECES, st.sampled_from(["en", "de", "fr"]))
def test_whatever_was_heard_is_a_beginning_of_what_was_written(text: str, language: str) -> None:
    told = [each.rstrip() for each in heard(text, language)]
    assert all(text.startswith(each) for each in told)
    assert [len(each) for each in told] == sorted(len(each) for each in told)
    assert told[0] == "" and (len(told) == 1 or told[-1] == text.rstrip())
