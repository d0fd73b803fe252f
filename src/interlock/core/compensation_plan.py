"""A plan that undoes effects, one step each, the last effect first; where it stands follows from its steps.

    pending ──> compensated | nothing_to_undo          the next step begins
       │  └───> waiting ──> (any of the others)        for an approval, or until it is known what is to be undone
       └──────> failed | unknown ──> pending           only a person has it tried again
    irreversible                                       no tool undoes it: said at once, and passed over

A step begins only when those before it have ended well: what was done later may rest on what was done earlier.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from enum import StrEnum

from interlock.core.call import Principal
from interlock.core.canonical import decode, stored_json
from interlock.core.errors import StoreError
from interlock.core.frozen import frozen
from interlock.core.observation import Observation, Status
from interlock.core.tool import spec_to_json
from interlock.core.typed import from_json


class UndoState(StrEnum):
    """Where one step stands."""

    PENDING = "pending"
    WAITING = "waiting"
    COMPENSATED = "compensated"
    NOTHING_TO_UNDO = "nothing_to_undo"
    IRREVERSIBLE = "irreversible"
    FAILED = "failed"
    UNKNOWN = "unknown"

    @property
    def is_passed(self) -> bool:
        """Whether the plan goes on behind it."""
        return self in (
            UndoState.COMPENSATED,
            UndoState.NOTHING_TO_UNDO,
            UndoState.IRREVERSIBLE,
        )


_ENDS = frozenset(UndoState) - {UndoState.PENDING, UndoState.IRREVERSIBLE}
STEPS: Mapping[UndoState, frozenset[UndoState]] = {
    UndoState.PENDING: _ENDS,
    UndoState.WAITING: _ENDS | {UndoState.PENDING},
    UndoState.FAILED: frozenset({UndoState.PENDING}),
    UndoState.UNKNOWN: frozenset({UndoState.PENDING}),
    UndoState.COMPENSATED: frozenset(),
    UndoState.NOTHING_TO_UNDO: frozenset(),
    UndoState.IRREVERSIBLE: frozenset(),
}
"""Where a step may go from where it stands."""


class CompensationState(StrEnum):
    """Where a plan stands. FAILED: it stopped at a step that failed, or of which nobody knows whether it happened."""

    RUNNING = "running"
    WAITING = "waiting"
    COMPENSATED = "compensated"
    FAILED = "compensation_failed"


_STANDS: Mapping[UndoState, CompensationState] = {
    UndoState.PENDING: CompensationState.RUNNING,
    UndoState.WAITING: CompensationState.WAITING,
    UndoState.FAILED: CompensationState.FAILED,
    UndoState.UNKNOWN: CompensationState.FAILED,
}


@frozen
class CompensationStep:
    """One effect to be undone. `operation_id`, `tool` and `version` are its own, `compensate` the tool that undoes it.

    `undone_by` is the operation of the compensating call, `approval_id` what it waits for; `attempt` goes into its key:
    a compensating call that ran and failed for certain raises it, so that only then trying again is a new call.
    `open_items` of a compensation
    that was done in part are all that the next attempt undoes.
    """

    operation_id: str
    tool: str
    version: str
    compensate: str = ""
    state: UndoState = UndoState.PENDING
    attempt: int = 1
    undone_by: str | None = None
    approval_id: str | None = None
    says: str = ""
    open_items: tuple[str, ...] = ()

    def moved(self, state: UndoState, **changes: object) -> CompensationStep:
        """The step in another state. Raises `ValueError` where it may not go there."""
        if state not in STEPS[self.state]:
            raise ValueError(f"a step that is {self.state} does not become {state}")
        return replace(self, state=state, **changes)  # type: ignore[arg-type]

    def again(self) -> CompensationStep:
        """To be tried again."""
        return self.moved(UndoState.PENDING, approval_id=None, says="")


@frozen
class CompensationPlan:
    """What undoes the effects of a run, a task, or some operations, in the name of who asked for it and why.

    `steps` come in the order in which they are undone; `version` counts its changes.
    """

    id: str
    tenant: str
    by: Principal
    reason: str
    started_us: int
    steps: tuple[CompensationStep, ...]
    run: str | None = None
    task: str | None = None
    version: int = 1

    @property
    def at(self) -> int | None:
        """The index of the step it stands at; None: it is through."""
        return next((index for index, step in enumerate(self.steps) if not step.state.is_passed), None)

    @property
    def state(self) -> CompensationState:
        """Where it stands."""
        index = self.at
        return CompensationState.COMPENSATED if index is None else _STANDS[self.steps[index].state]

    @property
    def irreversible(self) -> tuple[CompensationStep, ...]:
        """What it cannot undo."""
        return tuple(step for step in self.steps if step.state is UndoState.IRREVERSIBLE)

    def with_step(self, index: int, step: CompensationStep) -> CompensationPlan:
        """The same, changed, with another step in that place."""
        steps = (*self.steps[:index], step, *self.steps[index + 1 :])
        return replace(self, steps=steps, version=self.version + 1)


def plan_to_bytes(plan: CompensationPlan) -> bytes:
    """What a store keeps of a plan."""
    return stored_json(spec_to_json(plan))


def plan_from_bytes(data: bytes) -> CompensationPlan:
    """The plan that `plan_to_bytes` wrote. Raises `StoreError` where the bytes are none."""
    try:
        return from_json(CompensationPlan, decode(data))
    except ValueError as broken:
        raise StoreError("a stored plan of compensations cannot be read") from broken


_SAID: Mapping[Status, tuple[str, str]] = {
    Status.COMPENSATING: ("It is being undone: do not build on it.", "This was done, and is being undone."),
    Status.COMPENSATED: (
        "It was undone. If it is wanted again, propose it for another task or under another key.",
        "This was done, and has been undone.",
    ),
    Status.COMPENSATION_FAILED: (
        "It was done, and undoing it did not work: leave it to the people who look into it.",
        "This was done; undoing it did not work, and people are looking into it.",
    ),
}


def restated(seen: Observation, status: Status) -> Observation:
    """The observation of an effect that is being undone, was undone, or could not be; its result stays with it."""
    hint, user_text = _SAID[status]
    return seen.changed({"status": status, "hint": hint, "user_text": user_text})
