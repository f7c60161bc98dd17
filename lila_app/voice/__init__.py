"""The spoken assistant: from a microphone to a speaker, with the assistant of every front-end.

`machine` decides, and touches nothing: `(state, event, now) -> (state, actions)`. `loop` does what
it says with a real sound card, `simulation` with files and a clock of its own. What can be changed
lies behind a port (`ports`): voice activity, the recogniser, the synthesiser, the conversation.
`driving` hands an event to the machine and its actions to `hands`, which begin them by workers of
the real clock (`working`) or of the other (`virtual`); `playback` knows what was heard, `trace`
keeps what each turn took, `session` is what front-ends open.

Times are milliseconds of the loop's own clock, whole numbers; audio is 16 kHz mono in samples of 16
bits, in frames of 512 (32 ms, what one step of the voice activity model takes).
"""
