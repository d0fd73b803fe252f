"""How a run begins: what it was asked for, checked and bound, and written down before anything else happens."""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NotRequired, Required, TypedDict

from interlock.core.admission import CALL_ID_CHARS_MAX, admit
from interlock.core.budget import Limits
from interlock.core.call import Caller, Origin, Principal, ToolCall, storable
from interlock.core.choice import is_over, room_for_found
from interlock.core.decision import Deny, propose
from interlock.core.errors import SettingsInvalid
from interlock.core.journal import EventKind
from interlock.core.policy import Visibility
from interlock.core.refusals import Code
from interlock.core.routing import Missing, located
from interlock.core.view import View
from interlock.loop.agent import Agent, by_name
from interlock.loop.entries import Begun, Bound, Check, Entry, written
from interlock.loop.limits import RunLimits
from interlock.loop.machine import Cause, State
from interlock.loop.model import Model
from interlock.loop.options import check_limited, check_options
from interlock.loop.reach import DOOR, Models, Reach
from interlock.loop.view import RunView
from interlock.ports import NewRun, RunClaim
from interlock.runtime.acts import signed_by
from interlock.runtime.finding import listed

log = logging.getLogger("interlock.runs")

CALL_ID_ROOM = 32
"""Characters behind a run's id in the ids of its calls: turn and position."""


class ToolNotFound(SettingsInvalid):
    """A run is to offer a tool that there is not, or that its principal may not see."""


class RunOptions(TypedDict):
    """What a run is started with.

    - `model`: a model, or the name of one that the gate was opened with; a process that takes the run over has to have
      it under the same name.
    - `task`: what the model is asked to do.
    - `principal`: on whose behalf, with whose authority.
    - `agent`: who is at it first; `agents`: to whom the task may be handed.
    - `limits`: what it may use up (`RunLimits`, or `Limits` on the scope `run`).
    - `tools`: names of the tools to be offered; all that policy lets the principal see, where none are named.
    - `task_id`: the business task that keys of effects are made of: the same effect is not made twice under it, by any
      run.
    - `run_id`: its id. A second start under one id gives back the run that there is.
    - `check`: a tool that reads, and says whether the task is done.
    - `trace_id`: the trace that it belongs to.
    - `tools_max`: how many tools are offered at once where there is `find_tools` to search for the others; what was
      named in `tools`, or by the agent, goes first, then what fits the task best.
    """

    model: Required[Model | str]
    task: Required[str]
    principal: Required[Principal]
    agent: NotRequired[Agent | str]
    agents: NotRequired[Iterable[Agent]]
    limits: NotRequired[RunLimits | Limits | None]
    tools: NotRequired[Collection[str] | None]
    task_id: NotRequired[str | None]
    run_id: NotRequired[str | None]
    check: NotRequired[Check | None]
    trace_id: NotRequired[str]
    tools_max: NotRequired[int | None]


