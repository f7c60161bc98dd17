"""Reading speech: Whisper on CTranslate2, in a context as short as the turn.

`whisper` reads, `gate` refuses what nobody said, `engine` is the typed edge of faster-whisper.
"""
