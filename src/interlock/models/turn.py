"""What a model's turn says once its wire format is read: the same few values for every provider.

A turn is judged as a whole before any call of it may run: `runnable` is empty unless the turn ended in a way that
allows calls. Arguments stay the raw text that was sent; whoever admits the call parses them, strictly and once.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

REASON_CHARACTERS_MAX: Final = 500


class Ended(StrEnum):
    """How a turn ended. Only `CALLS_ALLOWED` lets anything run."""

    CALLS_ALLOWED = "calls_allowed"
    ANSWER = "answer"
    TRUNCATED = "truncated"
    REFUSED = "refused"
    DROPPED = "dropped"
    ERROR = "error"


class CallKind(StrEnum):
    """How the call was spelled, which decides how its result is sent back."""

    FUNCTION = "function"
    LEGACY_FUNCTION = "legacy_function_call"
    CUSTOM = "custom"


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens that the provider reported; None where it reported none, which is not zero."""

    input_tokens: int | None = None
    output_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class Proposed:
    """One call as the model spelled it. Its identity is the turn and `position`; `wire_id` is only a label.

    `reply_id` is the label to send the result back under: the wire's own where it is there and unique in its turn.
    `echo` is JSON text of the fields that the provider wants back beside the call, such as signatures.
    """

    position: int
    wire_id: str | None
    reply_id: str
    name: str
    arguments_raw: str
    kind: CallKind = CallKind.FUNCTION
    echo: str = "{}"


@dataclass(frozen=True, slots=True)
class Turn:
    """One response of a model. `stop` is the wire's own word for the end, `reason` why a turn runs nothing.

    `reason` and `text` are the provider's and the model's words: to show, never to act on. `echo` is JSON text of the
    fields that the provider wants back beside the message, such as reasoning. `raw` is the body as it came.
    """

    text: str
    calls: tuple[Proposed, ...]
    ended: Ended
    stop: str | None = None
    reason: str = ""
    usage: Usage = Usage()
    echo: str = "{}"
    raw: bytes = b""

    @property
    def runnable(self) -> tuple[Proposed, ...]:
        """The calls that may go to the gate: all of them, or none."""
        return self.calls if self.ended is Ended.CALLS_ALLOWED else ()
