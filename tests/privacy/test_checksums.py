"""Numbers the issuers publish as examples, and the same with a digit changed."""

import pytest

from lila_app.privacy import checksums

EXAMPLES = [
    (checksums.card, "4111111111111111"),  # Visa's test number
    (checksums.card, "378282246310005"),  # American Express's
    (checksums.iban, "DE89370400440532013000"),  # ISO 13616's registry
    (checksums.iban, "GB29NWBK60161331926819"),
    (checksums.nhs, "9434765919"),  # NHS data dictionary
    (checksums.dni, "12345678Z"),  # Spain's interior ministry
    (checksums.dni, "X1234567L"),
    (checksums.codice_fiscale, "RSSMRA85T10A562S"),  # Italy's revenue agency
    (checksums.nir, "255081416802538"),  # INSEE
    (checksums.cpf, "52998224725"),
    (checksums.pesel, "44051401359"),
    (checksums.personnummer, "8112189876"),  # Sweden's tax agency
    (checksums.aadhaar, "234123412346"),  # UIDAI's test number
]


@pytest.mark.parametrize(("check", "number"), EXAMPLES)
def test_an_issuers_example_passes(check: checksums.Check, number: str) -> None:
    assert check(number)


@pytest.mark.parametrize(("check", "number"), EXAMPLES)
def test_a_changed_digit_is_noticed(check: checksums.Check, number: str) -> None:
    place = next(at for at in range(len(number) - 2, 0, -1) if number[at].isdigit())
    changed = str((int(number[place]) + 1) % 10)
    assert not check(number[:place] + changed + number[place + 1 :])


def test_a_social_security_number_has_an_area_a_group_and_a_serial() -> None:
    assert checksums.social_security("123456789")
    assert checksums.social_security("912701234")  # a taxpayer's number
    for never in ("000456789", "666456789", "123006789", "123450000", "912401234"):
        assert not checksums.social_security(never)
