"""Talking with LILA: what a front-end opens, runs, and is told by.

```
talk = await asyncio.to_thread(open_talk, lila, Options(), progress)   # loads models; LilaError
await talk.run(view)             # until `press("quit")`, or the task is cancelled
```
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from lila_app import policies, settings
from lila_app.errors import ConfigError, LilaError, MissingWeightsError, NotFoundError, UsageError
from lila_app.voice.conversation import SpokenConversation
from lila_app.voice.loop import Loop
from lila_app.voice.model import Key
from lila_app.voice.parts import Parts
from lila_app.voice.trace import Setup, Trace, Traces
from lila_app.voice.view import View

if TYPE_CHECKING:
    from lila_app.assistant import Lila
    from lila_app.settings import VoiceSettings
    from lila_app.views import Progress
    from lila_app.voice.ports import Activity, Recogniser, Samples, SoundSystem, Synthesiser


@dataclass(frozen=True, slots=True)
class Options:
    """What a person asked for this time; None is what their settings say.

    `session` is an earlier conversation to go on with; `model` is `provider/model`.
    """

    session: str | None = None
    model: str | None = None
    push_to_talk: bool = False
    fast: bool | None = None
    continuity: bool | None = None


@dataclass(frozen=True, slots=True)
class Machinery:
    """The heavy parts, loaded: what hears, reads and speaks."""

    activity: Activity
    recogniser: Recogniser
    synthesiser: Synthesiser

    def close(self) -> None:
        """Let go of what it holds; safe to call twice."""
        self.synthesiser.close()


class Talk:
    """A spoken conversation that can be run once."""

    def __init__(
        self,
        lila: Lila,
        options: Options,
        machinery: Machinery,
        sound: SoundSystem,
        done: Callable[[bool], None] | None = None,
    ) -> None:
        """`done` is called once the machinery is not needed any more, with whether a part of it
        hangs; None closes it then, unless it hangs: that would be waited for."""
        self._made = _Made(lila, options, machinery)

        def close(stuck: bool) -> None:
            if not stuck:
                machinery.close()

        self._done = close if done is None else done
        self._sound = sound
        self._loop: Loop | None = None
        self._pressed: list[Key] = []

    @property
    def session(self) -> str | None:
        """The conversation the turns are kept in; None before the first."""
        return self._made.session

    @property
    def duplex(self) -> bool:
        """Whether LILA listens while it speaks; where not, a key interrupts it."""
        return self._sound.duplex()

    def press(self, key: Key) -> None:
        """The person pressed a key; from any thread, also before and after `run`."""
        if self._loop is None:
            self._pressed.append(key)
        else:
            self._loop.press(key)

    async def run(self, view: View) -> None:
        """Listen and speak until the key `quit`. Raises `SoundError` where there is no sound.

        Cancelling the task ends it as cleanly: what was heard of a reply is kept, the sound
        system is closed. Whatever else goes wrong on the way is told to the view.
        """
        try:
            await self._made.run(view, self._listen)
        finally:
            self._done(self._loop is not None and self._loop.stuck)

    def close(self) -> None:
        """End a conversation that was never run; what it needed is not needed any more."""
        self._done(False)

    async def _listen(self, parts: Parts, view: View) -> None:
        loop = Loop(parts, self._sound, view)
        for key in self._pressed:
            loop.press(key)
        self._loop = loop
        await loop.run()


def fetch_notice(lila: Lila) -> str | None:
    """What `open_talk` will fetch first, its size and from where; None where nothing is missing.

    Raises `ConfigError` for a recogniser that is none, or that does not know the person's language.
    """
    chosen = settings.load(lila.home).voice
    _fitting(chosen)
    return lila.models.speech_notice(chosen.recogniser)


def check_sound(lila: Lila) -> None:
    """Look whether there is anything to hear and to speak with; quick, and nothing is opened.

    Raises LilaError that says what is missing, so that nothing is fetched in vain.
    """
    from lila_app.voice.devices.backend import Machine
    from lila_app.voice.devices.choosing import survey

    chosen = settings.load(lila.home).voice
    for problem in survey(Machine(), chosen.microphone, chosen.speaker).problems:
        raise problem


def _fitting(chosen: VoiceSettings) -> None:
    if chosen.recogniser.endswith(".en") and chosen.language != "en":
        raise ConfigError(
            f"{chosen.recogniser} reads English alone, and you speak {chosen.language!r}",
            hint='set `recogniser = "whisper-base"` under [voice] in settings.toml',
        )


def open_talk(lila: Lila, options: Options, progress: Progress) -> Talk:
    """Load what a spoken conversation needs. Blocking: a second or two, longer the first time.

    Missing weights of the recogniser are fetched. Raises LilaError: `SoundError` where nothing
    can speak, `UsageError`, `PolicyError`, `WeightsError`.
    """
    return Talk(lila, options, machinery(lila, progress), card(settings.load(lila.home).voice))


def card(chosen: VoiceSettings) -> SoundSystem:
    """The sound card with the devices that are set; nothing is opened yet."""
    from lila_app.voice.devices.card import SoundCard

    return SoundCard(
        microphone=chosen.microphone, speaker=chosen.speaker, headphones=chosen.headphones
    )


@dataclass(frozen=True, slots=True)
class Played:
    """What came of a conversation with a file: its turns, its length and the session it is in."""

    turns: int
    seconds: float
    session: str | None


def play_file(
    lila: Lila, options: Options, progress: Progress, source: Path, target: Path | None, view: View
) -> Played:
    """Say a WAV file to LILA and write what it says as another, on a clock of their own.

    Blocking; not to be called where an event loop runs. `source` may have any rate and one or more
    channels; `target` gets the replies where they would be heard, None writes nothing. Raises
    LilaError as `open_talk`, and `UsageError` for a file that is no WAV.
    """
    loaded = machinery(lila, progress)
    try:
        return play(lila, options, loaded, source, target, view)
    finally:
        loaded.close()


def play(
    lila: Lila,
    options: Options,
    machinery: Machinery,
    source: Path,
    target: Path | None,
    view: View,
) -> Played:
    """`play_file` with parts that are loaded."""
    from lila_app.voice import wav
    from lila_app.voice.simulation import Simulation

    if options.push_to_talk:
        raise UsageError("nobody presses a key in a file", hint="leave push-to-talk out")
    made = _Made(lila, options, machinery)
    seconds, turns = 0.0, 0

    def keep(_: Trace) -> None:
        nonlocal turns
        turns += 1

    with ExitStack() as stack:
        frames = wav.frames(source)
        sink: Callable[[Samples], None] = _nowhere
        if target is not None:
            wav.check(source)  # before a file that is there already is written over
            sink = stack.enter_context(wav.Writing(target, machinery.synthesiser.rate)).write

        async def simulate(parts: Parts, view: View) -> None:
            nonlocal seconds
            seconds = await Simulation(replace(parts, keep=keep), view, frames, sink).run() / 1_000

        asyncio.run(made.run(view, simulate))
    return Played(turns, seconds, made.session)


def machinery(lila: Lila, progress: Progress) -> Machinery:
    """Load what hears, reads and speaks, fetching the recogniser's weights if they are missing.

    What is quickly found to be missing is looked for first. Raises LilaError.
    """
    from lila_app.voice.activity import Silero
    from lila_app.voice.recognise.whisper import opened
    from lila_app.voice.synth.choose import engine

    chosen = settings.load(lila.home).voice
    _fitting(chosen)
    rules = policies.voice(lila.home).recogniser
    synthesiser = engine(chosen)
    activity = Silero()
    folder = _weights(lila, chosen, progress)
    progress(0, 0, "loading the recogniser")
    recogniser = opened(folder, rules, name=chosen.recogniser, language=chosen.language)
    return Machinery(activity, recogniser, synthesiser)


def _weights(lila: Lila, chosen: VoiceSettings, progress: Progress) -> Path:
    try:
        return lila.models.speech(chosen.recogniser)
    except MissingWeightsError:
        if lila.models.speech_notice(chosen.recogniser) is None:  # a folder: nothing to fetch
            raise
        lila.models.pull(chosen.recogniser, progress)
        return lila.models.speech(chosen.recogniser)


def _nowhere(samples: Samples) -> None:
    del samples


_Run = Callable[[Parts, View], Coroutine[None, None, None]]


class _Made:
    """A conversation and the parts it is had with, by settings and options."""

    def __init__(self, lila: Lila, options: Options, machinery: Machinery) -> None:
        chosen = settings.load(lila.home).voice
        self._lila = lila
        self._options = options
        self._machinery = machinery
        self._chosen = chosen
        self._fast = chosen.fast if options.fast is None else options.fast
        continuity = options.continuity
        self._continuity = chosen.continuity if continuity is None else continuity
        self._policy = policies.voice(lila.home, fast=self._fast)
        self._conversation: SpokenConversation | None = None

    @property
    def session(self) -> str | None:
        """The conversation the turns are kept in."""
        asked = self._options.session
        return asked if self._conversation is None else self._conversation.session

    async def run(self, view: View, run: _Run) -> None:
        """Have the conversation by `run`, and leave it in order whatever comes."""
        conversation = self._conversation = SpokenConversation(
            self._lila,
            session=self._options.session,
            model=self._options.model,
            continuity=self._continuity,
            hotwords=self._policy.recogniser.hotwords,
            told=lambda text: view.told(text, ""),
        )
        try:
            try:
                await conversation.start()
            except (UsageError, NotFoundError):
                raise  # what was asked for is not there, and no turn would find it
            except LilaError as error:
                view.told(error.message, error.hint)
            await run(self._parts(conversation), view)
        finally:
            await conversation.close()

    def _parts(self, conversation: SpokenConversation) -> Parts:
        from lila_app.voice.speakable import speakable

        traces = Traces(self._lila.home, self._setup())
        self._machinery.activity.reset()  # what it heard last was another conversation
        return Parts(
            policy=self._policy,
            activity=self._machinery.activity,
            recogniser=self._machinery.recogniser,
            synthesiser=self._machinery.synthesiser,
            conversation=conversation,
            speakable=partial(speakable, language=self._chosen.language),
            keep=traces.keep,
            push_to_talk=self._options.push_to_talk,
        )

    def _setup(self) -> Setup:
        names = [
            "fast" if self._fast else "default",
            *(["continuity"] if self._continuity else []),
            *(["push-to-talk"] if self._options.push_to_talk else []),
        ]
        return Setup(
            policy=", ".join(names),
            model=self._lila.models.chosen(self._options.model),
            recogniser=self._chosen.recogniser,
            engine=self._machinery.synthesiser.name,
        )
