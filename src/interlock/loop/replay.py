"""Decides a recorded run anew, under today's policies and tools or under others, and shows what would be different.

Nothing is executed and nothing is counted: each call that the model proposed then is frozen and judged again, with what
the run had read by then, and compared with what became of it. What was asked of people, budgets and keys say nothing of
policy and are left out. Resolvers and fact sources are asked, as of today.
"""

from __future__ import annotations

from collections.abc import AsyncIterable, Container, Iterable
from dataclasses import dataclass, replace
from enum import StrEnum

from interlock.core.call import Caller, ToolCall
from interlock.core.decision import Deny, propose, request_of
from interlock.core.labels import NO_LABELS
from interlock.core.observation import Observation, Status
from interlock.core.policy import Answer, PolicySource, Visibility
from interlock.core.refusals import Code
from interlock.core.run import RunFacts
from interlock.core.view import View
from interlock.loop.agent import Agent
from interlock.loop.entries import Entry, Observed
from interlock.loop.hand_off import HAND_OFF, is_tool_of
from interlock.loop.offer import Planned, Role, Today, offer, planned
from interlock.loop.reach import Reach, caller_for
from interlock.loop.view import Round, RunView
from interlock.models.dialects import Dialect
from interlock.runtime.look import Asked, Looker

POLICY = frozenset({Code.PERMISSION_DENIED, Code.TOOL_NOT_ALLOWED})
BEFORE_POLICY = frozenset(
    {Code.INVALID_JSON, Code.TOOL_NOT_FOUND, Code.TOOL_ARGUMENT_INVALID, Code.CONTEXT_MISSING}
    | {Code.TOOL_FROZEN, Code.TOOL_RETIRED, Code.TOOL_QUARANTINED}
)


class Against(StrEnum):
    """Which versions of tools a replay decides by: those that the run was bound to, or those of today."""

    BOUND = "bound"
    TODAY = "today"


@dataclass(frozen=True, slots=True)
class Redecided:
    """One call of a recorded run: what was decided then and what would be now, each `allow`, `ask` or a code.

    `because` are ids of the policies that decide now, or what is wrong with the call.
    """

    call_id: str
    turn: int
    position: int
    tool: str
    then: str
    now: str
    because: tuple[str, ...] = ()

    @property
    def differs(self) -> bool:
        """Whether it would be decided otherwise."""
        return self.then != self.now


class Replay:
    """Decides the calls of one run anew. `policies` are put in place of those of the tenants that they name."""

    def __init__(self, reach: Reach, looker: Looker, *, against: Against = Against.BOUND) -> None:
        self._reach = reach
        self._looker = looker
        self._against = against

    async def view(self, policies: Iterable[PolicySource] | None) -> View:
        """Today's view, or the one that there would be under these policies. Raises `PolicyInvalid`."""
        today = await self._reach.views.latest()
        if policies is None:
            return today
        return replace(today, policies=self._reach.views.compile(await self._reach.views.sources(tuple(policies))))

    async def calls(self, run: RunView, entries: AsyncIterable[Entry], *, under: View) -> tuple[Redecided, ...]:
        """Every call of the run, in the order in which it ended first. `run` is empty, and takes the entries in."""
        found: dict[tuple[int, int], Redecided] = {}
        labels, called = NO_LABELS, frozenset[str]()
        async for entry in entries:
            run.apply(entry)
            body = entry.body
            if not isinstance(body, Observed):
                continue
            place = (run.round.number, body.position)
            if place not in found:
                facts = RunFacts(run.id, labels=labels, tools=called)
                found[place] = await self._again(run, body, facts, under=under)
            called |= {body.seen.tool}
            labels = labels if body.seen.labels is None else labels.join(body.seen.labels)
        return tuple(found.values())

    async def _again(self, run: RunView, observed: Observed, facts: RunFacts, *, under: View) -> Redecided:
        principal = await self._reach.today(run.begun) or run.begun.principal
        found: Round = run.round
        caller = caller_for(run, principal, turn=found.number, model=found.responded.model)
        role = Role(run.agent, run.agents, Dialect(found.responded.dialect), run.offered(found.number))
        today = Today(self._reach.health, self._reach.world.clock.now_us())
        offered = offer(under, caller, run.begun.bound, role=role, today=today)
        proposed = next(each for each in found.calls if each.position == observed.position)
        plan: Planned = planned(proposed, call_id=observed.seen.call_id, offered=offered)
        seen, then = observed.seen, then_of(observed.seen)
        bound = {each.name: each.digest for each in run.begun.bound if each.agent in ("", run.agent.name)}
        because: tuple[str, ...]
        if plan.deny is not None and not _has(run.agent, plan.call.name, bound):
            now, because = Code.PERMISSION_DENIED.value, (plan.deny.message,)
        else:
            pin = bound.get(plan.call.name) if self._against is Against.BOUND else None
            now, because = await self._judged(plan.call, caller.pinned(pin), facts, under=under)
        if (then, now) == (Code.TOOL_NOT_FOUND, Code.PERMISSION_DENIED):
            tool = under.catalogue.find(run.tenant, plan.call.name)
            now = then if under.visibility(tool, caller) is Visibility.NEVER else now
        return Redecided(seen.call_id, found.number, observed.position, seen.tool, then, now, because)

    async def _judged(
        self, call: ToolCall, caller: Caller, facts: RunFacts, *, under: View
    ) -> tuple[str, tuple[str, ...]]:
        operation = propose(call, caller, under.catalogue)
        if isinstance(operation, Deny):
            return operation.code.value, (operation.message,)
        known = replace(await self._looker.facts(operation, under, Asked(counted=True)), run=facts)
        verdict = known.slice.decide(request_of(operation, known))
        denied = verdict.answer is Answer.DENY
        return Code.PERMISSION_DENIED.value if denied else verdict.answer.value, verdict.policies


def _has(agent: Agent, name: str, bound: Container[str]) -> bool:
    """Whether the agent may call the tool in this run, as far as that is the agent's and the run's own affair."""
    return is_tool_of(agent, name) and (name == HAND_OFF or name in bound)


def then_of(seen: Observation) -> str:
    """What was decided of a call by what came of it: policy's word, or what was wrong with the call."""
    code = None if seen.error is None else seen.error.code
    if code in POLICY:
        return Code.PERMISSION_DENIED.value
    if code in BEFORE_POLICY:
        return str(code)
    return "ask" if seen.status is Status.WAITING or seen.approval_id else "allow"
