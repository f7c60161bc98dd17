"""policies/privacy.toml: what it says as shipped, and what is refused."""

import pytest

from lila_app.errors import PolicyError
from lila_app.privacy.detection import Detector
from lila_app.privacy.spans import ALWAYS, SURE
from tests.privacy.conftest import Make, rules


def test_as_shipped_the_wire_hides_what_is_sure_and_the_store_nothing() -> None:
    shipped = rules()
    assert shipped.wire.kinds == frozenset(SURE) | ALWAYS
    assert shipped.storage.kinds == frozenset()


def test_a_persons_table_changes_the_keys_it_has() -> None:
    own = rules('[wire]\nalso = ["person"]\n[storage]\nredact = true\nsure = ["mail"]\n')
    assert {"person", "title", "age", "mail"} <= own.wire.kinds
    assert own.storage.kinds == {"mail"} | ALWAYS


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("[wire]\nredact = 1", "wire.redact"),
        ('[wire]\nsure = ["mails"]', "wire.sure"),
        ('[wire]\nalso = "person"', "wire.also"),
        ("[wires]\n", "wires"),
        ("[wire]\nall = true", "wire.all"),
        ('[deny]\npatterns = ["("]', "deny.patterns"),
        ('[deny]\npatterns = ["x*"]', "deny.patterns"),
        ("[allow]\nvalues = [3]", "allow.values"),
        ("[wire", ""),
    ],
)
def test_a_bad_table_is_refused_with_its_key(text: str, key: str) -> None:
    with pytest.raises(PolicyError) as caught:
        rules(text)
    assert (caught.value.file, caught.value.key) == ("own.toml", key)


def test_what_is_allowed_stays_and_what_is_denied_goes(privacy: Make) -> None:
    made = privacy(
        '[allow]\nvalues = ["Help@Example.org"]\npatterns = ["\\\\S+@example\\\\.com"]\n'
        '[deny]\nvalues = ["Project Heron"]\npatterns = ["X-\\\\d+"]\n'
    )
    text = "help@example.org, a@example.com, b@example.net; project heron and X-12, herons"
    sent, values = made.screened([text])
    assert sent == [
        "help@example.org, a@example.com, [MAIL2]; [PRIVATE1] and [PRIVATE3], herons"
    ] or values.keys() == {"[MAIL1]", "[PRIVATE2]", "[PRIVATE3]"}
    assert set(values.values()) == {"b@example.net", "project heron", "X-12"}
    assert "heron " not in sent[0] and "X-12" not in sent[0]


def test_rules_are_read_again_for_every_request(privacy: Make) -> None:
    found = Detector(rules('[deny]\nvalues = ["Luna"]')).find("Luna", frozenset({"mail"}))
    assert [one.kind for one in found] == ["denied"]
    open_wire = privacy("[wire]\nredact = false")
    assert open_wire.screened(["a@example.org"]) == (["a@example.org"], {})
