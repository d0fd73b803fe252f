"""Effect classes, and the states that a claimed call goes through, as one table.

The claim is durable before the effect starts, so a claimed call whose worker died may have happened or not: for
anything that may not be repeated that is UNKNOWN, an honest state, which only proof can leave.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum


class Effect(StrEnum):
    """What a tool does to the world.

    `is_effect`: whether it changes anything; everything but a read does. `repeatable`: whether the same call under the
    same key may be sent again. Every call asks, so they are worked out once.
    """

    is_effect: bool
    repeatable: bool

    READ = "read"
    IDEMPOTENT_WRITE = "idempotent_write"
    WRITE = "write"
    DESTRUCTIVE = "destructive"


for _effect in Effect:
    _effect.is_effect = _effect is not Effect.READ
    _effect.repeatable = _effect in (Effect.READ, Effect.IDEMPOTENT_WRITE)


class CallState(StrEnum):
    """Where a claimed call stands. RELEASED: it is proved that nothing happened."""

    CLAIMED = "claimed"
    SUCCEEDED = "succeeded"
    PARTIAL = "partial"
    FAILED = "failed"
    UNKNOWN = "unknown"
    RELEASED = "released"

    @property
    def was_done(self) -> bool:
        """Whether it has happened, in full or in part."""
        return self in (CallState.SUCCEEDED, CallState.PARTIAL)

    @property
    def is_final(self) -> bool:
        """Whether it has ended; only what was done in part may yet go on."""
        return self in (CallState.SUCCEEDED, CallState.PARTIAL, CallState.FAILED, CallState.RELEASED)


class CallEvent(StrEnum):
    """What can happen to a claimed call."""

    SUCCEED = "succeed"
    SUCCEED_PARTLY = "succeed_partly"
    FAIL = "fail"
    PROVE_NOTHING_HAPPENED = "prove_nothing_happened"
    LOSE_OUTCOME = "lose_outcome"
    TAKE_OVER = "take_over"
    GO_ON = "go_on"


TRANSITIONS: Mapping[tuple[CallState, CallEvent], CallState] = {
    (CallState.CLAIMED, CallEvent.SUCCEED): CallState.SUCCEEDED,
    (CallState.CLAIMED, CallEvent.SUCCEED_PARTLY): CallState.PARTIAL,
    (CallState.CLAIMED, CallEvent.FAIL): CallState.FAILED,
    (CallState.CLAIMED, CallEvent.PROVE_NOTHING_HAPPENED): CallState.RELEASED,
    (CallState.CLAIMED, CallEvent.LOSE_OUTCOME): CallState.UNKNOWN,
    (CallState.CLAIMED, CallEvent.TAKE_OVER): CallState.CLAIMED,
    (CallState.UNKNOWN, CallEvent.SUCCEED): CallState.SUCCEEDED,
    (CallState.UNKNOWN, CallEvent.SUCCEED_PARTLY): CallState.PARTIAL,
    (CallState.UNKNOWN, CallEvent.FAIL): CallState.FAILED,
    (CallState.UNKNOWN, CallEvent.PROVE_NOTHING_HAPPENED): CallState.RELEASED,
    (CallState.UNKNOWN, CallEvent.TAKE_OVER): CallState.CLAIMED,
    (CallState.PARTIAL, CallEvent.GO_ON): CallState.CLAIMED,
}
