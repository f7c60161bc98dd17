"""Assembles one fixed specification and prints what came out: run as a module, in a process of
its own. It imports the assembler and nothing heavier, so that a fresh process takes a moment.
"""

from __future__ import annotations

import json
import random
import sys
import threading

from lila_app.context import Context, Item, Placement, Summary, assemble
from tests.context.support import item, policy, quarters, specification, turn

WORDS = (
    "Zürich",
    "naïve",
    "İstanbul",
    "ﬁn",
    "日本",
    "straße",
    "1,000.5",
    "e\u0301",
    "👩‍👩‍👧",
    "plain",
)


def offered(seed: int) -> list[Item]:
    """The same candidates in an order that the seed decides."""
    fixed = random.Random(7)

    def words(most: int) -> str:
        return " ".join(fixed.choice(WORDS) for _ in range(fixed.randint(1, most)))

    found = [
        item(
            f"{letter}{n}",
            layer,
            [words(80), words(9)],
            count=quarters,
            score=fixed.choice((0, 4_000, 4_000, 9_000)),
            pinned=n == 3,
        )
        for letter, layer in (("m", "memory"), ("r", "graph"), ("d1.", "rag"), ("n", "session"))
        for n in range(1, 25)
    ]
    found += [
        item(f"m{n}", "memory", f"- {words(12)}", count=quarters, placement=Placement.PROFILE)
        for n in range(100, 112)
    ]
    found += [turn(n, words(60), words(90), count=quarters) for n in range(1, 40)]
    random.Random(seed).shuffle(found)
    return found


def specimen(seed: int = 0) -> Context:
    """An assembly in which everything competes: cuts, folds, ties, caps, variants."""
    plain = specification(
        *offered(seed),
        policy=policy("[chat]\nbudget = 2_600\n"),
        summary=Summary(0, "- They said: Ich fahre am 4. Mai nach Zürich."),
        now="2026-11-30T12:58:33+01:00",
    )
    return assemble(plain, quarters)


def main() -> None:
    """Print the hash of the bytes and of the record; in threads, which must agree."""
    seed = int(sys.argv[1])
    found: list[str] = []

    def run(number: int) -> None:
        context = specimen(seed + number)
        found.append(f"{context.bytes_sha256} {json.dumps(context.record)}")

    threads = [threading.Thread(target=run, args=(number,)) for number in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(found)) == 1, "threads disagree"
    print(found[0])


if __name__ == "__main__":
    main()
