"""The third-party notices name what LILA really carries and depends on."""

from __future__ import annotations

import hashlib
import re
import tomllib
from pathlib import Path

from lila_app.embedding import minilm, tokens
from lila_app.speech.published import BASE, TINY_EN

ROOT = Path(__file__).parents[1]
NOTICES = (ROOT / "assets" / "third-party-notices.md").read_text(encoding="utf-8")


def test_every_declared_dependency_is_named_and_no_other() -> None:
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    names = {re.split(r"[^\w.-]", line, maxsplit=1)[0] for line in declared}
    section = NOTICES.split("## Packages LILA names")[1].split("\n## ")[0]
    assert set(re.findall(r"(?m)^\| ([\w.-]+) \|", section)) - {"package"} == names


def test_every_package_of_an_extra_is_named() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    for extra, lines in extras["optional-dependencies"].items():
        for line in lines if extra != "dev" else ():
            name = re.split(r"[^\w.-]", line, maxsplit=1)[0]
            assert f"| {name}, the extra `lila-assistant[{extra}]`" in NOTICES


def test_the_sums_are_those_that_are_checked() -> None:
    assert minilm.WEIGHTS_SHA256 in NOTICES
    assert tokens.VOCABULARY_SHA256 in NOTICES
    for model in (BASE, TINY_EN):
        assert model.files[0].sha256 in NOTICES
    carried = ROOT / "assets" / "vocabulary"
    found = hashlib.sha256((carried / "minilm-tokenizer.json").read_bytes()).hexdigest()
    assert found == minilm.VOCABULARY_SHA256
    assert found in (carried / "PROVENANCE.md").read_text(encoding="utf-8")
