"""What goes back for calls that did not end by themselves: their worker died, or a person has closed them."""

from __future__ import annotations

from dataclasses import replace

from interlock.core.items import ItemState, failed_again, marked, open_names
from interlock.core.observation import Observation, Problem, Status, from_bytes
from interlock.core.refusals import REFUSALS, Code

DIED = "Its worker died while it ran; whether it happened is not known."

_NOT_DONE = {ItemState.UNKNOWN: ItemState.OPEN}


def lost(*, call_id: str, tool: str, version: str, operation_id: str, at_us: int) -> Observation:
    """The observation of a call whose worker died after its claim: whether it happened is not known."""
    row = REFUSALS[Code.OUTCOME_UNKNOWN]
    return Observation(
        call_id=call_id,
        tool=tool,
        version=version,
        status=Status.UNKNOWN,
        error=Problem(Code.OUTCOME_UNKNOWN, DIED),
        operation_id=operation_id,
        executed_at_us=at_us,
        hint=row.next_step,
        user_text=row.user,
    )


def in_part_before(seen: Observation, earlier: bytes) -> Observation:
    """The observation of a call that was lost, of which part was done before: `earlier` is what was stored of that."""
    before = from_bytes(earlier)
    items = before.items or marked(before.open_items)
    return seen.changed({"items": failed_again(items, says=DIED, state=ItemState.UNKNOWN)})


def closed_by(person: str, earlier: Observation, *, happened: bool) -> Observation:
    """The observation of an unknown call that a person closed with evidence."""
    if happened:
        return earlier.changed(
            {
                "status": Status.OK,
                "error": None,
                "hint": "",
                "user_text": f"This is done, as {person} has established.",
            }
        )
    if earlier.items:  # what was tried last did not happen; what was done before it stays done
        items = tuple(replace(each, state=_NOT_DONE.get(each.state, each.state)) for each in earlier.items)
        says = f"What was open of this was not done, as {person} has established."
        stands = {"status": Status.PARTIAL, "error": None, "items": items, "open_items": open_names(items)}
        return earlier.changed({**stands, "hint": "", "user_text": says})
    problem = Problem(Code.CANCELLED, f"It did not happen, as {person} has established.")
    return earlier.changed(
        {
            "status": Status.FAILED,
            "error": problem,
            "executed_at_us": None,
            "hint": "Propose it again if it is still wanted.",
            "user_text": "This was not done.",
        }
    )
