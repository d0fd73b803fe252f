"""Runs examples, each against a gate of its own: a store in memory, a clock that is moved, and no world behind it.

Tools and policies are the project's. What stands behind the tools is what the example says (`runners.stand_in`), and
credentials are made up, so nothing of the project's store, network or secrets is touched.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime
from typing import Final

from interlock.assemble import Gate, Host
from interlock.core.approval import Approval, ApprovalState
from interlock.core.call import Caller, Origin, Principal, ToolCall
from interlock.core.canonical import Json
from interlock.core.compensation_plan import CompensationState
from interlock.core.decision import Deny
from interlock.core.example import ExampleHealth, ExampleKind, ToolExample
from interlock.core.example_check import Came, differences
from interlock.core.example_results import Passing, Rehearsed
from interlock.core.example_stale import stale, unreviewed
from interlock.core.functions import Declaration
from interlock.core.observation import Observation, Status
from interlock.core.operation import Operation
from interlock.core.policy import PolicySource
from interlock.core.redaction import Redactor
from interlock.core.tool import SHARED, ToolSpec
from interlock.runners.by_kind import RunnersByKind
from interlock.runners.python import PythonRunner
from interlock.runners.stand_in import KINDS, StandIn
from interlock.runtime.health import HealthState
from interlock.settings import Drives, Gates, Publish, Settings
from interlock.testing.fakes import START_US, FakeClock, SeededEntropy

MEMORY: Final = ":memory:"
APPROVERS_MAX: Final = 16
"""How many people at most are made up to approve one call."""


@dataclass(frozen=True, slots=True)
class Stage:
    """What examples run with: a project's tools, policies and settings, and functions that stand in by their names."""

    tools: tuple[Declaration, ...]
    policies: tuple[PolicySource, ...] = ()
    settings: Settings = field(default_factory=Settings)
    fixtures: Mapping[str, Callable[..., object]] = field(default_factory=dict)

    def spec(self, name: str) -> ToolSpec | None:
        """The version of a name that is called by default: the one declared last."""
        found = [spec for spec in (tool.spec() for tool in self.tools) if spec.name == name]
        return found[-1] if found else None


async def rehearse(example: ToolExample, stage: Stage, *, today: date) -> Rehearsed:
    """Run one example. Raises only for faults of the project: tools or policies with which no gate opens."""
    spec = stage.spec(example.tool)
    if spec is None:
        return Rehearsed(example, Passing.FAILED, f"there is no tool {example.tool}")
    why = stale(example, spec, today=today)
    if why:
        return Rehearsed(example, Passing.STALE, why)
    why = unreviewed(example, spec)
    if why:
        return Rehearsed(example, Passing.UNREVIEWED, why)
    why = _forbidden(example, spec, stage)
    if why:
        return Rehearsed(example, Passing.REFUSED, why)
    return await _played(example, stage)


def _forbidden(example: ToolExample, spec: ToolSpec, stage: Stage) -> str:
    """Why an example must not run as it is."""
    world = example.world
    if world.real and (spec.handler.kind != "python" or spec.effect.is_effect):
        return f"{spec.name} is no read of a Python function, so it cannot be real: say under world what it answers"
    if world.fixture and world.fixture not in stage.fixtures:
        return f"its fixture {world.fixture} is not there"
    return ""


async def _played(example: ToolExample, stage: Stage) -> Rehearsed:
    clock = FakeClock(_moment_us(example.world.now))
    fixtures = {example.tool: stage.fixtures[example.world.fixture]} if example.world.fixture else {}
    stand_in = StandIn(example, clock, fixtures=fixtures, real=PythonRunner(redactor=Redactor(stage.settings.secrets)))
    async with _opened(example, stage, stand_in, clock=clock) as gate:
        came = await _Play(example, gate, stage.settings.tenant).came()
    came = replace(came, effects=stand_in.played.effects)
    unsaid = stand_in.played.unsaid
    if unsaid:
        says = f"the call came to {unsaid[0]}, and the example does not say what it answers: give it a world"
        return Rehearsed(example, Passing.FAILED, says)
    found = differences(example, came)
    return Rehearsed(example, Passing.FAILED if found else Passing.PASSED, _why(came, found), found)


def _why(came: Came, found: object) -> str:
    error = came.seen.error
    return f"{error.code.value}: {error.message}" if found and error is not None else ""


