"""The five layers, one module each: what could go into a prompt.

port          what a layer is asked and the form it answers in
session       what is happening now: goals, notes, what is open
conversation  the turns that led here
memory        what is durably true of the person, and earlier sessions
graph         how the entities in their life relate
rag           what is written down somewhere else
gather        asks them together, within a deadline
score         one calibrated scale for what search finds
variants      the fixed shorter forms of an item
"""
