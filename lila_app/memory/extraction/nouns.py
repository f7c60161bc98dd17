"""Who or what a few words mean: the person, a name, somebody's sister, a thing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from lila_app.memory.extraction.lexicon import CANONICAL, PETS, ROLES
from lila_app.memory.extraction.words import Words, is_name, is_noun, listed, said
from lila_app.memory.model import ME
from lila_app.memory.predicates import PERSON

Sort = Literal["me", "name", "role", "pet", "thing", "pronoun", "other"]

Triple = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class Mention:
    """One thing that is spoken of.

    `name` is how it is kept ("" where it has none that stands by itself), `noun` the role, animal
    or thing it is said to be, `owner` whose it is, `implied` what naming it so states; `new` says
    that it is called a new one ("my new boss Klaus").
    """

    sort: Sort
    name: str
    noun: str = ""
    owner: str = ""
    described: str = ""
    implied: tuple[Triple, ...] = ()
    new: bool = False


@dataclass(slots=True)
class Speaking:
    """Who speaks, and whom a pronoun could mean: what was named so far in the utterance.

    `nameless` is an animal or relative whose name may follow ("a puppy, her name is Coco"), with
    its owner; `before` is who was named before the clause that is read.
    """

    speaker: str
    known: Mapping[str, str]
    named: list[str] = field(default_factory=lambda: list[str]())
    nameless: tuple[str, str] | None = None
    before: tuple[str, ...] = ()

    def note(self, name: str) -> None:
        """Somebody was named."""
        if name and name not in self.named and name != self.speaker:
            self.named.append(name)

    def rename(self, described: str, name: str) -> None:
        """Somebody described before was given a name."""
        self.named = [one for one in self.named if one != described]
        self.note(name)

    def meant(self) -> str:
        """Whom "she" or "his" means: somebody only where nobody else could be."""
        return self.named[0] if len(self.named) == 1 else ""


_ME = listed("i me we us myself ourselves")
_MINE = listed("my our")
# Said without "my", as a name is.
_UNOWNED = listed("mum mom mama mummy mommy dad papa daddy grandma grandpa granny gran")
_THEIRS = listed("his her their its")
_ARTICLES = listed("a an the this that these those some any every each another no your")


def mentions(words: Words, text: str, speaking: Speaking) -> list[Mention]:
    """What a noun phrase names, one mention for each of its members ("Sam and I")."""
    found: list[Mention] = []
    part: list[int] = []
    for place, word in enumerate(words):
        splits = word.tag == "CC" or word.low == "&" or (word.low == "," and _lists(words, place))
        if splits:
            found += _read(words, part, text, speaking)
            part = []
        elif not word.dated:
            part.append(place)
    found += _read(words, part, text, speaking)
    return found


def _lists(words: Words, place: int) -> bool:
    """Does this comma separate members of a list, not a name from its apposition?"""
    after = words[place + 1 : place + 2]
    before = words[place - 1] if place else None
    if not after or before is None:
        return False
    held = before.tag == "NN" and (before.lemma in ROLES or before.lemma in PETS)
    return not (held and is_name(after[0]))


def _read(words: Words, part: list[int], text: str, speaking: Speaking) -> list[Mention]:
    if not part:
        return []
    mention = phrase([words[place] for place in part], text, speaking)
    if mention.sort in ("name", "role", "pet"):
        speaking.note(mention.name)
    return [mention]


def phrase(words: Words, text: str, speaking: Speaking) -> Mention:
    """What one member of a noun phrase names."""
    first = words[0]
    if len(words) == 1 and first.low in _ME:
        return Mention("me", speaking.speaker)
    if len(words) == 1 and first.tag == "PRP":
        name = speaking.meant() if first.low in ("he", "she", "him", "her") else ""
        return Mention("pronoun", name)
    if len(words) == 1 and first.low in _UNOWNED and not first.entity:
        return _owned(speaking.speaker, words, text, ())
    owner, rest, implied = _owner(words, text, speaking)
    if owner:
        return _owned(owner, rest, text, implied)
    if owner is None:
        return Mention("other", "")
    if all(
        is_name(word) or word.low in ("de", "da", "do", "van", "von", "of", ".") for word in words
    ):
        return Mention("name", _named(words, text))
    if first.low in _MINE or first.low in _THEIRS:
        return Mention("other", "")
    return _thing(words, text)


def _named(words: Words, text: str) -> str:
    """A name as it is written, or as the entity it belongs to is called."""
    entities = {word.entity for word in words if word.entity}
    if len(entities) == 1 and all(word.entity for word in words):
        return entities.pop()
    return said(words, text)


def _owner(
    words: Words, text: str, speaking: Speaking
) -> tuple[str | None, Words, tuple[Triple, ...]]:
    """Whose it is, and the words after that; "" for nobody's, None where nobody can tell."""
    owner, rest = "", words
    implied: tuple[Triple, ...] = ()
    if words[0].low in _MINE:
        owner, rest = speaking.speaker, words[1:]
    elif words[0].low in _THEIRS and words[0].tag == "PRP$":
        owner, rest = speaking.meant(), words[1:]
        if not owner:
            return None, words, ()
    while True:
        mark = next((i for i, word in enumerate(rest) if word.tag == "POS"), None)
        if mark is None or mark + 1 >= len(rest):
            return owner, rest, implied
        if owner:
            held = _owned(owner, rest[:mark], text, ())
            owner, implied = held.name, implied + held.implied
        elif mark == 1 and rest[0].low in _UNOWNED and not rest[0].entity:
            owner = _owned(speaking.speaker, rest[:1], text, ()).name
        elif all(is_name(word) for word in rest[:mark]):
            owner = _named(rest[:mark], text)
            speaking.note(owner)
        else:
            owner = _thing(rest[:mark], text).name
        rest = rest[mark + 1 :]
        if not owner:
            return None, words, ()


