"""The two machines: where a run and where a call of it may go next, as literal tables.

    MODEL_REQUEST -> MODEL_RESPONSE -> TOOLS -> RETURN_TO_MODEL -> MODEL_REQUEST -> ... -> COMPLETE

A run that is over goes nowhere. Whatever is not over may be cancelled, may run into a limit, and may fail. The diagrams
in the documentation are drawn from these tables (`interlock.loop.diagram`), and every step of a run is checked against
them when it is written and when it is read again.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from functools import lru_cache
from types import MappingProxyType
from typing import Final

from interlock.core.errors import StoreError


class State(StrEnum):
    """Where a run stands."""

    START = "start"
    MODEL_REQUEST = "model_request"
    MODEL_RETRY = "model_retry"
    MODEL_RESPONSE = "model_response"
    TOOLS = "tools"
    WAITING_APPROVAL = "waiting_approval"
    WAITING_HUMAN = "waiting_human"
    PAUSED = "paused"
    RETURN_TO_MODEL = "return_to_model"
    COMPLETE = "complete"
    STOPPED = "stopped"
    FAILED = "failed"
    CANCELLED = "cancelled"
    ABORTED = "aborted"

    @property
    def is_over(self) -> bool:
        """Whether nothing more happens in the run."""
        return self in OVER


OVER: Final = frozenset({State.COMPLETE, State.STOPPED, State.FAILED, State.CANCELLED, State.ABORTED})

RESTING: Final = frozenset({State.WAITING_APPROVAL, State.WAITING_HUMAN, State.PAUSED})
"""Where a run waits for people."""


class Cause(StrEnum):
    """What moves a run."""

    BEGUN = "begun"
    FAULTED = "faulted"
    RETRIED = "retried"
    RESPONDED = "responded"
    CALLED = "called"
    ANSWERED = "answered"
    REFUSED = "refused"
    NOTHING_RAN = "nothing_ran"
    OBSERVED = "observed"
    ALL_OBSERVED = "all_observed"
    ASKED = "asked"
    DECIDED = "decided"
    RETURNED = "returned"
    PAUSED = "paused"
    HANDED_OVER = "handed_over"
    BACK_TO_MODEL = "back_to_model"
    BACK_TO_TOOLS = "back_to_tools"
    STOPPED = "stopped"
    GAVE_UP = "gave_up"
    CANCELLED = "cancelled"
    OVER_LIMIT = "over_limit"


_ENDS: Final = {
    Cause.STOPPED: State.STOPPED,
    Cause.GAVE_UP: State.FAILED,
    Cause.CANCELLED: State.CANCELLED,
    Cause.OVER_LIMIT: State.ABORTED,
}
_RESTS: Final = {Cause.PAUSED: State.PAUSED, Cause.HANDED_OVER: State.WAITING_HUMAN}
_GOES_ON: Final = {Cause.BACK_TO_MODEL: State.MODEL_REQUEST, Cause.BACK_TO_TOOLS: State.TOOLS}

RUN: Final[Mapping[State, Mapping[Cause, State]]] = MappingProxyType(
    {
        State.START: {Cause.BEGUN: State.MODEL_REQUEST, **_ENDS},
        State.MODEL_REQUEST: {
            Cause.RESPONDED: State.MODEL_RESPONSE,
            Cause.FAULTED: State.MODEL_RETRY,
            **_RESTS,
            **_ENDS,
        },
        State.MODEL_RETRY: {Cause.RETRIED: State.MODEL_REQUEST, **_RESTS, **_ENDS},
        State.MODEL_RESPONSE: {
            Cause.CALLED: State.TOOLS,
            Cause.ANSWERED: State.COMPLETE,
            Cause.REFUSED: State.STOPPED,
            Cause.NOTHING_RAN: State.RETURN_TO_MODEL,
            **_ENDS,
        },
        State.TOOLS: {
            Cause.OBSERVED: State.TOOLS,
            Cause.ALL_OBSERVED: State.RETURN_TO_MODEL,
            Cause.ASKED: State.WAITING_APPROVAL,
            **_RESTS,
            **_ENDS,
        },
        State.WAITING_APPROVAL: {Cause.DECIDED: State.TOOLS, **_RESTS, **_ENDS},
        State.WAITING_HUMAN: {**_GOES_ON, **_ENDS},
        State.PAUSED: {**_GOES_ON, **_ENDS},
        State.RETURN_TO_MODEL: {Cause.RETURNED: State.MODEL_REQUEST, **_ENDS},
        State.COMPLETE: {},
        State.STOPPED: {},
        State.FAILED: {},
        State.CANCELLED: {},
        State.ABORTED: {},
    }
)


class CallStage(StrEnum):
    """Where a call of a run stands."""

    VALIDATE = "validate"
    AUTHORIZE = "authorize"
    WAIT_APPROVAL = "wait_approval"
    CLAIM = "claim"
    EXECUTE = "execute"
    RECORD_RESULT = "record_result"
    TOOL_ERROR_RESULT = "tool_error_result"


class CallCause(StrEnum):
    """What moves a call."""

    FITS = "fits"
    REFUSED = "refused"
    REPLAYED = "replayed"
    ALLOWED = "allowed"
    ASKED = "asked"
    DECIDED = "decided"
    CLAIMED = "claimed"
    CHANGED = "changed"
    ENDED = "ended"
    FAILED = "failed"


CALL: Final[Mapping[CallStage, Mapping[CallCause, CallStage]]] = MappingProxyType(
    {
        CallStage.VALIDATE: {CallCause.FITS: CallStage.AUTHORIZE, CallCause.REFUSED: CallStage.TOOL_ERROR_RESULT},
        CallStage.AUTHORIZE: {
            CallCause.ALLOWED: CallStage.CLAIM,
            CallCause.ASKED: CallStage.WAIT_APPROVAL,
            CallCause.REPLAYED: CallStage.RECORD_RESULT,
            CallCause.REFUSED: CallStage.TOOL_ERROR_RESULT,
        },
        CallStage.WAIT_APPROVAL: {
            CallCause.DECIDED: CallStage.AUTHORIZE,
            CallCause.REFUSED: CallStage.TOOL_ERROR_RESULT,
        },
        CallStage.CLAIM: {
            CallCause.CLAIMED: CallStage.EXECUTE,
            CallCause.CHANGED: CallStage.AUTHORIZE,
            CallCause.REFUSED: CallStage.TOOL_ERROR_RESULT,
        },
        CallStage.EXECUTE: {
            CallCause.ENDED: CallStage.RECORD_RESULT,
            CallCause.FAILED: CallStage.TOOL_ERROR_RESULT,
        },
        CallStage.RECORD_RESULT: {},
        CallStage.TOOL_ERROR_RESULT: {},
    }
)


class IllegalStep(StoreError):
    """A journal holds a step that the table does not allow: it was not written by this machine."""


@lru_cache(maxsize=1_024)
def after(state: State, causes: tuple[Cause, ...]) -> State:
    """Where a run stands after these, in order. Raises `IllegalStep`."""
    for cause in causes:
        following = RUN[state].get(cause)
        if following is None:
            raise IllegalStep(f"a run that is {state.value} cannot be {cause.value}")
        state = following
    return state
