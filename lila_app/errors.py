"""Every error a person can meet, with its exit code and the way out.

```
LilaError                    1   anything LILA knows how to explain
├── UsageError               2   an argument or a message is not usable as given
├── ConfigError              3   a settings file or value
│   ├── PolicyError          3   a policy table: file, key, found, allowed
│   └── MissingKeyError      3   a provider's key is nowhere to be found
├── StorageError             4   the store on disk
│   ├── NewerStoreError      4   written by a newer LILA; never touched
│   ├── ReadOnlyStoreError   4   the home cannot be written
│   ├── DiskFullError        4   no space left; nothing half written
│   ├── StoreBusyError       4   another process held the write lock too long
│   └── DamagedStoreError    4   the check found something that must not be
├── NotFoundError            5   no session, memory, record … of that id
├── BudgetError              6   the prompt cannot be made to fit
│   ├── FixedPartsError      6   instructions, tools and the message alone overflow
│   └── PinnedOverflowError  6   pinned items exceed their layer's cap
├── GatewayError             7   the model's side
│   ├── AuthenticationError  7   the key was refused
│   ├── UnavailableError     7   nothing answered
│   │   ├── UnreachableError 7   no connection came about
│   │   └── TimedOutError    7   no first word, or no further one, in time
│   ├── RateLimitedError     7   asked to wait
│   ├── SpendLimitError      7   the account has no money left, or its spending limit is reached
│   ├── MonthSpentError      7   the person's own budget for the month is spent
│   ├── RequestRefusedError  7   the provider called the request wrong
│   ├── TruncatedReplyError  7   the stream ended without its terminal marker
│   ├── ContextTooLarge      7   the prompt exceeds the answering model's limits
│   ├── InvalidAnswerError   7   an answer that feeds code was wrong twice
│   └── FrozenError          7   something frozen in an epoch changed without a new one
├── WeightsError             8   model files
│   ├── MissingWeightsError  8   not there (the hint says how to get them)
│   ├── ChecksumError        8   there, but not the bytes that were published
│   └── FetchError           8   could not be fetched
├── DocumentError            9   a document that cannot be read
├── SoundError              10   no microphone, no speaker, or the system for both is missing
└── Cancelled              130   stopped by the person
```

Every instance carries a `hint`: one sentence that says what to do.
"""

from __future__ import annotations

from typing import ClassVar


class LilaError(Exception):
    """Root of everything LILA raises on purpose; `str(error)` is a sentence for a person."""

    exit_code: ClassVar[int] = 1

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class UsageError(LilaError):
    """An argument or a message is not usable as given."""

    exit_code = 2


class ConfigError(LilaError):
    """A settings file or value is not usable."""

    exit_code = 3


class PolicyError(ConfigError):
    """A policy table is refused at load: which file, which key, what was found, what is allowed."""

    def __init__(self, *, file: str, key: str, found: str, allowed: str, hint: str = "") -> None:
        where = f"{file}: {key}" if key else file
        super().__init__(
            f"{where}: found {found}; allowed is {allowed}",
            hint=hint or f"correct {file}, then run `lila policy check`",
        )
        self.file = file
        self.key = key
        self.found = found
        self.allowed = allowed


class MissingKeyError(ConfigError):
    """No key of a provider is in any of the places it is looked for."""


class StorageError(LilaError):
    """The store on disk cannot do what was asked."""

    exit_code = 4


class NewerStoreError(StorageError):
    """The file was written by a newer LILA and is left untouched."""


class ReadOnlyStoreError(StorageError):
    """The home folder or the store in it cannot be written."""


class DiskFullError(StorageError):
    """No space was left; the transaction was rolled back whole."""


class StoreBusyError(StorageError):
    """Another process held the write lock longer than LILA waits."""


class DamagedStoreError(StorageError):
    """The store fails its own check."""


class NotFoundError(LilaError):
    """No thing of that id exists."""

    exit_code = 5


class BudgetError(LilaError):
    """The prompt cannot be made to fit its limit."""

    exit_code = 6


