"""The guards of every store as pure functions, so that memory, SQLite and PostgreSQL hold the same conditions."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from interlock.core.approval import Approval, ApprovalState
from interlock.core.compensation_plan import CompensationPlan
from interlock.core.effect import TRANSITIONS, CallEvent, CallState
from interlock.core.errors import VersionExists
from interlock.core.recovery import Looks
from interlock.ports import ApprovalChange, Intent, OpenCall, PlanChange, Registered

FIRST_FENCE = 1


def may_fuse(intent: Intent) -> bool:
    """Whether a claim may stay in memory until it is settled: nothing that it takes outlives the process."""
    is_bare = intent.event is None and intent.approval is None and intent.continues is None
    return intent.fused and is_bare and intent.operation.key is None


def is_usable(approval: Approval | None, *, intent: Intent) -> bool:
    """Whether the intent's grant may be used up by it."""
    return (
        approval is not None
        and approval.state is ApprovalState.GRANTED
        and approval.is_met
        and not approval.is_expired(intent.at_us)
        and approval.binding.operation_digest == intent.operation.digest
    )


def is_key_over(state: CallState, *, until_us: int, at_us: int) -> bool:
    """Whether a call has given its key back: by proof that nothing happened, or once its lifetime is over.

    A call that runs, or may have happened, keeps its key however old it is.
    """
    return state is CallState.RELEASED or (state.is_final and until_us <= at_us)


def may_continue(state: CallState, *, at_work: bool) -> bool:
    """Whether a claim may go on with a call: done in part, or unknown and nobody may still be at work on it."""
    return state is CallState.PARTIAL or (state is CallState.UNKNOWN and not at_work)


def may_take_over(found: OpenCall, *, state: CallState, fence: int, at_work: bool) -> bool:
    """Whether who recovers a call may claim it: as it was found, and unknown, or claimed and nobody at work on it."""
    if (state, fence) != (found.state, found.fence):
        return False
    return state is CallState.UNKNOWN or (state is CallState.CLAIMED and not at_work)


def is_unknown_still(found: OpenCall, *, state: CallState, fence: int) -> bool:
    """Whether a call is unknown, and nobody has claimed it since it was found: what is said of it is said of this."""
    return (state, fence) == (CallState.UNKNOWN, found.fence)


def may_look_up(found: OpenCall, *, state: CallState, fence: int, at_work: bool, looks: Looks) -> bool:
    """Whether who counted these looks may count the next: nobody else has, and nobody may still be at work on it."""
    return is_unknown_still(found, state=state, fence=fence) and looks == found.looks and not at_work


def settled_state(state: CallState, *, what: CallEvent) -> CallState | None:
    """The state that a settlement leads to, or None where it is not allowed; what claims it anew is not settling."""
    return _SETTLING.get((state, what))


_SETTLING: Final = {step: state for step, state in TRANSITIONS.items() if state is not CallState.CLAIMED}


STANDING = frozenset({ApprovalState.PENDING, ApprovalState.GRANTED})
"""Where an approval stands whose operation may still come to run by it."""


def is_same_question(asked: Approval, *, standing: Approval) -> bool:
    """Whether an approval that waits, or is granted and not used, is about what is asked now.

    Without a key every question is its own. It has to keep from deciding all whom the new one would: an edit makes its
    editor one who asks. A grant has to be enough for what is required by now.
    """
    return (
        asked.key is not None
        and (asked.tenant, asked.key) == (standing.tenant, standing.key)
        and (standing.state is ApprovalState.PENDING or _is_enough(standing, asked))
        and not standing.is_expired(asked.asked_at_us)
        and asked.binding == standing.binding
        and asked.requesters <= standing.requesters
    )


def _is_enough(standing: Approval, asked: Approval) -> bool:
    is_granted = standing.state is ApprovalState.GRANTED and standing.is_met
    return is_granted and standing.requirement.covers(asked.requirement)


def still_as_expected(stored: Approval | None, *, change: ApprovalChange) -> bool:
    """Whether an approval is where the change expects it."""
    expected = change.expected
    return stored is not None and stored.state is expected.state and stored.votes == expected.votes


def denied_in_run(change: ApprovalChange) -> tuple[str, str] | None:
    """The run and the operation digest that this change denies for the rest of the run."""
    changed = change.changed
    if changed.state is not ApprovalState.DENIED or changed.run is None:
        return None
    return changed.run, changed.binding.operation_digest


def checked_version(found: Registered, *, stored: Registered | None) -> bool:
    """Whether publishing changes anything. `VersionExists`: the version is published with another digest."""
    if stored is not None and stored.digest != found.digest:
        raise VersionExists(f"{found.name} {found.version} is published already with another digest")
    return found != stored


def may_write_plan(change: PlanChange, *, stored: CompensationPlan | None) -> bool:
    """Whether a plan is where the change expects it; the next version follows on the one before."""
    expected = change.expected
    if expected is None or stored is None:
        return expected is stored
    return stored.version == expected.version == change.changed.version - 1


def used_up(approval: Approval) -> Approval:
    return replace(approval, state=ApprovalState.USED)


def voided(approval: Approval) -> Approval:
    return replace(approval, state=ApprovalState.VOID)
