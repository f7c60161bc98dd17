"""One prompt, whatever process makes it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.determinism import prompt_hashes


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_twenty_processes_with_random_environments_make_one_prompt(home: Path) -> None:
    found = prompt_hashes(home, range(20))
    assert list(found.values()) == [20]
