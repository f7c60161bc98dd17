"""Speech models on this machine: which there are, whether they are what they should be, fetching.

What reads with them is in `lila_app.voice.recognise`; here they are folders with known bytes.
"""
