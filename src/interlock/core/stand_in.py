"""Which tool may do instead of one that does not work: as its spec declares, and never one that may do more."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from interlock.core.effect import Effect
from interlock.core.tool import ToolSpec

_MAY_DO: Mapping[Effect, int] = {effect: place for place, effect in enumerate(Effect)}
"""Effects in rising order of what they may do."""


def may_stand_in(other: ToolSpec, spec: ToolSpec) -> bool:
    """Whether `other` is what `spec` falls back on. What replaces a read reads, and what stays inside stays inside."""
    return (
        spec.fallback == other.name
        and _MAY_DO[other.effect] <= _MAY_DO[spec.effect]
        and (spec.external or not other.external)
    )


def offered(specs: Collection[ToolSpec], *, working: Collection[ToolSpec]) -> tuple[ToolSpec, ...]:
    """Those of the working tools that are offered: a standby only where what it stands in for does not work."""
    names = {each.name for each in working}
    broken = [each for each in specs if each.fallback and each.name not in names]
    return tuple(each for each in working if not each.standby or any(may_stand_in(each, spec) for spec in broken))
