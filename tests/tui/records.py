"""A context record as the assembler writes it (assets/schemas/context-record.json)."""

from __future__ import annotations

LAYERS = ("session", "conversation", "memory", "graph", "rag")


def _sha(letter: str) -> str:
    return letter * 64


def record() -> dict[str, object]:
    """A turn in which the graph gave back and documents borrowed."""
    measures = {
        # nominal, cap, granted, tokens, ms
        "session": (150, 300, 150, 42, 1),
        "conversation": (525, 1500, 525, 480, 2),
        "memory": (450, 900, 450, 450, 14),
        "graph": (150, 300, 150, 0, 3),
        "rag": (225, 900, 333, 326, 19),
    }
    items: dict[str, list[dict[str, object]]] = {
        "session": [_item("g1", 42, 10_000)],
        "conversation": [_item("t41", 240, 0), _item("t42", 240, 0)],
        "memory": [_item("m5", 210, 8_123), _item("m9", 240, 6_410, "half")],
        "graph": [],
        "rag": [_item("d4.12", 326, 7_002)],
    }
    return {
        "schema_version": 1,
        "meta": {
            "record_id": "c41",
            "parent_record_id": None,
            "session_id": "s1",
            "profile": "default",
            "at": "2026-11-30T11:58:33+00:00",
            "use_case": "chat",
            "strategy": "layered",
            "epoch": 3,
        },
        "code_version": "0.1.0",
        "policy_hash": _sha("a"),
        "tokenizer": "cl100k_base",
        "limits": {"window": 8192, "context_budget": 2048, "token_ratio": 10_500},
        "query": dict.fromkeys(LAYERS, "When is the ferry to [Naxos]?"),
        "token_budget": {
            "limit": 2048,
            "used": 1512,
            "remaining": 536,
            "fixed": 217,
            "available": 1831,
            "join_delta": -3,
        },
        "layers": [
            {
                "name": name,
                "priority": priority,
                "nominal": measures[name][0],
                "cap": measures[name][1],
                "granted": measures[name][2],
                "returned": max(0, measures[name][0] - measures[name][3]),
                "borrowed": max(0, measures[name][3] - measures[name][0]),
                "tokens": measures[name][3],
                "ms": measures[name][4],
                "source": "",
                "items": items[name],
            }
            for priority, name in enumerate(LAYERS, 1)
        ],
        "dropped_items": [
            _dropped("r7", "graph", "below_floor", "Anna knows [Ben]", 18),
            _dropped("d4.13", "rag", "budget", "ferries.pdf › Summer", 402),
        ],
        "blocks": [
            _block("identity", "L1", 180, "b"),
            _block("profile", "L2", 96, "c"),
            _block("goals", "L3", 42, "d"),
            _block("conversation", "L3", 480, "e"),
            _block("recalled", "L4", 714, "f"),
        ],
        "prefix_sha256": [
            {"after": "profile", "sha256": _sha("1")},
            {"after": "conversation", "sha256": _sha("2")},
        ],
        "bytes_sha256": _sha("3"),
        "deadline": {"ms": 400, "answered": list(LAYERS[:4]), "missed": ["rag"]},
    }


def _item(id: str, tokens: int, score: int, variant: str = "full") -> dict[str, object]:
    return {"id": id, "tokens": tokens, "hash": "h", "score": score, "variant": variant}


def _dropped(id: str, layer: str, reason: str, source: str, tokens: int) -> dict[str, object]:
    return {"id": id, "layer": layer, "reason": reason, "source": source, "tokens": tokens}


def _block(name: str, lifetime: str, tokens: int, letter: str) -> dict[str, object]:
    return {"name": name, "lifetime": lifetime, "tokens": tokens, "hash": _sha(letter)}
