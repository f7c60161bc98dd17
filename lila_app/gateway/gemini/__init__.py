"""Gemini through the google-genai SDK, with explicit caches where they pay.

```
provider      the port: one call, streamed
client        the SDK's client, and what of it goes over the wire
wire          a request as the SDK's types
reader        the answer's chunks as events
faults        the SDK's errors as LILA's
prefix        which prefixes of a request a cache may hold, and their keys
economy       the arithmetic: whether a cache pays, and when it has been outgrown
choice        what to do about caches for one request
contents      the caches at Google: made, extended, deleted
```
"""
