"""What is kept from whom: redaction before a sink, the vault, and restoring.

spans         what was found in a text, and which of two overlapping finds stays
rules         policies/privacy.toml, parsed
checksums     which numbers can be a card, an account, somebody's identity
sure          what patterns and checksums find surely; the standard library alone
guessed       patterns for what has no checksum: addresses, ages, titles
names         names, places and organisations, by Presidio and spaCy; loaded when first asked for
detection     all of these together, under the rules of one sink
placeholders  the form of what stands in for a value, and texts that only look like one
cipher        the two keys of a vault, drawn from one
key           where that one lies: a 0600 file, or the system's keyring
vault         one placeholder a value, kept encrypted in the profile's store
redaction     a text without its values, and with them again
streaming     restoring a text that comes in pieces
guard         a provider that is not on the person's machine, told placeholders alone
report        what is held, and where

Recall is never 1: what is not recognised goes out as it is. Whoever must be sure uses a model on
their own machine.
"""
