"""Questions to people, with the operations that wait for their answers."""

from __future__ import annotations

from typing import Protocol

from interlock.core.approval import Approval, ApprovalState
from interlock.core.budget import Reservation
from interlock.core.chain import Receipt
from interlock.core.frozen import frozen
from interlock.core.journal import Event
from interlock.ports.calls import StoredOperation


@frozen
class Asking:
    """A question to people, with the frozen operation that will run. Charges count the proposal."""

    approval: Approval
    operation: StoredOperation
    event: Event
    charges: tuple[Reservation, ...] = ()


@frozen
class ApprovalChange:
    """A guarded step of one approval: nothing is written unless it is still in `expected` at its state and votes."""

    expected: Approval
    changed: Approval
    event: Event


class Approvals(Protocol):
    """Approvals and the operations they hold. Owned by `runtime.approvals`."""

    async def ask(self, asking: Asking) -> tuple[Approval, Receipt | None]:
        """Store the question, or give back the identical one (same key and binding) that is pending or granted.

        A grant is one that is unused, and enough for what is required now. Without a receipt nothing was written:
        neither the event, which names the approval that would have been, nor the charges.
        """

    async def approval(self, tenant: str, approval_id: str) -> tuple[Approval, StoredOperation] | None:
        """One approval with its operation."""

    async def approvals(self, tenant: str | None, state: ApprovalState | None = None) -> tuple[Approval, ...]:
        """All of a tenant, or of every tenant, oldest first."""

    async def change(self, change: ApprovalChange) -> Receipt | None:
        """Vote, withdraw, expire or void. None: it has changed meanwhile. A denial joins the run's `denied`."""
