"""Which numbers can be a card, an account or somebody's identity.

Every check takes the digits (and letters) without blanks and hyphens. Rules as the issuers publish
them: ISO/IEC 7812 (Luhn), ISO 13616 (IBAN), the US Social Security Administration, and the national
registries named at each function.
"""

from __future__ import annotations

import re
from collections.abc import Callable

_PLAIN = re.compile(r"[\s.\-/]")

_IBAN_LENGTHS = {
    "AD": 24, "AE": 23, "AL": 28, "AT": 20, "AZ": 28, "BA": 20, "BE": 16, "BG": 22, "BH": 22,
    "BR": 29, "BY": 28, "CH": 21, "CR": 22, "CY": 28, "CZ": 24, "DE": 22, "DK": 18, "DO": 28,
    "EE": 20, "EG": 29, "ES": 24, "FI": 18, "FO": 18, "FR": 27, "GB": 22, "GE": 22, "GI": 23,
    "GL": 18, "GR": 27, "GT": 28, "HR": 21, "HU": 28, "IE": 22, "IL": 23, "IQ": 23, "IS": 26,
    "IT": 27, "JO": 30, "KW": 30, "KZ": 20, "LB": 28, "LC": 32, "LI": 21, "LT": 20, "LU": 20,
    "LV": 21, "MC": 27, "MD": 24, "ME": 22, "MK": 19, "MR": 27, "MT": 31, "MU": 30, "NL": 18,
    "NO": 15, "PK": 24, "PL": 28, "PS": 29, "PT": 25, "QA": 29, "RO": 24, "RS": 22, "SA": 24,
    "SC": 31, "SE": 24, "SI": 19, "SK": 24, "SM": 27, "ST": 25, "SV": 28, "TL": 23, "TN": 24,
    "TR": 26, "UA": 29, "VA": 22, "VG": 24, "XK": 20,
}  # fmt: skip

_VERHOEFF_PRODUCT = (
    "0123456789", "1234067895", "2340178956", "3401289567", "4012395678",
    "5987604321", "6598710432", "7659821043", "8765932104", "9876543210",
)  # fmt: skip
_VERHOEFF_TURN = (
    "0123456789", "1576283094", "5803796142", "8916043527",
    "9453126870", "4286573901", "2793806415", "7046913258",
)  # fmt: skip


Check = Callable[[str], bool]


def plain(text: str) -> str:
    """A number without what groups it, in capitals."""
    return _PLAIN.sub("", text).upper()


def luhn(digits: str) -> bool:
    """Whether the last digit is the check digit of ISO/IEC 7812."""
    total = 0
    for place, digit in enumerate(reversed(digits)):
        value = int(digit) * (1 + place % 2)
        total += value - 9 if value > 9 else value
    return total % 10 == 0


def card(digits: str) -> bool:
    """A payment card's number: 12 to 19 digits of an issuer's range, with its check digit."""
    return 12 <= len(digits) <= 19 and digits[0] in "23456" and luhn(digits)


def iban(text: str) -> bool:
    """An account number of ISO 13616, of its country's length."""
    if _IBAN_LENGTHS.get(text[:2]) != len(text):
        return False
    return int("".join(str(int(sign, 36)) for sign in text[4:] + text[:4])) % 97 == 1


def social_security(digits: str) -> bool:
    """A US Social Security number, or the tax number given to those without one (9xx)."""
    area, group, serial = digits[:3], digits[3:5], digits[5:]
    if len(digits) != 9 or area in ("000", "666") or group == "00" or serial == "0000":
        return False
    return area < "900" or "50" <= group <= "99"


def nhs(digits: str) -> bool:
    """A number of England's health service: modulus 11 over ten digits."""
    check = 11 - sum(int(d) * (10 - place) for place, d in enumerate(digits[:9])) % 11
    return len(digits) == 10 and check % 11 == int(digits[9]) and check != 10


def dni(text: str) -> bool:
    """A Spanish DNI or NIE: its letter is the number modulus 23."""
    number = text[:-1].translate(str.maketrans("XYZ", "012"))
    return number.isdigit() and "TRWAGMYFPDXBNJZSQVHLCKE"[int(number) % 23] == text[-1]


def codice_fiscale(text: str) -> bool:
    """An Italian tax code: the 16th letter over the fifteen before it."""
    odd = (1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25,
           24, 23)  # fmt: skip
    total = 0
    for place, sign in enumerate(text[:15]):
        value = int(sign) if sign.isdigit() else ord(sign) - ord("A")
        total += odd[value] if place % 2 == 0 else value
    return chr(ord("A") + total % 26) == text[15]


def nir(text: str) -> bool:
    """A French social security number: its key is 97 less the rest of the thirteen before it."""
    number = text[:13].replace("2A", "19").replace("2B", "18")
    return len(text) == 15 and number.isdigit() and int(text[13:]) == 97 - int(number) % 97


def cpf(digits: str) -> bool:
    """A Brazilian CPF: two check digits, and not one digit eleven times."""
    if len(digits) != 11 or len(set(digits)) == 1:
        return False
    return all(
        sum(int(d) * (length + 1 - place) for place, d in enumerate(digits[:length])) * 10 % 11 % 10
        == int(digits[length])
        for length in (9, 10)
    )


def aadhaar(digits: str) -> bool:
    """An Indian Aadhaar number: Verhoeff's check over twelve digits, the first 2 to 9."""
    check = 0
    for place, digit in enumerate(reversed(digits)):
        turned = _VERHOEFF_TURN[place % 8][int(digit)]
        check = int(_VERHOEFF_PRODUCT[check][int(turned)])
    return len(digits) == 12 and digits[0] not in "01" and check == 0


def pesel(digits: str) -> bool:
    """A Polish PESEL: weights 1, 3, 7, 9 over ten digits."""
    total = sum(int(d) * (1, 3, 7, 9)[place % 4] for place, d in enumerate(digits[:10]))
    return len(digits) == 11 and (10 - total % 10) % 10 == int(digits[10])


def personnummer(digits: str) -> bool:
    """A Swedish personal number: a day and Luhn's check over the last ten digits."""
    last = digits[-10:]
    day = int(last[4:6])
    return 1 <= int(last[2:4]) <= 12 and (1 <= day <= 31 or 61 <= day <= 91) and luhn(last)
