"""Keeps whole what is too long to be shown, before its call is settled: what an observation refers to is there."""

from __future__ import annotations

from interlock.core.artifact import JSON, Artifact, parts_of
from interlock.core.labels import NO_LABELS
from interlock.core.observation import Observation
from interlock.core.observe import readable
from interlock.core.operation import Operation
from interlock.core.stored import seal
from interlock.runtime.world import World


async def kept_whole(world: World, operation: Operation, seen: Observation, *, data: bytes) -> Observation:
    """The observation with a handle by which all of `data` can be read."""
    tenant, handle, at_us = operation.caller.principal.tenant, world.new_id(), world.clock.now_us()
    for number, part in parts_of(data):
        await world.artifacts.append(tenant, handle, number=number, data=part, at_us=at_us)
    await world.artifacts.keep(
        Artifact(
            tenant=tenant,
            id=handle,
            operation_id=seen.operation_id or "",
            tool=operation.spec.name,
            principal=operation.caller.principal.id,
            media_type=JSON,
            size_bytes=len(data),
            labels=seen.labels or NO_LABELS,
            at_us=at_us,
            sealed=seal(operation),
        )
    )
    return readable(seen, handle)
