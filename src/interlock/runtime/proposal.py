"""What the walk of a call carries from step to step: the proposal, the claimed call, and what a look-up found out."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from enum import Enum
from typing import Protocol

from interlock.core.approval import Approval
from interlock.core.budget import Amounts, Reservation
from interlock.core.call import Caller, ToolCall
from interlock.core.catalogue import Catalogue
from interlock.core.decision import Allow, Deny
from interlock.core.frozen import frozen, slotted
from interlock.core.observation import Observation
from interlock.core.operation import Operation
from interlock.core.outcome import Outcome
from interlock.ports import Claim, NotMoved, RunClaim, RunMove
from interlock.runtime.records import Proposed

LookAgain = Callable[[Claim, Outcome], Coroutine[object, object, None]]
"""Finds out about a call, given what came of it too late."""


class Again(Enum):
    """Why to look again: something CHANGED under the decision, it was GUESSED in part, or it WAITED for another."""

    CHANGED = 1
    WAITED = 2
    GUESSED = 3


class Note(Protocol):
    """What a driver of runs has written of a call, in the transaction that ends it. Belongs to one proposal."""

    claim: RunClaim

    def takes(self, seen: Observation) -> bool:
        """Whether that is what came of the call: not where the run will propose it again."""

    def move(self, seen: Observation) -> RunMove:
        """The step of the run, given what came of the call; pure, and asked again where a transaction is repeated."""

    def moved(self, moved: int | NotMoved | None) -> None:
        """What became of it, as `Runs.settle_in_run` has it. Not told: nothing of it was tried."""


@frozen
class Proposal:
    """One proposal on its way: how its operation comes to be, and until when it may be started.

    `deadline_s` is on the event loop's clock. `grant` and `stored` are those of a resumed approval and its operation;
    `replaces` is the approval of whose operation an approver edited this one, with that approver among its requesters.
    `note` is written where the call is settled, or its refusal or repeat recorded.
    `surely`: this is not its first look, so nothing may be guessed.
    """

    call: ToolCall
    caller: Caller
    operation: Callable[[Catalogue], Operation | Deny]
    deadline_s: float
    grant: Approval | None = None
    stored: str | None = None
    replaces: Approval | None = None
    note: Note | None = None
    surely: bool = False


NOT_TAKEN = Claim("", "", 0)
"""In the place of a claim until it is taken; no store knows it."""


@slotted
class Claimed:
    """A call that may run, once: what was decided, the claim that proves it, and what that takes of budgets.

    `told` is what its records say of its proposal; None: its only record is the one of its end, and is all made then.
    """

    operation_id: str
    operation: Operation
    allow: Allow
    told: Proposed | None
    started_s: float
    deadline_s: float
    taken: tuple[Reservation, ...]
    claim: Claim = NOT_TAKEN
    note: Note | None = None


@frozen
class Found:
    """What a look-up found out about a call whose outcome was lost; `kept` is the observation as it is stored."""

    outcome: Outcome
    observation: Observation
    kept: bytes
    spent: Amounts
