"""Runs calls that were proposed together: each gets its own result, in order, whatever becomes of the others."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import field
from functools import partial

from interlock.core.admission import admit
from interlock.core.batch import FREE, Member, Place, member, no_operation, places
from interlock.core.call import Caller, ToolCall
from interlock.core.catalogue import Catalogue, Tool
from interlock.core.decision import Deny, propose
from interlock.core.frozen import frozen
from interlock.core.observation import Observation, Status
from interlock.core.refusals import Code
from interlock.core.routing import Missing, located
from interlock.core.view import View
from interlock.runtime.gate import Gate

SUCCEEDED = (Status.OK, Status.PARTIAL)

Tell = Callable[[int, Observation], None]
"""Told what came of each call as soon as it has ended, by its place among those proposed."""


@frozen
class TurnSoFar:
    """What a driver of runs knows of the calls of one turn, beside the calls.

    `pins` are the digests of the specs that names mean. `known` is what came of calls of the turn before, by place:
    they are not proposed again. `tell` hears of each call as it ends.
    """

    pins: Mapping[str, str] = field(default_factory=dict)
    known: Mapping[int, Observation] = field(default_factory=dict)
    tell: Tell | None = None


NOTHING_KNOWN = TurnSoFar()


@frozen
class Placed:
    """One call of a batch with its place in it."""

    call: ToolCall
    caller: Caller
    place: Place
    index: int


async def call_many(
    gate: Gate, calls: Sequence[ToolCall], caller: Caller, *, view: View, so_far: TurnSoFar = NOTHING_KNOWN
) -> tuple[Observation, ...]:
    """One observation for each call, in proposed order. A fault of the store is raised once every call has ended.

    The position of a call in its turn is its place in `calls`, so two equal calls of one turn are two effects.
    """
    callers = [caller.at(caller.position + index) for index in range(len(calls))]
    if so_far.pins:
        callers = [each.pinned(so_far.pins.get(call.name)) for call, each in zip(calls, callers, strict=True)]
    parts = zip(calls, callers, _places(calls, callers, catalogue=view.catalogue), range(len(calls)), strict=True)
    placed = [Placed(*part) for part in parts]
    proposed: set[int] = set()
    tasks: list[asyncio.Task[Observation]] = []
    loop = asyncio.get_running_loop()
    for each in placed:
        work = _in_its_place(gate, each, tasks, proposed=proposed)
        if so_far is not NOTHING_KNOWN:
            work = _told(work, each.index, so_far=so_far, proposed=proposed)
        tasks.append(loop.create_task(work))
    try:
        for task in tasks:  # most end together: after the first, hardly one is waited for
            if not task.done():
                await _end_of(task)
    except asyncio.CancelledError:
        await _cancel(tasks)
        for each in placed:
            if each.index not in proposed:
                gate.forsake(each.call, each.caller)
        raise
    return tuple([task.result() for task in tasks])


async def _told(
    work: Coroutine[object, object, Observation], index: int, *, so_far: TurnSoFar, proposed: set[int]
) -> Observation:
    """What came of one call, told at once; what is known already is not done again."""
    known = so_far.known.get(index)
    if known is not None:
        work.close()
        proposed.add(index)
        return known
    seen = await work
    if so_far.tell is not None:
        so_far.tell(index, seen)
    return seen


async def _in_its_place(
    gate: Gate, placed: Placed, earlier: Sequence[asyncio.Task[Observation]], *, proposed: set[int]
) -> Observation:
    """The call, once those that it runs after have ended; refused where one that it needs has not succeeded.

    `proposed` gets its index as soon as the gate answers for it.
    """
    place = placed.place
    if place.after:
        await asyncio.wait([earlier[index] for index in place.after])
    proposed.add(placed.index)
    unmet = place.needs and [index for index in sorted(place.needs) if not _succeeded(earlier[index])]
    if unmet:
        message = f"It depends on call {unmet[0] + 1} of this turn, which has not succeeded."
        return await gate.refuse(placed.call, placed.caller, Deny(Code.DEPENDENCY_NOT_MET, message))
    return await gate.propose(placed.call, placed.caller)


def _succeeded(task: asyncio.Task[Observation]) -> bool:
    return not task.cancelled() and task.exception() is None and task.result().status in SUCCEEDED


def _places(calls: Sequence[ToolCall], callers: Sequence[Caller], *, catalogue: Catalogue) -> Sequence[Place]:
    """Where each call stands. Calls that only read, and depend on no other, are free; they need not be frozen twice."""
    proposed = zip(calls, callers, strict=True)
    named = {  # one look for each name: callers differ in their positions alone; what no text names the gate refuses
        call.name: (call, each)
        for call, each in proposed
        if isinstance(call.name, str)  # type: ignore[redundant-expr]  # as a model's JSON may have it
    }
    for call, each in named.values():
        tool = _tool(call, each, catalogue)
        if tool is not None and (tool.spec.effect.is_effect or tool.spec.depends_on):
            return places([_member(*both, catalogue) for both in zip(calls, callers, strict=True)])
    return [FREE] * len(calls)


def _tool(call: ToolCall, caller: Caller, catalogue: Catalogue) -> Tool | None:
    found = located(call.name, caller, catalogue)
    return None if isinstance(found, Missing) else found


def _member(call: ToolCall, caller: Caller, catalogue: Catalogue) -> Member:
    call, caller, inadmissible = admit(call, caller)
    operation = inadmissible or propose(call, caller, catalogue)
    return no_operation(call.name) if isinstance(operation, Deny) else member(operation)


async def _end_of(task: asyncio.Task[Observation]) -> None:
    """Wait until it has ended, however: what `asyncio.wait` does for many, at a fifth of what that costs for one."""
    ended = asyncio.get_running_loop().create_future()
    task.add_done_callback(partial(_tell, ended))
    await ended


def _tell(ended: asyncio.Future[None], _: object) -> None:
    if not ended.done():  # it is where who waits was cancelled
        ended.set_result(None)


async def _cancel(tasks: Sequence[asyncio.Task[Observation]]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.wait(tasks)
