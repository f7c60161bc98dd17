"""Web and mail addresses, names of files and paths: what a person would say of them."""

from __future__ import annotations

import re

from lila_app.voice.model import Spoken
from lila_app.voice.speakable.language import Language
from lila_app.voice.speakable.rewriting import Part, rewrite

_URL = re.compile(
    r"\b(?:https?|ftp)://([^\s/?#<>()\[\]\"']+)"
    r"[^\s<>()\[\]\"']*(?:\([^\s<>()\[\]\"']*\)[^\s<>()\[\]\"']*)*",
    re.IGNORECASE,
)
_WWW = re.compile(r"\bwww\.([\w-]+(?:\.[\w-]+)+)(?:/[^\s<>()\[\]\"']*)?", re.IGNORECASE)
_MAIL = re.compile(r"(?:\bmailto:)?\b([\w.+-]+)@([\w-]+(?:\.[\w-]+)+)", re.IGNORECASE)
_DOTTED = re.compile(r"(?<![\w.])\w[\w-]*(?:\.[a-z][\w-]*|\.[A-Z]{2,5}(?![\w]))+(?![\w])")
_PATH = re.compile(r"(?<!\S)[~.]{0,2}/?(?:[\w.-]+/)+[\w.-]*[\w/]|(?<!\S)[~.]{0,2}/[\w.-]*\w")
_HIDDEN = re.compile(r"(?<!\S)\.(?=[a-zA-Z])")
_ENDS = ".,;:!?"


def rewrite_addresses(spoken: Spoken, language: Language) -> Spoken:
    """Of a web address only where it leads; of the rest the words, with the dots said."""

    def host(found: re.Match[str]) -> list[Part]:
        name = found[1].rpartition("@")[2].rstrip(_ENDS)
        rest = found[0][len(found[0].rstrip(_ENDS)) :]
        name = re.sub(r"^www\.|:\d+$", "", name, flags=re.IGNORECASE)
        return [_dotted(name, language) + rest]

    def mail(found: re.Match[str]) -> str:
        local = _dotted(found[1], language).replace("-", f" {language.dash} ")
        local = local.replace("+", f" {language.plus} ").replace("_", " ")
        return f"{local} {language.at} {_dotted(found[2], language)}"

    spoken = rewrite(spoken, _URL, host)
    spoken = rewrite(spoken, _WWW, host)
    spoken = rewrite(spoken, _MAIL, mail)
    spoken = rewrite(spoken, _HIDDEN, lambda _: f"{language.dot} ")
    spoken = rewrite(spoken, _PATH, lambda found: _path(found[0], language))
    return rewrite(spoken, _DOTTED, lambda found: _named(found[0], language))


def _dotted(name: str, language: Language) -> str:
    return name.strip(".").replace(".", f" {language.dot} ")


def _named(name: str, language: Language) -> str | None:
    """A file or a host; "p.m" is neither."""
    if all(len(step) == 1 for step in name.split(".")):
        return None
    return _dotted(name, language)


def _path(path: str, language: Language) -> str | None:
    """A path with its steps one after the other; "and/or" is left to the signs."""
    rooted = path[0] in "/~."
    if not rooted and "." not in path and path.count("/") < 2:
        return None
    if re.fullmatch(r"[\d/.]+", path):
        return None
    steps = [step for step in path.split("/") if step.strip("~.")]
    return ", ".join(_dotted(step, language) for step in steps)
