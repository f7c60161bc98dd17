"""A small conversation of our own in LoCoMo's form."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def written(folder: Path, **changes: Any) -> Path:
    """The file; `changes` replace what the conversation's own table holds."""
    said = {
        "speaker_a": "Ana",
        "speaker_b": "Bo",
        "session_1_date_time": "9:15 am on 12 April, 2025",
        "session_1": [
            {"dia_id": "D1:1", "speaker": "Ana", "text": "I sold the piano last Friday."},
            {"dia_id": "D1:2", "speaker": "Bo", "text": "What will stand there instead?"},
            {
                "dia_id": "D1:3",
                "speaker": "Ana",
                "text": "A loom.",
                "blip_caption": "a photo of a loom",
                "query": "never to be read",
            },
        ],
        "session_2_date_time": "12:05 pm on 3 October, 2025",
        "session_2": [
            {"dia_id": "D2:1", "speaker": "Bo", "text": "My dog Rufus caught a cold."},
            {"dia_id": "D2:2", "speaker": "Ana", "text": "Poor thing!"},
        ],
    }
    qa = [
        {"question": "When did Ana sell the piano?", "category": 2, "evidence": ["D1:1"]},
        {
            "question": "What did Ana put where the piano stood?",
            "category": 1,
            "evidence": ["D1:1; D1:2", "D9:9"],
            "evidence_corrected": ["D1:3"],
        },
        {"question": "Who has a cat?", "category": 5, "evidence": ["D2:1"]},
        {"question": "Is anything else new?", "category": 4, "evidence": []},
    ]
    whole = [{"sample_id": "own-1", "conversation": said | changes, "qa": qa}]
    path = folder / "own.json"
    path.write_text(json.dumps(whole), encoding="utf-8")
    return path
