"""Looks up everything that one decision needs to know: the store's part in one read, the world's part under a timeout.

Whatever does not arrive is missing, and a policy that reads a missing fact denies; nothing here ever allows.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from dataclasses import replace

from interlock.core.approval import Approval
from interlock.core.budget import ScopeKind, Taken
from interlock.core.cache import counted_effects, scopes_read_by
from interlock.core.canonical import Json
from interlock.core.facts import Facts
from interlock.core.frozen import frozen
from interlock.core.limits import LimitTable
from interlock.core.operation import Operation
from interlock.core.policy import PolicySlice
from interlock.core.redaction import Redactor
from interlock.core.resource import Resource
from interlock.core.run import NO_RUN, RunFacts
from interlock.core.view import View
from interlock.ports import Look
from interlock.runtime.faults import report
from interlock.runtime.proposal import Proposal
from interlock.runtime.world import World
from interlock.settings import Settings

log = logging.getLogger("interlock.look")


NOTHING_OUTSIDE: Mapping[str, Json] = {}

WARNED_MAX = 4_096
"""How many slices are remembered as warned of, before all may be warned of again."""


@frozen
class Asked:
    """What the walk knows of a proposal beside its operation: its grant, whether it was counted, whether time is up.

    `may_guess`: who asks will look once more before it does anything but claim.
    """

    grant: Approval | None = None
    counted: bool = False
    overdue: bool = False
    may_guess: bool = False


_FIRST = Asked(may_guess=True)
"""What is known of most: asked for the first time, and in time."""


def asked(proposal: Proposal, *, now_s: float) -> Asked:
    """What the walk knows of this proposal."""
    overdue = now_s >= proposal.deadline_s
    if proposal.stored is None and not overdue and not proposal.surely:
        return _FIRST
    return Asked(proposal.grant, proposal.stored is not None, overdue)


class Looker:
    """Gathers facts. Owned by the gate."""

    def __init__(self, world: World, settings: Settings, *, redactor: Redactor) -> None:
        self._calls = world.calls
        self._clock = world.clock
        self._facts = world.facts
        self._runners = world.runners
        self._redactor = redactor
        self._settings = settings
        self.limits = LimitTable.of(settings.limits)
        self._warned: set[str] = set()
        self._per_operation = any(limit.scope is ScopeKind.OPERATION for limit in settings.limits.limits)

    async def facts(self, operation: Operation, view: View, asked: Asked) -> Facts:
        """The facts as of now."""
        caller, spec = operation.caller, operation.tool.spec
        tenant, cache, now_us = caller.principal.tenant, spec.cache, self._clock.now_us()
        digest = operation.digest if self._per_operation else ""
        reservations = self.limits.reservations(caller, spec, digest=digest, now_us=now_us, counted=asked.counted)
        if view.cached and spec.effect.is_effect:
            reservations = Taken.of((*reservations, *counted_effects(operation, view.cached)))
        scopes = reservations.scopes if cache is None else (*reservations.scopes, *scopes_read_by(operation))
        may_guess = asked.may_guess and cache is None  # what is given again claims nothing
        seen = await self._calls.look(Look(tenant, operation.key, caller.run, scopes, now_us, may_guess))
        policy = view.policies.slice(spec, tenant)
        if policy.reads_run and caller.run is None and policy.digest not in self._warned:
            self._warn_of(policy)
        rule = spec.resource
        run = seen.run or (NO_RUN if caller.run is None else RunFacts(caller.run))
        resource = await self._resolved(operation) if rule is not None and rule.resolved else operation.resource
        outside = await self.outside(operation, policy) if policy.facts else NOTHING_OUTSIDE
        return Facts(  # by position, as every call comes by: names take half as long as what is made
            now_us,
            policy,
            self._settings.environment,
            run,
            seen.prior,
            resource,
            outside,
            reservations,
            seen.usage if cache is None else seen.usage[: len(reservations)],
            asked.grant,
            now_us if asked.overdue else None,
            view.epoch,
            () if cache is None else seen.usage[len(reservations) :],
            seen.guessed,
        )

    async def surely(self, operation: Operation, facts: Facts) -> Facts:
        """The same with what the store knows by now, its prior call among it: nothing of that is guessed."""
        caller, taken = operation.caller, Taken.of(facts.reservations)
        look = Look(caller.principal.tenant, operation.key, caller.run, taken.scopes, facts.as_of_us)
        seen = await self._calls.look(look)
        return replace(facts, prior=seen.prior, run=seen.run or facts.run, usage=seen.usage, guessed=False)

    def _warn_of(self, policy: PolicySlice) -> None:
        """Say once that a rule about what was read before cannot hold for calls that belong to no run."""
        if len(self._warned) >= WARNED_MAX:
            self._warned.clear()
        self._warned.add(policy.digest)
        log.warning(
            "policies about %s read context.run, and it was called without a run: what was read before is not known to "
            "them; give run= with every call of one piece of work",
            self._redactor.text(policy.spec.name),
        )

    async def _resolved(self, operation: Operation) -> Resource | None:
        """The resource with what its resolver knows; without attributes where the resolver fails."""
        runner = self._runners[operation.spec.handler.kind]
        try:
            async with asyncio.timeout(self._settings.facts_timeout_ms / 1000):
                return await runner.resolve(operation) or operation.resource
        except Exception as fault:  # noqa: BLE001 - a host's resolver may raise anything; without attributes, what reads them denies
            report(log, f"the resolver of {operation.spec.name} failed", fault=fault, redactor=self._redactor)
            return operation.resource

    async def outside(self, operation: Operation, policy: PolicySlice) -> Mapping[str, Json]:
        """The facts of outside sources that these policies read, as far as they arrive in time."""
        if self._facts is None:
            return {}
        try:
            async with asyncio.timeout(self._settings.facts_timeout_ms / 1000):
                return await self._facts.fetch(policy.facts, operation)
        except Exception as fault:  # noqa: BLE001 - a host's fact source may raise anything; a fact that is missing denies
            report(log, f"facts for {operation.spec.name} did not arrive", fault=fault, redactor=self._redactor)
            return {}
