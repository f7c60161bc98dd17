"""Text that came from a model, a document or a person, made safe to put on the screen.

Textual reads a bare `str` as markup, so `[/INST]` in a reply takes the app down (Textual 8.2.8,
reproduced 2026-11-30). Everything that is not a constant of this program goes through here.
"""

from __future__ import annotations

from textual.content import Content

_KEPT = "\n\t"


def _replacements() -> dict[int, str]:
    table = {code: chr(0x2400 + code) for code in range(0x20) if chr(code) not in _KEPT}
    table[0x7F] = "\u2421"
    table |= dict.fromkeys(range(0x80, 0xA0), "\ufffd")
    # A lone surrogate (invalid UTF-8 that came in) cannot be encoded for the terminal.
    table |= dict.fromkeys(range(0xD800, 0xE000), "\ufffd")
    return table


_TABLE = _replacements()


def visible(text: str) -> str:
    """`text` with everything a terminal would obey made visible; line breaks become `\\n`."""
    return text.replace("\r\n", "\n").replace("\r", "\n").translate(_TABLE)


def plain(text: str, style: str = "") -> Content:
    """`text` as content that is shown as it stands: no markup is read in it."""
    return Content.styled(visible(text), style) if style else Content(visible(text))


def one_line(text: str, limit: int) -> str:
    """The first `limit` characters of `text` on one line, with an ellipsis where it was cut."""
    flat = " ".join(visible(text[: limit * 8]).split())
    return flat if len(flat) <= limit else flat[: max(limit - 1, 0)].rstrip() + "…"
