"""The machine's sound through PortAudio: which microphones and speakers there are, and both open.

`card.SoundCard` is the `SoundSystem`: it keeps a microphone and a speaker open and watches over
them. `backend` says what there is and opens it; where PulseAudio or PipeWire serves the sound,
`pulse` knows the devices behind the one that PortAudio sees.
"""
