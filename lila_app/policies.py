"""Reading policy tables and prompts from where they lie; `context.parse` makes sense of them."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from lila_app.boundaries import tool_names
from lila_app.context import Policy, Source, parse_policy
from lila_app.gateway.caching.rule import Caching
from lila_app.gateway.caching.table import parse_caching
from lila_app.paths import Home, read_text, shipped
from lila_app.voice_policy import VoicePolicy
from lila_app.voice_policy import load as load_voice

TABLES = ("allocation", "blocks")
"""The tables a prompt depends on; the person's file of the same name is laid over the shipped."""


@dataclass(frozen=True, slots=True)
class Declared:
    """The policy in force, the person's persona (None: the shipped one), and the files read."""

    policy: Policy
    persona: str | None
    files: tuple[str, ...]


def load(home: Home) -> Declared:
    """Read and parse everything declared. Raises PolicyError or ConfigError naming the file."""
    found = {name: sources(home, name) for name in TABLES}
    policy = _parsed(tuple(found["allocation"]), tuple(found["blocks"]), _prompts(), tool_names())
    persona = read_text(home.persona_file).strip() if home.persona_file.is_file() else ""
    files = [source.name for name in TABLES for source in found[name]]
    if persona:
        files.append(str(home.persona_file))
    return Declared(policy, persona or None, tuple(files))


@lru_cache(maxsize=1)
def _prompts() -> tuple[Source, ...]:
    """The prompts, which are shipped and change with the release; the persona is the person's."""
    folder = shipped("assets") / "prompts"
    return tuple(Source(path.stem, read_text(path)) for path in sorted(folder.glob("*.md")))


@lru_cache(maxsize=8)
def _parsed(
    allocation: Sequence[Source],
    blocks: Sequence[Source],
    prompts: Sequence[Source],
    tools: Sequence[str],
) -> Policy:
    """The policy these texts declare; the same texts are parsed once, not on every turn (6 ms)."""
    named = {prompt.name: prompt.text for prompt in prompts}
    return parse_policy(allocation, blocks, named, tools)


def caching(home: Home) -> Caching:
    """The table of cache contracts in force. Raises PolicyError."""
    return _cached(tuple(sources(home, "caching")))


@lru_cache(maxsize=4)
def _cached(sources: Sequence[Source]) -> Caching:
    """The same texts are parsed once: a call asks for its model's contract (3 ms)."""
    return parse_caching(sources)


def voice(home: Home, *, fast: bool = False) -> VoicePolicy:
    """The table of the spoken assistant in force. Raises PolicyError."""
    return load_voice(sources(home, "voice"), fast=fast)


def code_version(version: str) -> str:
    """The release with a fingerprint of the assembler's source.

    A replay may claim equality only under the very code that made the record, and the release
    number does not change with every edit.
    """
    digest = hashlib.sha256()
    for path in sorted((Path(__file__).parent / "context").glob("*.py")):
        digest.update(path.read_bytes())
    return f"{version}+{digest.hexdigest()[:12]}"


def sources(home: Home, name: str) -> list[Source]:
    """The shipped table of a name and the person's, if there is one."""
    paths = [shipped("policies") / f"{name}.toml", home.policies_dir / f"{name}.toml"]
    return [Source(str(path), read_text(path)) for path in paths if path.is_file()]
