"""Which scopes a call counts in, and what it reserves of each, from the limits that are set."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from interlock.core.budget import ONE_CALL, Amounts, Limit, Limits, Reservation, ScopeKey, ScopeKind, Unit
from interlock.core.call import Caller
from interlock.core.tool import ToolSpec


@dataclass(frozen=True, slots=True)
class LimitTable:
    """Limits grouped by what shares one usage row: (kind, window in seconds, its limits)."""

    groups: tuple[tuple[ScopeKind, int, tuple[Limit, ...]], ...]

    @staticmethod
    def of(limits: Limits) -> LimitTable:
        """The table of these limits. The run (or else the task) is always counted, limited or not, for reports.

        What is used up for good comes before what frees up by itself: a refusal names what waiting does not change.
        """
        found: dict[tuple[ScopeKind, int], tuple[Limit, ...]] = {(ScopeKind.RUN, 0): (), (ScopeKind.TASK, 0): ()}
        for limit in sorted(limits.limits, key=_frees_up):
            place = (limit.scope, limit.window_s)
            found[place] = (*found.get(place, ()), limit)
        return LimitTable(tuple((kind, window_s, group) for (kind, window_s), group in found.items()))

    def reservations(
        self, caller: Caller, spec: ToolSpec | None, *, digest: str = "", now_us: int = 0, counted: bool = False
    ) -> tuple[Reservation, ...]:
        """What one proposal takes. `spec` is None for a name that is no tool; `counted`: it was counted when asked."""
        amounts = ONE_CALL if spec is None else _amounts(spec, 0 if counted else 1)
        tenant = caller.principal.tenant
        out: list[Reservation] = []
        for kind, window_s, limits in self.groups:
            window_us = 0 if window_s == 0 else now_us - now_us % (window_s * 1_000_000)
            for name in _ids(kind, caller, spec, digest=digest, limited=limits != ()):
                out.append(Reservation(ScopeKey(tenant, kind, name, window_us), amounts, limits))  # noqa: PERF401
        return tuple(out)


def charges(reservations: tuple[Reservation, ...]) -> tuple[Reservation, ...]:
    """What a proposal that never ran is charged: itself, and nothing else."""
    return tuple(Reservation(each.scope, Amounts(calls=each.amounts.calls)) for each in reservations)


def _amounts(spec: ToolSpec, calls: int) -> Amounts:
    """Its time is not known before, so it reserves the least: a limit that is reached lets no further call start."""
    return Amounts(calls=calls, cost_micros=spec.cost.max_micros, working_ms=1, concurrent=1)


def _frees_up(limit: Limit) -> bool:
    return limit.window_s > 0 or limit.unit is Unit.CONCURRENT


def _ids(kind: ScopeKind, caller: Caller, spec: ToolSpec | None, *, digest: str, limited: bool) -> Iterator[str]:
    """The ids that this call has in a scope of this kind: none where the scope does not apply to it."""
    run = caller.run
    tool = None if spec is None else spec.name
    match kind:
        case ScopeKind.TENANT:
            yield ""
        case ScopeKind.PRINCIPAL:
            yield caller.principal.id
        case ScopeKind.AGENT if caller.origin.agent:
            yield caller.origin.agent
        case ScopeKind.RUN if run is not None:
            yield run
        case ScopeKind.TASK if caller.task is not None and (limited or run is None):
            yield caller.task
        case ScopeKind.TOOL if tool is not None:
            yield tool
        case ScopeKind.RUN_TOOL if run is not None and tool is not None:
            yield f"{run}\x1f{tool}"
        case ScopeKind.OPERATION if run is not None and digest:
            yield f"{run}\x1f{digest}"
        case ScopeKind.TAG if spec is not None:
            yield from spec.cost.tags
        case _:
            return
