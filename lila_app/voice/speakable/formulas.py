r"""Formulas in LaTeX, as models write them: `\frac{a}{b}` becomes "a ÷ b", whose signs are said."""

from __future__ import annotations

import re

from lila_app.voice.model import Spoken
from lila_app.voice.speakable.rewriting import Part, keeping, removed, rewrite, saying

_DISPLAYED = re.compile(r"\$\$([^$]{1,500})\$\$")
_STRAY = re.compile(r"\$\$")
_INLINE = re.compile(r"(?<![\w$\\])\$(?=[^\s$])([^$\n]{1,200})(?<![\s\\])\$(?![\w$])")
_BRACKETS = re.compile(r"\\[()\[\]]")
_FORMULA = re.compile(r"[\\^_={}]")
_NAMED = re.compile(
    r"\\(?:text|textbf|mathrm|mathbf|mathit|operatorname|boxed)\{([^{}\n]{0,200})\}"
)
_FRACTION = re.compile(r"\\[dt]?frac\{([^{}\n]{1,200})\}\{([^{}\n]{1,200})\}")
_EXPONENT = re.compile(r"\^\{([^{}\n]{1,100})\}")
_POWER = re.compile(r"(?<=\d)\*\*(?=\d)")
_LAYOUT = re.compile(r"\\(?:left|right|displaystyle|quad|qquad|[,;!])(?![a-zA-Z])")
_SIGNS = {
    "leq": "≤",
    "le": "≤",
    "geq": "≥",
    "ge": "≥",
    "neq": "≠",
    "ne": "≠",
    "approx": "≈",
    "times": "×",
    "cdot": "×",
    "div": "÷",
    "pm": "±",
    "sqrt": "√",
    "pi": "π",
    "infty": "∞",
    "to": "→",
    "rightarrow": "→",
    "implies": "→",
    "degree": "°",
    "circ": "°",
    "ldots": "…",
    "dots": "…",
}
_SIGN = re.compile(rf"\\({'|'.join(_SIGNS)})(?![a-zA-Z])")


def plain(spoken: Spoken) -> Spoken:
    """Formulas with the signs that they are drawn with, without what only lays them out."""
    spoken = rewrite(spoken, _DISPLAYED, keeping(1))
    spoken = rewrite(spoken, _STRAY, removed)  # the other end is in another piece
    spoken = rewrite(spoken, _INLINE, _inline)
    spoken = rewrite(spoken, _POWER, saying("^"))
    if "\\" not in spoken.text and "^{" not in spoken.text:
        return spoken
    spoken = rewrite(spoken, _BRACKETS, removed)
    spoken = rewrite(spoken, _LAYOUT, saying(" "))
    spoken = rewrite(spoken, _NAMED, keeping(1))
    spoken = rewrite(spoken, _EXPONENT, lambda found: ["^", found.span(1)])
    spoken = rewrite(spoken, _FRACTION, _fraction)
    return rewrite(spoken, _SIGN, lambda found: f" {_SIGNS[found[1]]} ")


def _inline(found: re.Match[str]) -> list[Part] | None:
    """Between two dollars stands a formula, unless it begins like a price."""
    if found[1][0].isdigit() and not _FORMULA.search(found[1]):
        return None
    return [found.span(1)]


def _fraction(found: re.Match[str]) -> list[Part]:
    number = found[1].isdecimal() and found[2].isdecimal()
    return [found.span(1), "/" if number else " ÷ ", found.span(2)]
