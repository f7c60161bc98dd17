from __future__ import annotations

import logging
import stat
from pathlib import Path

import pytest

from lila_app import logs
from lila_app.paths import Home


def _raise_with(secret: str) -> None:
    try:
        raise KeyError(secret)
    except KeyError as error:
        raise ValueError(f"could not find {secret}") from error


def test_an_unexpected_error_leaves_frames_and_types_but_no_content(tmp_path: Path) -> None:
    home = Home.at(tmp_path / "home")
    try:
        _raise_with("my secret")
    except ValueError as error:
        logs.unexpected(home, error)
    text = home.log_file.read_text()
    assert "builtins.ValueError" in text
    assert "builtins.KeyError" in text
    assert "test_logs.py" in text
    assert "in _raise_with" in text
    assert "secret" not in text


def test_an_exception_group_is_written_without_content_too(tmp_path: Path) -> None:
    home = Home.at(tmp_path / "home")
    logs.unexpected(
        home, ExceptionGroup("my secret", [ValueError("my secret"), KeyError("secret")])
    )
    text = home.log_file.read_text()
    assert "builtins.KeyError" in text
    assert "secret" not in text


def test_the_log_is_private_and_rotates(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logs, "_BYTES_PER_FILE", 2_000)
    home = Home.at(tmp_path / "home")
    with logs.writing(home):
        for number in range(200):
            logging.getLogger("lila_app.test").info("line %d", number)
    files = sorted(home.log_file.parent.iterdir())
    assert [file.name for file in files] == ["lila.log", "lila.log.1", "lila.log.2", "lila.log.3"]
    assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}
    assert all(file.stat().st_size <= 2_000 for file in files)
    assert "line 199" in files[0].read_text()


def test_a_record_is_one_line(tmp_path: Path) -> None:
    home = Home.at(tmp_path / "home")
    with logs.writing(home):
        logging.getLogger("lila_app").info("a\nb")
    assert home.log_file.read_text().count("\n") == 1


def test_nothing_logged_makes_no_file(tmp_path: Path) -> None:
    home = Home.at(tmp_path / "home")
    with logs.writing(home):
        pass
    assert not home.log_file.exists()


def test_a_home_that_cannot_be_written_loses_the_log_and_says_nothing(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").touch()
    with logs.writing(Home.at(tmp_path / "file")):
        logging.getLogger("lila_app").warning("x")
    assert capfd.readouterr() == ("", "")


def test_warnings_of_libraries_stay_off_the_terminal(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    home = Home.at(tmp_path / "home")
    root = logging.getLogger()
    handlers, root.handlers = root.handlers, []
    try:
        with logs.writing(home):
            logging.getLogger("somebody.else").warning("what the person said")
    finally:
        root.handlers = handlers
    assert capfd.readouterr() == ("", "")
    assert not home.log_file.exists()


def test_model_sdks_reach_neither_the_terminal_nor_a_handler_at_the_root(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    home = Home.at(tmp_path / "home")
    talkers = [logging.getLogger(name) for name in ("openai._base_client", "anthropic", "httpx2")]
    with logs.writing(home), caplog.at_level(logging.DEBUG):
        for talker in talkers:
            talker.setLevel(logging.DEBUG)
            talker.debug("what the person said")
            talker.error("what the person said")
            talker.setLevel(logging.NOTSET)
    assert capfd.readouterr() == ("", "")
    assert caplog.text == ""
    assert not home.log_file.exists()
    assert all(talker.propagate for talker in talkers)
