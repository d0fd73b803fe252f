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
    """How a turn ended. Only `CALLS_ALLOWED` lets anything run.

    `PAUSED` goes on when its echo is sent again, `IN_PROGRESS` is asked for later under its `response_id`. `HTTP_ERROR`
    is a request that was refused, `MODEL_ERROR` a turn that the model spoilt, `ERROR` any other one that broke.
    """

    CALLS_ALLOWED = "calls_allowed"
    ANSWER = "answer"
    TRUNCATED = "truncated"
    REFUSED = "refused"
    PAUSED = "paused"
    IN_PROGRESS = "in_progress"
    DROPPED = "dropped"
    MODEL_ERROR = "model_error"
    HTTP_ERROR = "http_error"
    ERROR = "error"


class CallKind(StrEnum):
    """How the call was spelled, which decides how its result is sent back."""

    FUNCTION = "function"
    LEGACY_FUNCTION = "legacy_function_call"
    CUSTOM = "custom"
    TOOL_SEARCH = "tool_search"
    MCP_APPROVAL = "mcp_approval_request"
    APPLY_PATCH = "apply_patch_call"
    SHELL = "shell_call"
    LOCAL_SHELL = "local_shell_call"
    COMPUTER = "computer_call"


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

    A tool is named by `server` (a hosted MCP server's label), `namespace` and `name` together. `caller` is JSON text of
    who asked where the wire says it, such as a program of the model's. A call that is not `closed` was still being
    written when the turn ended. `signed` says that a signature came with this very call.
    """

    position: int
    wire_id: str | None
    reply_id: str
    name: str
    arguments_raw: str
    kind: CallKind = CallKind.FUNCTION
    echo: str = "{}"
    closed: bool = True
    item_id: str = ""
    namespace: str = ""
    server: str = ""
    caller: str = ""
    signed: bool = False


@dataclass(frozen=True, slots=True)
class ProviderCall:
    """Work that the provider did or does itself: to record and show, never to run.

    `kind` is the wire's type of it, `facts` JSON text of what else the wire says in short, such as `status`.
    """

    name: str
    wire_id: str | None = None
    kind: str = ""
    arguments_raw: str = ""
    facts: str = "{}"


_CALLS_ALLOWED = Ended.CALLS_ALLOWED  # looking it up in its class costs as much as a call


@dataclass(frozen=True, slots=True)
class Turn:
    """One response of a model. `stop` is the wire's own word for the end, `reason` why a turn runs nothing.

    `reason` and `text` are the provider's and the model's words: to show, never to act on. `echo` is JSON text of the
    fields that the provider wants back beside the message, such as reasoning. `raw` is the body as it came.

    `items` are the kinds of the turn's parts in order, with `*` behind one that was never closed where the wire closes
    them. `error` is JSON text of the provider's error as it came.
    """

    text: str
    calls: tuple[Proposed, ...]
    ended: Ended
    stop: str | None = None
    reason: str = ""
    usage: Usage = Usage()
    echo: str = "{}"
    raw: bytes = b""
    provider_calls: tuple[ProviderCall, ...] = ()
    items: tuple[str, ...] = ()
    error: str = ""
    response_id: str = ""

    @property
    def runnable(self) -> tuple[Proposed, ...]:
        """The calls that may go to the gate: all that were closed, or none. What is left needs an answer too."""
        if self.ended is not _CALLS_ALLOWED:
            return ()
        calls = self.calls
        return calls if False not in [call.closed for call in calls] else tuple([call for call in calls if call.closed])
