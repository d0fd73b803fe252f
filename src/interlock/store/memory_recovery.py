"""The part of the store in memory that is about calls which did not end by themselves."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from interlock.core.budget import Reservation
from interlock.core.chain import Receipt
from interlock.core.effect import CallState
from interlock.core.frozen import slotted
from interlock.core.journal import Event
from interlock.core.labels import NO_LABELS, Labels
from interlock.core.recovery import NO_LOOKS, Closing, Looks
from interlock.ports import Claim, Due, OpenCall, StoredOperation
from interlock.store.memory_chain import MemoryChain
from interlock.store.rules import FIRST_FENCE, is_unknown_still, may_look_up, may_take_over

Key = tuple[str, str]
"""Tenant, and what is unique within it."""


@slotted
class Call:
    """One claimed call, as a row would hold it."""

    operation: StoredOperation
    at_us: int
    until_us: int
    holds: tuple[Reservation, ...]
    fence: int = FIRST_FENCE
    state: CallState = CallState.CLAIMED
    observation: bytes | None = None
    labels: Labels = NO_LABELS
    settled_us: int | None = None
    at_work: bool = True


class MemoryRecovery:
    """Finds calls, takes them over, counts their look-ups. `MemoryStore` is one."""

    def __init__(self, *, chain: str) -> None:
        self._chain = MemoryChain(chain)
        self._calls: dict[Key, Call] = {}
        self._open: dict[Key, Call] = {}
        self._looks: dict[Key, tuple[int, Looks]] = {}
        self._closings: dict[Key, tuple[int, Closing]] = {}

    async def open_calls(self, tenant: str | None = None) -> tuple[OpenCall, ...]:
        """Every claimed or unknown call, oldest first."""
        return tuple(map(open_call, self._oldest_first(tenant)))

    async def find(self, tenant: str, operation_id: str) -> OpenCall | None:
        """One claimed, unknown or settled call."""
        place = (tenant, operation_id)
        call = self._calls.get(place) or self._open.get(place)
        return None if call is None else open_call(call)

    async def take_over(self, found: OpenCall, event: Event) -> Claim | None:
        """Claim an orphaned or unknown call under a new fence, hold kept. None: another was faster."""
        call = self._open.get((found.operation.tenant, found.operation.id))
        if call is None or not may_take_over(found, state=call.state, fence=call.fence, at_work=call.at_work):
            return None
        self._chain.append(event)
        self._keep(call)
        return self._take_again(call)

    async def work_ended(self, claim: Claim, event: Event) -> Receipt:
        """Record what came late of work that went on; nobody is at it any more."""
        call = self._open.get((claim.tenant, claim.operation_id))
        if call is not None and (call.state, call.fence) == (CallState.UNKNOWN, claim.fence):
            call.at_work = False
        return self._chain.append(event)

    async def due(self, at_us: int, limit: int) -> Due:
        """At most so many orphaned calls: those claimed, then those unknown whose time has come, each oldest first."""
        found = [replace(open_call(call), looks=self._looks_of(call)) for call in self._oldest_first(None)]
        unknown = sum(each.state is CallState.UNKNOWN for each in found)
        due = [
            each for each in found if each.orphaned and (each.state is CallState.CLAIMED or each.looks.next_us <= at_us)
        ]
        due.sort(key=lambda each: each.state is CallState.UNKNOWN)
        return Due(tuple(due[:limit]), unknown)

    async def looks(self, tenant: str | None = None) -> Mapping[Key, Looks]:
        """Of every unknown call that was looked up or escalated, by tenant and operation id."""
        found = {
            (call.operation.tenant, call.operation.id): self._looks_of(call) for call in self._oldest_first(tenant)
        }
        return {place: looks for place, looks in found.items() if looks != NO_LOOKS}

    async def note_looks(self, call: OpenCall, looks: Looks, event: Event) -> Receipt | None:
        """Count a look-up before it is made, or give up. None: it is not as `call` has it."""
        place = (call.operation.tenant, call.operation.id)
        held = self._open.get(place)
        if held is None or not may_look_up(
            call, state=held.state, fence=held.fence, at_work=held.at_work, looks=self._looks_of(held)
        ):
            return None
        self._looks[place] = (held.fence, looks)
        return self._chain.append(event)

    async def closings(self, tenant: str) -> Mapping[str, Closing]:
        """What is proposed of a tenant's unknown calls, by operation id."""
        unknown = [call for call in self._oldest_first(tenant) if call.state is CallState.UNKNOWN]
        proposed = [(call, self._closings.get((tenant, call.operation.id))) for call in unknown]
        return {call.operation.id: each[1] for call, each in proposed if each is not None and each[0] == call.fence}

    async def propose_closing(self, call: OpenCall, closing: Closing, event: Event) -> Receipt | None:
        """Propose one, in place of any before it. None: it is not unknown any more, or under another fence."""
        place = (call.operation.tenant, call.operation.id)
        held = self._open.get(place)
        if held is None or not is_unknown_still(call, state=held.state, fence=held.fence):
            return None
        self._closings[place] = (call.fence, closing)
        return self._chain.append(event)

    def abandon(self) -> None:
        """As if the process that runs the claimed calls had died: for tests and simulations of recovery."""
        for call in self._open.values():
            call.at_work = False

    def _oldest_first(self, tenant: str | None) -> list[Call]:
        found = [call for call in self._open.values() if tenant in (None, call.operation.tenant)]
        return sorted(found, key=lambda call: call.at_us)

    def _looks_of(self, call: Call) -> Looks:
        fence, looks = self._looks.get((call.operation.tenant, call.operation.id), (0, NO_LOOKS))
        return looks if fence == call.fence and call.state is CallState.UNKNOWN else NO_LOOKS

    def _keep(self, call: Call) -> None:
        """It is found by people and later looks, also once it has ended."""
        self._calls[call.operation.tenant, call.operation.id] = call

    def _take_again(self, call: Call) -> Claim:
        call.fence += 1
        call.state = CallState.CLAIMED
        call.at_work = True
        return Claim(call.operation.id, call.operation.tenant, call.fence)


def open_call(call: Call) -> OpenCall:
    """The call as recovery finds it."""
    orphaned = not call.state.is_final and not call.at_work
    return OpenCall(
        call.operation, call.state, call.fence, call.at_us, orphaned, call.fence != FIRST_FENCE, call.observation
    )
