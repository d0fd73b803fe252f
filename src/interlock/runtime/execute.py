"""Executes a claimed call: secrets, locks, then the runner's attempts. Nothing else has a runner run anything."""

from __future__ import annotations

import logging
from dataclasses import dataclass

from interlock.core.operation import Operation
from interlock.core.outcome import Outcome
from interlock.core.redaction import Redactor
from interlock.ports import Claim, Invocation
from interlock.runtime.world import World

log = logging.getLogger("interlock.execute")


@dataclass(slots=True)
class Flight:
    """One execution on its way. `dispatched` turns true just before the tool's code may run, and stays so."""

    deadline_s: float
    dispatched: bool = False
    redactor: Redactor | None = None


class Executor:
    """Runs claimed calls. Owns the locks and the health of tools in this process."""

    def __init__(self, world: World, redactor: Redactor) -> None:
        self._world = world
        self._redactor = redactor

    async def execute(self, operation: Operation, claim: Claim, flight: Flight) -> Outcome:
        invocation = Invocation(operation, claim.operation_id, operation.key or "", claim.fence, flight.deadline_s)
        flight.dispatched = True
        return (await self._world.runners[operation.spec.handler.kind].run(invocation)).outcome

    async def look_up(self, operation: Operation, claim: Claim, flight: Flight) -> Outcome | None:
        return None

    async def close(self) -> None:
        pass
