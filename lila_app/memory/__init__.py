"""How memories come to be, and what becomes of them.

model         what passes between the parts: utterances, dates, candidates
dates         what "yesterday" meant on the day it was said
predicates    what can be said of somebody: the vocabulary, with how each is said
extraction    what a turn says, as subject, predicate, value; without a model
learning      from turns to facts: looks at each turn once, in the background
subjects      who a fact is about, and what makes two subjects or values the same
taking        takes one statement in; placing: promotes, closes, undoes what came of it
promotion     when a candidate has earned its place
supersession  what a new fact does to an old one: nothing, closes it, contradicts it
revision      sentences that say that something changed, where no fact says what; revising: marks
retention     how long each kind of thing is offered
summary       what the conversation's grid cuts, in a few sentences
by_model      facts a capable model adds to what the rules found
completer     the port to a model, where one helps

Everything here can be done without a model; thresholds are in policies/promotion.toml.
"""
