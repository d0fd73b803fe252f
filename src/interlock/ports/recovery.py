"""Calls that did not end by themselves: found, taken over, looked up, closed; and how long a claim is held."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol, runtime_checkable

from interlock.core.budget import ScopeKey
from interlock.core.chain import Receipt
from interlock.core.effect import CallState
from interlock.core.frozen import frozen
from interlock.core.journal import Event
from interlock.core.recovery import NO_LOOKS, Closing, Looks
from interlock.ports.calls import Claim, StoredOperation


@frozen
class OpenCall:
    """A call as recovery finds it. `orphaned`: nobody is at work on it, be it that its worker is gone or has ended.

    `taken_over`: whoever claimed it first has lost it since. `looks` is filled by `LookUps.due`. `arguments` are filled
    where it is shown to people: JSON with every secret masked, in the place of what is sealed.
    """

    operation: StoredOperation
    state: CallState
    fence: int
    claimed_at_us: int
    orphaned: bool
    taken_over: bool
    observation: bytes | None = None
    looks: Looks = NO_LOOKS
    arguments: bytes | None = None


class Recovery(Protocol):
    """Calls whose worker died, or whose outcome is unknown. Owned by `runtime.recovery`."""

    async def open_calls(self, tenant: str | None = None) -> tuple[OpenCall, ...]:
        """Every claimed or unknown call, oldest first."""

    async def take_over(self, found: OpenCall, event: Event) -> Claim | None:
        """Claim an orphaned or unknown call under a new fence, hold kept. None: another was faster."""

    async def find(self, tenant: str, operation_id: str) -> OpenCall | None:
        """One claimed, unknown or settled call; sees every write that was handed over before.

        Of a read that was held in memory until it ended a store may keep nothing but its record: None then.
        """

    async def work_ended(self, claim: Claim, event: Event) -> Receipt:
        """Record what came, too late to be used, of work that went on; from now on nobody is at it under this claim."""


@frozen
class Due:
    """Calls that something is to be done about, and how many are unknown altogether, due or not."""

    calls: tuple[OpenCall, ...]
    unknown: int


class LookUps(Protocol):
    """How often unknown calls were looked up. Owned by `runtime.recovery`. A new fence begins to count anew."""

    async def due(self, at_us: int, limit: int) -> Due:
        """At most so many orphaned calls: those claimed, then those unknown whose time has come, each oldest first."""

    async def looks(self, tenant: str | None = None) -> Mapping[tuple[str, str], Looks]:
        """Of every unknown call that was looked up or escalated, by tenant and operation id."""

    async def note_looks(self, call: OpenCall, looks: Looks, event: Event) -> Receipt | None:
        """Count a look-up before it is made, or give up. None: the call or its `looks` are not as `call` has them."""


class Closings(Protocol):
    """What one person proposes of an unknown call, for another to confirm. Owned by `runtime.recovery`.

    A proposal is about the call as it was found: under a new fence there is none.
    """

    async def closings(self, tenant: str) -> Mapping[str, Closing]:
        """What is proposed of a tenant's unknown calls, by operation id."""

    async def propose_closing(self, call: OpenCall, closing: Closing, event: Event) -> Receipt | None:
        """Propose one, in place of any before it. None: the call is not unknown any more, or under another fence."""


@runtime_checkable
class Lease(Protocol):
    """How long a claim is this process's own, where that ends by the clock and not with the process alone.

    By a monotonic clock, counted from before the request that renewed it. Owned by `runtime.execute`.
    """

    def remaining_s(self, claim: Claim) -> float:
        """So long nobody takes the claim over; zero or less where that may have happened."""

    async def renew(self, claim: Claim, seconds: float) -> bool:
        """Have it last so long at least; False where it is lost, or cannot be renewed now."""


@runtime_checkable
class Wakes(Protocol):
    """Says what other processes let go of. It only spares time: a word may be lost, and who waits looks anyway."""

    def wake_with(self, wake: Callable[[ScopeKey], None]) -> None:
        """Have `wake` called on this event loop with every limited scope of which another process lets go."""