class Beginning:
    """Begins runs."""

    def __init__(self, reach: Reach) -> None:
        self._reach = reach

    async def begun(self, options: RunOptions) -> Begun:
        """What a run is to begin with. Raises `SettingsInvalid` or `ModelUnknown`."""
        check_options(options, tuple(RunOptions.__annotations__))
        models, limits, task = self._reach.models, RunLimits.of(options.get("limits")), options["task"]
        agent = options.get("agent", "agent")
        first = Agent(agent) if isinstance(agent, str) else agent
        everybody = tuple({each.name: each for each in (first, *options.get("agents", ()))}.values())
        by_name(everybody)
        words: object = task
        if not isinstance(words, str) or not words.strip():
            raise SettingsInvalid("a run has a task: give task=... in words")
        _check_ids(options)
        given = options["model"]
        name = given if isinstance(given, str) else models.add(given)
        _check_models(models, name, everybody, limits=limits)
        callers = _callers(options, everybody, name)
        bound = await self._bound(options, callers)
        check_limited(limits, bound)
        most = options.get("tools_max") or self._reach.finding.tools_max
        now_us, expires_s = self._reach.world.clock.now_us(), limits.expires_s
        return Begun(
            task=storable(task),
            principal=options["principal"],
            agent=first.name,
            agents=everybody,
            model=name,
            limits=limits,
            bound=bound,
            task_id=options.get("task_id"),
            expires_us=None if expires_s is None else now_us + int(expires_s * 1_000_000),
            check=options.get("check"),
            trace_id=options.get("trace_id", ""),
            kept=await self._kept(options, bound, dict(zip(everybody, callers, strict=True)), most=most),
            found_max=room_for_found(most),
        )

    async def keep(self, begun: Begun, run_id: str) -> tuple[RunView, RunClaim] | None:
        """Write the beginning down: the run as it stands, held here. None: there is a run of that id already."""
        principal, now_us = begun.principal, self._reach.world.clock.now_us()
        record = {"subject": run_id, **signed_by(principal), "agent": begun.agent, "model": begun.model}
        new = NewRun(
            tenant=principal.tenant,
            id=run_id,
            state=State.MODEL_REQUEST.value,
            agent=begun.agent,
            principal=principal.on_behalf_of,
            entries=(written(begun, (Cause.BEGUN,), at_us=now_us),),
            at_us=now_us,
            event=self._reach.records.act(EventKind.RUN_STARTED, principal.tenant, record),
        )
        claim = await self._reach.world.runs.begin_run(new)
        if claim is None:
            return None
        view = RunView(principal.tenant, run_id)
        view.apply(Entry(begun, (Cause.BEGUN,), now_us, 1))
        return view, claim

    async def _kept(
        self, options: RunOptions, bound: tuple[Bound, ...], callers: Mapping[Agent, Caller], *, most: int
    ) -> dict[str, tuple[str, ...]]:
        """What each agent that has more tools than are offered at once is offered from the beginning."""
        reach, kept = self._reach, dict[str, tuple[str, ...]]()
        for agent, caller in callers.items():
            if len(bound) <= most:
                break
            view = reach.views.current
            tools = reach.offers.usable(view, caller, bound, agent=agent, now_us=reach.world.clock.now_us())
            if is_over({each.spec.name for each in tools}, most):
                pinned = (*(agent.tools or ()), *(options.get("tools") or ()), *listed(view, caller))
                kept[agent.name] = await reach.finding.kept(options["task"], tools, pinned=pinned, most=most)
        return kept

    async def _bound(self, options: RunOptions, callers: Sequence[Caller]) -> tuple[Bound, ...]:
        principal, tools = options["principal"], options.get("tools")
        bound = self._reach.offers.bound(await self._reach.views.latest(), callers, tools)
        missing = sorted(set(tools or ()) - {each.name for each in bound})
        if missing:
            which = f"there is no tool {missing[0]!r} that this principal may see"
            raise ToolNotFound(f"{which}: look how it is spelled, and what policies permit")
        _check_check(options.get("check"), self._reach.views.current, callers[0])
        if not bound and tools is None:
            who = f"{principal.on_behalf_of} of {principal.tenant}"
            log.warning("a run begins for %s, who sees 0 tools: compare owner, groups and policies", who)
        return bound


def _callers(options: RunOptions, agents: Iterable[Agent], model: str) -> list[Caller]:
    """Who calls for each of the agents."""
    principal, trace_id = options["principal"], options.get("trace_id", "")
    return [
        Caller(principal, origin=Origin(DOOR, each.name, each.model or model, trace_id, principal.actor))
        for each in agents
    ]


def _check_check(check: Check | None, view: View, caller: Caller) -> None:
    """A check only reads, and can be asked: what could never be would say of every task that it is not done."""
    if check is None:
        return
    name = check.tool
    tool = located(name, caller, view.catalogue)
    if isinstance(tool, Missing) or view.visibility(tool, caller) is Visibility.NEVER:
        close = view.told(Deny(Code.TOOL_NOT_FOUND, ""), name, caller).details.get("nearest")
        meant = f" (do you mean {close[0]}?)" if isinstance(close, list) and close else ""
        which = f"check: there is no tool {name!r} that this principal may see{meant}"
        raise SettingsInvalid(f"{which}: look how it is spelled, and what policies permit")
    if tool.spec.effect.is_effect:
        raise SettingsInvalid(f"{name} cannot check whether a task is done: a check only reads; name a tool that does")
    frozen = propose(ToolCall("check", name, check.arguments), caller, view.catalogue)
    if isinstance(frozen, Deny):
        wrong = frozen.details.get("validation_errors")
        first = f" {wrong[0]}" if isinstance(wrong, list) and wrong else ""
        said = f"check: {name} cannot be asked with {check.arguments}: {frozen.message.rstrip('.')}.{first}"
        raise SettingsInvalid(f"{said} Give arguments that fit its schema, as JSON, and a tool that takes calls.")


def _check_ids(options: RunOptions) -> None:
    """Everything that the calls of the run are recorded under can be, so that none is refused for it later."""
    run_id = options.get("run_id") or ""
    origin = Origin(DOOR, trace_id=options.get("trace_id", ""))
    caller = Caller(options["principal"], run_id or None, options.get("task_id"), origin=origin)
    _, _, wrong = admit(ToolCall(f"{run_id}{'.' * CALL_ID_ROOM}", ""), caller)
    if wrong is not None:
        most = CALL_ID_CHARS_MAX - CALL_ID_ROOM
        raise SettingsInvalid(f"{wrong.message} A run's id has at most {most} characters, all of which can be kept.")


def _check_models(models: Models, name: str, agents: tuple[Agent, ...], *, limits: RunLimits) -> None:
    """Every model is there, and has a price where what it costs is limited."""
    for each in (name, *(agent.model for agent in agents if agent.model)):
        if models.named(each).price is None and limits.cost_micros is not None:
            raise SettingsInvalid(f"a limit on cost needs the price of the model {each}: give it price=Price(...)")
