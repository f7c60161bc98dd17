"""The decisions of a spoken conversation: `(state, event, now) -> (state, actions)`.

Pure and total: no clock, no sound, no task; any event may come in any state. What comes too late is
known by turn and revision and changes nothing.

What the loop owes: events in the order in which they happened; for every `Ask` that is not dropped
a `ReplyEnded` or `ReplyFailed`; for every `Say` that is not dropped or cut a `Silent` that counts
it, or the loss of the speaker; a `Frame` or a `Tick` about every 32 ms. Everything else is bounded
here: a reading that never comes, a `Hold` that is never answered, a noise without an end.

`state` says what there is. `hearing` makes turns of frames and `turns` has their life, `replying`
that of a reply; `interrupting` decides what is said over one, `keys` does what a key says, `faults`
what is left when a part of the sound is lost. `steps` hands each event to whom it concerns.
"""

from __future__ import annotations

from lila_app.voice.machine.state import Rules, State, start
from lila_app.voice.machine.steps import step

__all__ = ["Rules", "State", "start", "step"]
