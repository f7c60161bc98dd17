from __future__ import annotations

import resource
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from lila_app.cli.root import ENTRIES, lila
from tests.cli.lila import REPOSITORY, environment

HEAVY = {
    *("anthropic", "openai", "google.genai", "httpx2", "xllamacpp", "onnxruntime", "tokenizers"),
    *("tiktoken", "networkx", "numpy", "scipy", "sounddevice", "faster_whisper", "pyttsx3"),
    *("sqlite3", "pysqlite3", "sqlite_utils", "sqlite_vec", "pydantic", "pydantic_settings"),
    *("textual", "rich", "keyring", "asyncio", "numkong"),
    *("spacy", "thinc", "presidio_analyzer", "dateparser", "rapidfuzz", "cryptography"),
}


def commands(
    command: click.Command = lila, path: tuple[str, ...] = ("lila",)
) -> Iterator[tuple[str, click.Command]]:
    yield " ".join(path), command
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            inner = command.get_command(context, name)
            assert inner is not None
            yield from commands(inner, (*path, name))


def test_help_imports_nothing_heavy(tmp_path: Path) -> None:
    script = (
        "import sys\n"
        "sys.argv = ['lila', '--help']\n"
        "from lila_app.cli import main\n"
        "try:\n    main()\n"
        "except SystemExit:\n    pass\n"
        "print('\\n'.join(sorted(sys.modules)), file=sys.stderr)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        env=environment(tmp_path),
        check=True,
    )
    assert "Usage: lila" in done.stdout
    loaded = set(done.stderr.split())
    assert "click" in loaded
    assert loaded.isdisjoint(HEAVY)


def test_help_takes_less_than_300_ms(tmp_path: Path) -> None:
    def once() -> float:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(
            [sys.executable, "-m", "lila_app", "--help"],
            stdout=subprocess.DEVNULL,
            env=environment(tmp_path),
            check=True,
        )
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    # Processor time, the best of a few: what else the machine does is not LILA's.
    assert min(once() for _ in range(5)) < 0.3


def test_the_root_says_of_each_command_what_it_is() -> None:
    context = click.Context(lila)
    assert lila.list_commands(context) == list(ENTRIES)
    for name in ENTRIES:
        command = lila.get_command(context, name)
        assert command is not None
        assert command.name == name


@pytest.mark.parametrize(("path", "command"), list(commands()), ids=lambda v: str(v))
def test_every_command_and_option_has_help(path: str, command: click.Command) -> None:
    assert command.help, path
    for parameter in command.params:
        if isinstance(parameter, click.Option):
            assert parameter.help, f"{path} {parameter.opts[0]}"


@pytest.mark.parametrize("path", [path for path, _ in commands()])
def test_every_command_is_documented(path: str) -> None:
    assert path in (REPOSITORY / "README.md").read_text(encoding="utf-8")


def test_every_command_that_prints_data_takes_json() -> None:
    talk = {"lila chat", "lila voice talk"}
    for path, command in commands():
        if isinstance(command, click.Group) or path in talk:
            continue
        options = {name for parameter in command.params for name in parameter.opts}
        assert "--json" in options, path