def _opened(
    example: ToolExample, stage: Stage, stand_in: StandIn, *, clock: FakeClock
) -> AbstractAsyncContextManager[Gate]:
    facts = example.world.facts.value
    known = facts if isinstance(facts, dict) else {}
    named = {name for tool in stage.tools for name in tool.spec().facts}
    settings = replace(
        stage.settings,
        publish=Publish.ALL,
        drives=Drives.NONE,
        lifecycle=Gates.OPEN,  # a version is tried before its gates let it serve anybody
        reap_every_s=0,
        runs_every_s=0,
        egress_allow=(),
    )
    host = Host(
        clock=clock,
        entropy=SeededEntropy(example.digest),
        facts=_Facts(known),
        fact_names=frozenset({*known, *named}),
        secrets=_MadeUp(),
        runners=RunnersByKind({kind: lambda: stand_in for kind in KINDS}),
    )
    return Gate.open(MEMORY, tools=stage.tools, policies=stage.policies or None, settings=settings, host=host)


class _Play:
    """One example, acted out."""

    def __init__(self, example: ToolExample, gate: Gate, tenant: str) -> None:
        self._example = example
        self._gate = gate
        self._tenant = tenant
        caller = example.caller
        self._caller = Caller(
            caller.principal(tenant),
            run=caller.run,
            task=caller.task or None,
            key=caller.key,
            origin=Origin(door="example", agent=caller.agent),
            user_requested=caller.user_requested,
        )
        self._roles: tuple[str, ...] | None = None

    async def came(self) -> Came:
        """What came of it."""
        health = self._example.world.health
        if health is not ExampleHealth.HEALTHY:
            self._set_health(HealthState(health.value))
        seen = await self._called()
        if self._example.kind is ExampleKind.REPLAY:
            seen = await self._called()
        elif self._example.kind is ExampleKind.ROLLBACK:
            seen = await self._undone(seen)
        return Came(seen, roles=self._roles or ())

    def _set_health(self, state: HealthState) -> None:
        for tenant in (self._tenant, SHARED):
            self._gate.health.set(tenant, self._example.tool, state=state)

    async def _called(self) -> Observation:
        example = self._example
        arguments = example.arguments.text if example.raw is None else example.raw
        seen = await self._gate.propose(ToolCall("example", example.tool, arguments), self._caller)
        if seen.status is not Status.WAITING or seen.approval_id is None:
            return seen
        approval = await self._gate.approvals.show(seen.approval_id, by=self._caller.principal)
        if approval is None:
            return seen
        if self._roles is None:
            self._roles = tuple(sorted(approval.requirement.roles))
        return await self._approved(approval, seen) if example.approve else seen

    async def _approved(self, approval: Approval, seen: Observation) -> Observation:
        """As many people as it takes approve it, and the first of them has it go on."""
        people = [
            Principal(self._tenant, f"approver-{number}", groups=approval.requirement.roles)
            for number in range(1, APPROVERS_MAX + 1)
        ]
        for each in people:
            found = await self._gate.approvals.approve(approval.id, by=each)
            if isinstance(found, Deny):
                return seen
            if found.state is ApprovalState.GRANTED:
                return await self._gate.approvals.resume(approval.id, by=people[0])
        return seen

    async def _undone(self, seen: Observation) -> Observation:
        """The same call, proposed once more after it was undone: its observation says how it stands by then."""
        if seen.operation_id is None:
            return seen
        operator = Principal(self._tenant, "operator-of-examples", groups=frozenset({"operator"}))
        person = self._caller.principal
        by = operator if person.acts_for_another else person
        desk = self._gate.compensations
        plan = await desk.start(by=by, reason="an example", operations=[seen.operation_id])
        for _ in range(APPROVERS_MAX):
            if isinstance(plan, Deny) or plan.state is not CompensationState.WAITING or not self._example.approve:
                break
            for approval in await self._gate.approvals.list(by=operator, state=ApprovalState.PENDING):
                await self._approved(approval, seen)
            plan = await desk.resume(plan.id, by=by)
        return seen if isinstance(plan, Deny) else await self._called()


@dataclass(frozen=True, slots=True)
class _Facts:
    """The facts that an example says there are."""

    values: Mapping[str, Json]

    async def fetch(self, names: frozenset[str], operation: Operation) -> Mapping[str, Json]:
        """Those of the named that there are."""
        return {name: value for name, value in self.values.items() if name in names}


class _MadeUp:
    """Credentials that open nothing."""

    async def fetch(self, names: tuple[str, ...], principal: Principal) -> Mapping[str, str]:
        """One for each name."""
        return {name: f"made up for examples: {name}" for name in names}


def _moment_us(text: str) -> int:
    if not text:
        return START_US
    moment = datetime.fromisoformat(text)
    return round((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() * 1_000_000)
