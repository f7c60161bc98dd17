"""`lila documents`, on a real store."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from lila_app.cli.root import lila

PIER = "# Pier\n\nThe hospital pier has a ferry at ten past.\n\n## Tickets\n\nOn board, 4 euros.\n"


def run(*arguments: str, code: int = 0) -> Result:
    seen = CliRunner().invoke(lila, arguments)
    assert seen.exit_code == code, (seen.stdout, seen.stderr)
    return seen


@pytest.fixture
def pier(home: Path, tmp_path: Path) -> Path:
    path = tmp_path / "pier.md"
    path.write_text(PIER, encoding="utf-8")
    run("ingest", str(path))
    return path


def test_documents_are_listed_shown_and_searched(pier: Path) -> None:
    assert str(pier) in run("documents").stdout
    shown = run("documents", "show", "d1").stdout
    assert "[d1.2, Pier › Tickets, line 7]\nOn board, 4 euros." in shown
    found = json.loads(run("documents", "search", "where", "are", "tickets", "--json").stdout)
    assert found["hits"][0]["id"] == "d1.2"
    pier.write_text(PIER + "\nChanged.\n", encoding="utf-8")
    listed = json.loads(run("documents", "list", "--json").stdout)
    assert [one["state"] for one in listed["documents"]] == ["changed"]
    assert "changed since" in run("documents", "list").stdout


def test_a_document_is_forgotten_everywhere_and_its_file_stays(pier: Path) -> None:
    report = json.loads(run("documents", "forget", "d1", "--json").stdout)
    assert "d1" in report["erased"]
    assert pier.read_text(encoding="utf-8") == PIER
    assert "no document yet" in run("documents").stderr
    assert not run("documents", "search", "ferry").stdout
    run("documents", "show", "d1", code=5)
    run("documents", "forget", "d1", code=5)
