"""A context record as text for the side panel, 44 columns wide and meant to be read downwards."""

from __future__ import annotations

from collections.abc import Iterable

from textual.content import Content

from lila_app.tui.plain import one_line, plain
from lila_app.tui.record_view import MEASURES, BlockView, ItemView, LayerView, RecordView
from lila_app.views import NOTHING_RETRIEVED

_HASH = 12
_LABEL = 9


def record_content(record: RecordView) -> Content:
    """Budget, layers, what was asked, what was seen, what was not and why, blocks."""
    parts: list[Content] = []
    parts += _budget(record)
    parts += _table(record.layers)
    parts += _queries(record.layers)
    seen = [item for layer in record.layers for item in layer.items]
    parts += _items(f"Seen ({len(seen)})", seen)
    parts += _items(f"Not seen ({len(record.dropped)})", record.dropped)
    parts += _blocks(record.blocks)
    parts += _hashes(record)
    return Content("").join(parts)


def _heading(text: str) -> Content:
    return plain(f"\n{text}\n", "bold underline")


def _budget(record: RecordView) -> list[Content]:
    about = " · ".join(part for part in (record.id, record.use_case, record.at[:16]) if part)
    lines = [plain(f"{about.replace('T', ' ')}\n", "dim")]
    lines.append(plain(f"{record.used:,}", "bold"))
    lines.append(plain(f" of {record.limit:,} tokens, {record.remaining:,} unspent\n"))
    lines.append(plain(f"{record.fixed:,} fixed, joins {record.join_delta:+,}\n", "dim"))
    if record.erased:
        lines.append(plain(f"erased: {record.erased}\n"))
    if record.missed:
        lines.append(plain(f"too late: {', '.join(record.missed)}\n"))
    return lines


def _table(layers: tuple[LayerView, ...]) -> list[Content]:
    if not layers:
        return []
    columns = [(layer.name[:7], [str(value) for value in layer.measures]) for layer in layers]
    widths = [max(len(head), *(len(value) for value in values)) for head, values in columns]
    heads = (head.rjust(width) for (head, _), width in zip(columns, widths, strict=True))
    lines = [_heading("Layers"), plain(f"{'':{_LABEL}}{' '.join(heads)}\n", "dim")]
    for row, measure in enumerate(MEASURES):
        cells = (
            values[row].rjust(width) for (_, values), width in zip(columns, widths, strict=True)
        )
        style = "bold" if measure == "used" else ""
        lines.append(plain(f"{measure:{_LABEL}}{' '.join(cells)}\n", style))
    if not any(layer.shares for layer in layers):
        lines.append(plain(f"{NOTHING_RETRIEVED}\n"))
    return lines


def _queries(layers: tuple[LayerView, ...]) -> list[Content]:
    asked: dict[str, list[str]] = {}
    for layer in layers:
        if layer.query:
            asked.setdefault(layer.query, []).append(layer.name)
    if not asked:
        return []
    lines = [_heading("Asked")]
    for query, names in asked.items():
        who = "all layers" if len(names) == len(layers) else ", ".join(names)
        lines += [plain(f"{who}: ", "dim"), plain(f"{one_line(query, 200)}\n")]
    return lines


def _items(title: str, items: Iterable[ItemView]) -> list[Content]:
    lines = [_heading(title)]
    for item in items:
        why = item.reason or f"score {item.score:,}"
        if item.variant not in ("", "full"):
            why += f", {item.variant}"
        lines.append(plain(f"{item.id:8} {item.tokens:>5}  {why}"))
        lines.append(plain(f" · {item.layer}\n", "dim"))
        if item.source:
            lines.append(plain(f"         {one_line(item.source, 60)}\n", "dim"))
    if len(lines) == 1:
        lines.append(plain("nothing\n", "dim"))
    return lines


def _blocks(blocks: tuple[BlockView, ...]) -> list[Content]:
    lines = [_heading("Blocks")]
    for block in blocks:
        lines.append(plain(f"{block.lifetime} {one_line(block.name, 18):18} {block.tokens:>5}  "))
        lines.append(plain(f"{block.hash[:_HASH]}\n", "dim"))
    return lines


def _hashes(record: RecordView) -> list[Content]:
    lines = [_heading("Hashes")]
    hashes = [(f"up to {prefix.after}", prefix.hash) for prefix in record.prefixes]
    hashes += [("whole prompt", record.bytes_sha256), ("policy", record.policy_hash)]
    for name, found in hashes:
        lines.append(plain(f"{one_line(name, 26):26}   "))
        lines.append(plain(f"{found[:_HASH]}\n", "dim"))
    return lines
