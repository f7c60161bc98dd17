"""Small talk: what people say all day and nobody needs to remember. Two hundred lines, seeded."""

from __future__ import annotations

import random

GREETINGS = ("Good morning!", "Hey there.", "Hi LILA.", "Evening.", "Hello again.", "Morning, you.")
THANKS = (
    "Thanks a lot.", "That helps, thank you.", "Perfect, cheers.", "Great, exactly what I meant.",
    "Thank you so much!", "Lovely, thanks.", "Ok, thanks, that's all.", "Much appreciated.",
)  # fmt: skip
WEATHER = (
    "What a {adjective} day.", "It's {adjective} outside again.", "The rain won't stop, will it?",
    "So much {thing} out there.", "I can't believe this {thing}.", "Finally some {thing}!",
)  # fmt: skip
MOODS = (
    "Ugh, {day}s.", "I'm so done with today.", "Well, that was {adjective}.", "Haha, nice one.",
    "I could sleep for a week.", "Wow, really?", "Hm, let me think about that.",
    "No idea, honestly.",
    "Oh well, could be worse.", "That made me laugh.", "I need a coffee.", "What a {day}.",
    "Time flies, doesn't it?", "Oof, long meeting.", "Almost weekend!", "I'm bored.",
)  # fmt: skip
REQUESTS = (
    "Tell me a joke about {animal}s.", "What's {number} times {other}?", "Sing me something.",
    "Can you write a haiku about {thing}?", "How do you spell {word}?", "What does {word} mean?",
    "Give me a synonym for {word}.", "Is {number} a prime?", "How tall is a {animal}?",
    "Which is bigger, a {animal} or a {beast}?", "Shorten that, please.", "Say it in one sentence.",
    "Translate {word} into Danish.", "Why is the sky blue?", "What rhymes with {word}?",
    "How long do I boil an egg?", "Can {animal}s swim?", "Do {animal}s dream of {thing}?",
    "Explain {thing} to a child.", "What should one cook with {food}?",
)  # fmt: skip
CHATTER = (
    "I saw a {animal} on the way here.", "Somebody left {food} in the kitchen.",
    "The bus was late again.", "My {food} got cold while I was talking.",
    "That film was {adjective}.",
    "The neighbours are loud tonight.", "I just had {food}.", "I'm waiting for the kettle.",
    "The printer jammed.", "There was {food} for lunch.", "I nearly missed the tram.",
    "The {animal} in that video was {adjective}.", "I watched a bit of telly.",
    "My foot fell asleep.",
    "Somebody is drilling next door.", "I dropped my {food}.", "The lift is broken, of course.",
    "I forgot what I wanted to ask.", "Where were we?", "Never mind.", "Anyway.",
    "Right, back to it.",
    "It smells of {food} in here.", "A {animal} walked past the window.", "The queue was endless.",
)  # fmt: skip
WORDS = {
    "adjective": ("lovely", "grey", "odd", "endless", "funny", "slow", "gorgeous", "dull", "wild"),
    "thing": ("fog", "sunshine", "wind", "thunder", "snow", "drizzle", "gravity", "rust", "music"),
    "day": ("monday", "tuesday", "wednesday", "thursday"),
    "animal": ("penguin", "otter", "goat", "heron", "badger", "squirrel", "moose", "pigeon"),
    "beast": ("walrus", "bison", "tapir", "camel"),
    "word": ("accommodate", "rhythm", "serendipity", "orange", "yacht", "silhouette", "thorough"),
    "food": ("soup", "toast", "noodles", "cake", "tea", "porridge", "chips"),
    "number": ("17", "23", "91", "48"),
    "other": ("3", "6", "12"),
}
KINDS = (GREETINGS, THANKS, WEATHER, MOODS, REQUESTS, REQUESTS, REQUESTS, CHATTER, CHATTER)


def lines(count: int = 200, seed: int = 4) -> list[str]:
    """So many lines, most of them different; the same for the same seed."""
    draw = random.Random(seed)
    return [
        draw.choice(draw.choice(KINDS)).format(**{k: draw.choice(v) for k, v in WORDS.items()})
        for _ in range(count)
    ]