class FixedPartsError(BudgetError):
    """What comes off the top (instructions, tools, the person's turn) exceeds the limit alone.

    `parts` names each part with its tokens, in render order.
    """

    def __init__(self, *, limit: int, parts: tuple[tuple[str, int], ...], hint: str = "") -> None:
        listed = ", ".join(f"{name} {tokens}" for name, tokens in parts)
        super().__init__(
            f"the fixed parts need {sum(t for _, t in parts)} tokens and the limit is {limit}: "
            f"{listed}",
            hint=hint
            or "shorten the message, put long material in with `lila ingest`, or raise the budget",
        )
        self.limit = limit
        self.parts = parts


class PinnedOverflowError(BudgetError):
    """Pinned items exceed their layer's cap; nothing pinned is ever cut silently."""

    def __init__(self, *, layer: str, cap: int, tokens: int, items: tuple[str, ...]) -> None:
        super().__init__(
            f"pinned items of the {layer} layer need {tokens} tokens and may take {cap}: "
            + ", ".join(items),
            hint="`lila goal done` takes a goal out, `lila memory forget` a pinned memory; or "
            "raise the budget, or the cap in your own policy tables (`lila policy path`)",
        )
        self.layer = layer
        self.cap = cap
        self.tokens = tokens
        self.items = items


class GatewayError(LilaError):
    """A model provider did not give a whole reply."""

    exit_code = 7


class AuthenticationError(GatewayError):
    """The provider refused the credential."""


class UnavailableError(GatewayError):
    """The provider could not be reached or failed on its side."""


class UnreachableError(UnavailableError):
    """No connection to the provider came about: wrong address, no server there, or no network."""


class TimedOutError(UnavailableError):
    """The provider gave no first word, or no further one, in the time it had."""


class RateLimitedError(GatewayError):
    """The provider asked to wait; `retry_after` is in seconds, None when not said."""

    def __init__(self, message: str, *, hint: str = "", retry_after: float | None = None) -> None:
        super().__init__(message, hint=hint)
        self.retry_after = retry_after


class SpendLimitError(GatewayError):
    """The account has no money left or its spending limit is reached (402, 429 of that kind).

    Waiting does not help, only the person or whoever pays.
    """


class MonthSpentError(GatewayError):
    """The person's own budget for the month is spent, and no model that costs nothing is there."""


class RequestRefusedError(GatewayError):
    """The provider called the request itself wrong (400, 404, 422); retrying cannot help."""


class TruncatedReplyError(GatewayError):
    """The stream ended without its terminal marker, so the reply is not known to be whole."""


class InvalidAnswerError(GatewayError):
    """An answer that feeds code did not have its form, or was untrue, and so was the second one.

    `boundary` names what was asked for, `problem` what was wrong with it, without the answer.
    """

    def __init__(self, boundary: str, problem: str, *, hint: str = "") -> None:
        super().__init__(
            f"the model's answer for {boundary} could not be used, twice: {problem}",
            hint=hint or "ask again, or give the job to a larger model in policies/gateway.toml",
        )
        self.boundary = boundary
        self.problem = problem


class ContextTooLarge(GatewayError):
    """The prompt exceeds the answering model's limits; the assistant re-assembles under them.

    `model` is the `provider/model` whose limits they are, "" when only one was asked.
    """

    def __init__(self, message: str, *, hint: str = "", model: str = "") -> None:
        super().__init__(message, hint=hint)
        self.model = model


class FrozenError(GatewayError):
    """What is frozen within a session's epoch changed in the middle of one.

    Sending it would throw away a cache without a word and pay for it anew.
    """


class WeightsError(LilaError):
    """A model file is missing, wrong or could not be fetched."""

    exit_code = 8


class MissingWeightsError(WeightsError):
    """The model file is not there."""


class ChecksumError(WeightsError):
    """The model file is not the bytes its publisher published."""


class FetchError(WeightsError):
    """The model file could not be fetched."""


class DocumentError(LilaError):
    """A document cannot be read; the message names it and says why."""

    exit_code = 9


class SoundError(LilaError):
    """The machine's sound is not there, or not for us; chatting in text goes on without it."""

    exit_code = 10


class Cancelled(LilaError):
    """The person stopped it."""

    exit_code = 130