def _owned(owner: str, rest: Words, text: str, implied: tuple[Triple, ...]) -> Mention:
    """My sister, my sister Joana, our dog Rex, my red car."""
    rest = [word for word in rest if word.low != ","]
    place = next((i for i, w in enumerate(rest) if _key(w.low) or w.lemma in ROLES), None)
    if place is None:
        place = next((i for i, w in enumerate(rest) if w.lemma in PETS), None)
    if place is None:
        head = next((w for w in reversed(_core(rest)) if is_noun(w)), None)
        name = f"{_called(owner)}'s {_stripped(rest, text)}" if head else ""
        return Mention("thing", name, head.lemma if head else "", owner, name, implied)
    noun = (
        rest[place].lemma
        if rest[place].lemma in ROLES or rest[place].lemma in PETS
        else rest[place].low
    )
    after = rest[place + 1 :]
    before = {word.low for word in rest[:place]}
    if _over(noun, before):
        named = bool(after) and all(is_name(word) for word in after)
        return Mention("name", _named(after, text)) if named else Mention("other", "")
    described = f"{_called(owner)}'s {CANONICAL.get(noun, noun)}"
    sort: Sort = "pet" if noun in PETS else "role"
    if not after or not all(is_name(word) for word in after):
        plural = rest[place].tag == "NNS"
        name = described + ("s" if plural else "") if not after else ""
        if owner == ME and rest[place].entity and name:
            name = rest[place].entity
        return Mention(sort, name, noun, owner, described, implied)
    name = _named(after, text)
    stated = implied + related(noun, name, owner)
    return Mention(sort, name, noun, owner, described, stated, "new" in before)


_GONE = listed("former previous ex future prospective")
_GONE_OR_AGED = listed("old late last first second")


def _over(noun: str, before: set[str]) -> bool:
    """Do the words before it say that somebody is this no more, or not yet: a former boss?"""
    return bool(before & _GONE) or (not lasting(noun) and bool(before & _GONE_OR_AGED))


def lasting(noun: str) -> bool:
    """Is it for good: a mother, an old friend; not a boss, a doctor, a wife, an animal?"""
    role = ROLES.get(noun)
    return role is not None and role.subject == "holder" and role.predicate != "colleague_of"


def _core(words: Words) -> Words:
    """The words before a preposition: what the phrase is about."""
    for place, word in enumerate(words):
        if word.tag in ("IN", "TO") and word.low != "of":
            return words[:place]
    return words


def _key(word: str) -> bool:
    return word in ROLES


def _called(owner: str) -> str:
    return PERSON if owner == ME else owner


def related(noun: str, name: str, owner: str) -> tuple[Triple, ...]:
    """What it states that somebody is the sister, the dog, the dentist of somebody."""
    if noun in PETS:
        return (owner, "has_pet", name), (name, "is_a", noun)
    role = ROLES.get(noun)
    if role is None:
        return ()
    if role.subject == "holder":
        return ((name, role.predicate, owner),)
    return ((owner, role.predicate, name),)


def _thing(words: Words, text: str) -> Mention:
    """The office, metoprolol, a small boat; nothing for "that one" or "it"."""
    if words[0].low in (
        "that",
        "this",
        "these",
        "those",
        "every",
        "each",
        "any",
        "some",
        "no",
        "your",
    ):
        return Mention("other", "")
    kept = [w for w in _core(words) if w.low not in _ARTICLES]
    if not kept or not is_noun(kept[-1]):
        return Mention("other", "")
    name = _stripped(words, text)
    return Mention("thing", name, kept[-1].lemma, "", name)


def _stripped(words: Words, text: str) -> str:
    start = 0
    while start < len(words) and words[start].low in _ARTICLES:
        start += 1
    return said(words[start:], text)
