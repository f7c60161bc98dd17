"""Measuring LILA against labelled data a person names; none of it is shipped.

locomo     conversations with questions, from a file in LoCoMo's form
ranking    simple ways to rank messages, to compare with
others     other memory systems, in an interpreter of their own
peers      what runs there: a script, never imported here
recall     how much of the labelled evidence stands within a budget
"""
