from __future__ import annotations

import inspect
import subprocess
import sys
from pathlib import Path

import click
import pytest

from lila_app import errors
from lila_app.cli.guard import explain, guarded
from lila_app.cli.output import shown
from tests.cli.lila import environment, launched, lila

EVERY_ERROR = [
    kind
    for _, kind in inspect.getmembers(errors, inspect.isclass)
    if issubclass(kind, errors.LilaError)
    and kind
    not in (
        *(errors.PolicyError, errors.FixedPartsError, errors.PinnedOverflowError),
        errors.InvalidAnswerError,
    )
]


@pytest.mark.parametrize("kind", EVERY_ERROR)
def test_every_error_is_one_sentence_one_hint_and_its_exit_code(
    kind: type[errors.LilaError], capsys: pytest.CaptureFixture[str]
) -> None:
    assert explain(kind("it is\nbroken", hint="mend\nit")) == kind.exit_code
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.splitlines()[0].removeprefix("error: ") == "it is broken"
    assert said.err.splitlines()[1:] == ["hint: mend it"]


def test_a_stop_by_the_person_is_not_called_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    def stop() -> None:
        raise KeyboardInterrupt

    assert guarded(stop) == 130
    assert explain(click.Abort()) == 130
    assert explain(errors.Cancelled("stopped")) == 130
    assert capsys.readouterr().err == "stopped\nstopped\nstopped\n"


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (("sesions",), "lila has no command 'sesions'; did you mean sessions?"),
        (("sessions", "lst"), "lila sessions has no command 'lst'; did you mean list?"),
        (("context", "c41"), "lila context has no command 'c41'"),
        (("memory", "add"), "Missing argument"),
        (("memory", "list", "--kind", "dream"), "'dream' is not one of"),
        (("--profile",), "requires an argument"),
        (("--profile", "A/B", "paths"), "'A/B' is not a profile name"),
    ],
)
def test_a_wrong_command_line_is_refused_in_a_sentence(
    tmp_path: Path, args: tuple[str, ...], says: str
) -> None:
    seen = lila(tmp_path, *args)
    assert seen.code == 2
    assert says in seen.err
    assert seen.err.startswith("error: ")
    assert len(seen.err.splitlines()) == 2
    assert seen.out == ""


def test_a_noun_without_a_verb_shows_its_verbs(tmp_path: Path) -> None:
    seen = lila(tmp_path, "graph")
    assert seen.code == 2
    assert "Usage: lila graph" in seen.err


def test_a_reader_that_goes_away_is_no_error(tmp_path: Path) -> None:
    script = (
        "from lila_app.cli.guard import guarded\n"
        "from lila_app.cli.output import answer\n"
        "import sys\n"
        "sys.exit(guarded(lambda: [answer('line') for _ in range(100_000)]))\n"
    )
    with launched(tmp_path, "-c", script) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 141


def test_a_command_whose_reader_is_gone_ends_as_shells_expect_it(tmp_path: Path) -> None:
    with launched(tmp_path, "-m", "lila_app", "policy", "show") as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 141


@pytest.mark.parametrize(
    ("redirect", "code", "says"),
    [
        ("paths >/dev/full", 4, "error: the output cannot be written: no space is left\n"),
        ("paths >&-", 0, ""),
        ("paths 2>&-", 0, ""),
        ("ask <&-", 2, "error: the message is empty\n"),
    ],
)
def test_streams_that_are_closed_or_full_are_survived(
    tmp_path: Path, redirect: str, code: int, says: str
) -> None:
    seen = subprocess.run(
        ["sh", "-c", f'"{sys.executable}" -m lila_app {redirect}'],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        env=environment(tmp_path),
        check=False,
    )
    assert seen.returncode == code
    assert seen.stderr.decode().startswith(says)
    assert b"Traceback" not in seen.stderr
    assert b"Exception" not in seen.stderr


def test_a_hundred_megabytes_on_stdin_are_refused_without_being_read(tmp_path: Path) -> None:
    with launched(
        tmp_path / "home", "-m", "lila_app", "ask", "-", stdin=subprocess.PIPE
    ) as process:
        assert process.stdin is not None
        written = 0
        try:
            for _ in range(100):
                written += process.stdin.write(b"x" * 1_000_000)
            process.stdin.close()
        except BrokenPipeError:
            pass
        assert process.stderr is not None
        said = process.stderr.read().decode()
    assert process.returncode == 2
    assert "longer than 1 MiB" in said
    assert "lila ingest FILE" in said
    assert written < 5_000_000
    assert not (tmp_path / "home").exists()


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_a_pipe_gets_utf_8_under_any_locale(tmp_path: Path, encoding: str) -> None:
    seen = subprocess.run(
        [
            sys.executable,
            "-c",
            "from lila_app.cli.guard import guarded\n"
            "from lila_app.cli.output import answer\n"
            "guarded(lambda: answer('\\xfc \\u6f22'))",
        ],
        capture_output=True,
        env=environment(tmp_path, PYTHONIOENCODING=encoding),
        check=True,
    )
    assert seen.stdout == "ü 漢\n".encode()


def test_what_a_model_writes_cannot_drive_a_terminal() -> None:
    assert shown("a\x1b]52;c;eA==\x07b\tc\nd\x9b2J\r", terminal=True) == (
        "a\ufffd]52;c;eA==\ufffdb\tc\nd\ufffd2J\ufffd"
    )
    assert shown("a\x1b[0m", terminal=False) == "a\x1b[0m"
