"""Keeps whole what is too long to be shown, before its call is settled: what an observation refers to is there."""

from __future__ import annotations

from interlock.core.artifact import Artifact, parts_of
from interlock.core.labels import NO_LABELS
from interlock.core.observation import Observation
from interlock.core.observe import readable
from interlock.core.operation import Operation
from interlock.core.outcome import Outcome, Partial, Succeeded, Whole
from interlock.core.stored import seal
from interlock.runtime.world import World

_EXECUTED = (Succeeded, Partial)  # every call asks, and a union would be made each time

MASKED_TIMES = 8
"""How many times as long as it was a result may be once it is redacted, at most."""


def may_be_kept(operation: Operation, outcome: Outcome) -> bool:
    """Whether settling may take more than one write: then it must not end with who waits for it, half done."""
    if not isinstance(outcome, _EXECUTED):
        return False
    return outcome.produced.whole is not None or len(outcome.data) * MASKED_TIMES > operation.tool.spec.output_bytes_max


async def kept_whole(world: World, operation: Operation, seen: Observation, *, whole: Whole) -> Observation:
    """The observation with a handle by which all of it can be read. What came in parts is there already."""
    tenant, at_us = operation.caller.principal.tenant, world.clock.now_us()
    handle = whole.handle or world.new_id()
    for number, part in parts_of(whole.data or b""):
        await world.artifacts.append(tenant, handle, number=number, data=part, at_us=at_us)
    await world.artifacts.keep(
        Artifact(
            tenant=tenant,
            id=handle,
            operation_id=seen.operation_id or "",
            tool=operation.spec.name,
            principal=operation.caller.principal.id,
            media_type=whole.media_type,
            size_bytes=whole.size_bytes,
            labels=seen.labels or NO_LABELS,
            at_us=at_us,
            sealed=seal(operation),
        )
    )
    return readable(seen, handle)
