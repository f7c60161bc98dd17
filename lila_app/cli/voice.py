"""`lila voice`: talk with LILA, and what belongs to it."""

from __future__ import annotations

import asyncio
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from lila_app.cli import options
from lila_app.cli.first_start import have_model
from lila_app.cli.groups import NounGroup
from lila_app.cli.opening import home, opened
from lila_app.cli.output import answer, document, note, table
from lila_app.cli.pick import session_to_continue
from lila_app.cli.progress import progress
from lila_app.cli.voice_devices import devices, test_sound
from lila_app.errors import SoundError, UsageError

if TYPE_CHECKING:
    from lila_app.assistant import Lila
    from lila_app.voice.model import Key
    from lila_app.voice.session import Options, Talk


@click.group(cls=NounGroup, default="talk", default_if_no_args=True)
def voice() -> None:
    """Talk with LILA: hands-free, or while a key says so.

    `lila voice talk --help` lists the options of talking, which `lila voice` alone takes too.
    """


voice.add_command(devices)
voice.add_command(test_sound)


@dataclass(frozen=True, slots=True)
class Files:
    """A recording to answer instead of a microphone, and where the answers go."""

    source: Path
    target: Path | None


@voice.command()
@click.option(
    "--push-to-talk", is_flag=True, help="Listen only between two presses of the space bar."
)
@click.option("--text", is_flag=True, help="Print what was heard and what was said.")
@options.in_session
@click.option(
    "--continue",
    "-c",
    "go_on",
    is_flag=True,
    help="Go on with the latest session, typed or spoken; --continuity lets replies see it.",
)
@options.with_model
@click.option("--fast/--no-fast", default=None, help="Answer sooner, and cut you off more often.")
@click.option(
    "--continuity/--no-continuity",
    default=None,
    help="Let replies see what was said before; without, every answer stands alone.",
)
@click.option(
    "--input", "source", metavar="FILE.wav",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="Hear a recording instead of the microphone.",
)  # fmt: skip
@click.option(
    "--output", "target", metavar="FILE.wav", type=click.Path(path_type=Path, dir_okay=False),
    help="With --input: write what LILA says here.",
)  # fmt: skip
def talk(
    push_to_talk: bool,
    text: bool,
    session: str | None,
    go_on: bool,
    model: str | None,
    fast: bool | None,
    continuity: bool | None,
    source: Path | None,
    target: Path | None,
) -> None:
    """Talk with LILA; what `lila voice` alone does.

    Keys at a terminal: m mutes the microphone and opens it, the space bar silences LILA (and with
    --push-to-talk begins and ends your turn), q quits; Ctrl-C does too.
    """
    files = _files(source, target, push_to_talk)
    with opened() as lila:
        from lila_app.voice.alone import alone
        from lila_app.voice.session import Options, check_sound

        chosen = session_to_continue(lila, session, go_on)
        wanted = Options(chosen, model, push_to_talk, fast, continuity)
        if files is not None:
            _have_models(lila, model)
            _play(lila, wanted, files, text)
            return
        try:
            check_sound(lila)
            with alone(lila.home, "lila voice"):
                _have_models(lila, model)
                _talk(lila, wanted, text)
        except SoundError as error:
            go = "; `lila chat` talks with LILA in text"
            raise SoundError(error.message, hint=f"{error.hint}{go}".lstrip("; ")) from error


@voice.command()
@options.as_json
def stats(as_json: bool) -> None:
    """Show how long each stage of a spoken turn takes, by policy and model."""
    from lila_app.voice.stats import stats as measured

    found = measured(home())
    if as_json:
        document(groups=found)
        return
    if not found:
        note("nothing was spoken yet; `lila voice` is how")
        return
    for group in found:
        answer(
            f"{group.policy} · {group.model} · {group.recogniser} · {group.engine}: "
            f"{group.turns} turns, {group.speculated} begun early, {group.interrupted} interrupted"
        )
        rows = [(time.stage.replace("_", " "), time.p50, time.p95) for time in group.stages]
        table(("stage", "p50 ms", "p95 ms"), rows)


def _files(source: Path | None, target: Path | None, push_to_talk: bool) -> Files | None:
    if source is None:
        if target is not None:
            raise UsageError("--output is of no use without --input", hint="name a recording")
        return None
    if push_to_talk:
        raise UsageError("a recording presses no key", hint="leave out --push-to-talk")
    if target is not None and not target.absolute().parent.is_dir():
        raise UsageError(f"there is no folder {target.parent}", hint="make it, or name another")
    if target is not None and target.exists() and target.samefile(source):
        raise UsageError("--output would overwrite --input", hint="name another file")
    return Files(source, target)


def _have_models(lila: Lila, model: str | None) -> None:
    """Fetch the model that answers; say what the recogniser's fetch will bring before it begins."""
    from lila_app.voice.session import fetch_notice

    have_model(lila, model)
    notice = fetch_notice(lila)
    if notice:
        note(notice)


def _play(lila: Lila, wanted: Options, files: Files, text: bool) -> None:
    from lila_app.cli.voice_view import Lines
    from lila_app.voice.session import play_file

    lines = Lines(words=text)
    try:
        with progress("loading") as report:
            played = play_file(lila, wanted, report, files.source, files.target, lines)
    finally:
        lines.close()
    note(
        f"turns: {played.turns}, in {played.seconds:.1f} s, kept in "
        f"{played.session or 'no session'}"
    )


def _talk(lila: Lila, wanted: Options, text: bool) -> None:
    from lila_app.tui.native_output import quiet_native_stderr
    from lila_app.voice.session import open_talk

    with progress("loading", size=True) as report:
        opened_talk = open_talk(lila, wanted, report)
    with quiet_native_stderr():  # PortAudio prints there when a device goes away
        asyncio.run(_run(opened_talk, wanted, text))
    if opened_talk.session and sys.stderr.isatty():
        note(
            f"[{opened_talk.session} · `lila chat --session {opened_talk.session}` goes on in text]"
        )


def _say_how(talk: Talk, wanted: Options) -> None:
    if not sys.stdin.isatty():
        return
    begin = "space begins and ends your turn" if wanted.push_to_talk else "space silences LILA"
    note(f"speak; {begin}, m mutes, q quits")
    if not talk.duplex and not wanted.push_to_talk:
        note(
            "the microphone is shut while LILA speaks, or it would hear itself; on headphones, set "
            "`headphones = true` under [voice] in settings.toml"
        )


async def _run(talk: Talk, wanted: Options, text: bool) -> None:
    from lila_app.cli.voice_keys import END, keys
    from lila_app.cli.voice_view import Lines

    lines, holding = Lines(words=text, listens=lambda: _say_how(talk, wanted)), False
    lines.wait()

    def pressed(key: str) -> None:
        nonlocal holding
        if key == " " and wanted.push_to_talk:
            # A turn that never began, or was ended for its length, is not ended by the key.
            holding = not (holding and lines.listening)
            talk.press("talk" if holding else "talk_end")
        elif (meant := "quit" if key == END else _KEYS.get(key)) is not None:
            talk.press(meant)

    try:
        async with keys(pressed):
            await talk.run(lines)
    except asyncio.CancelledError:
        return  # Ctrl-C: what was heard is kept, and there is nothing to complain of
    finally:
        lines.close()


_KEYS: dict[str, Key] = {"m": "mute", " ": "stop", "\x1b": "stop", "q": "quit"}
