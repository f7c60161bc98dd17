"""What speaks: libespeak-ng, the system's own voices through pyttsx3, or piper.

`choose.engine` picks one by the settings. Each takes text as `speakable` writes it and gives its
sound stretch by stretch with the words that begin in each; each ends soon once it is cancelled.
"""
