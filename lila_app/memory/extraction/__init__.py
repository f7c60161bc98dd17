"""What a turn says, as subject, predicate, value; without a model.

gate       which sentences are looked at, and which only look like facts
asking     what is said to LILA itself: remember, correction, always
gazetteer  known names, first of all
parser     spaCy's small English model, its weights checked
clauses    who, which verbs, what follows
nouns      whom or what a few words mean
reading    a clause taken apart
being, doing, planning   the rules
build      from what a rule found to a candidate

What is not sure is left: a false fact about somebody costs more than one that is said again.
"""

from lila_app.memory.extraction.extractor import Extractor

__all__ = ["Extractor"]
