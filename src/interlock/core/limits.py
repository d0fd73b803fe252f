"""Which scopes a call counts in, and what it reserves of each, from the limits that are set."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from interlock.core.budget import ONE_CALL, Amounts, Limit, Limits, Reservation, ScopeKey, ScopeKind, Taken, Unit
from interlock.core.call import SHADOW_DOOR, Caller
from interlock.core.frozen import frozen
from interlock.core.tool import SHARED, ToolSpec

Ids = Callable[[Caller, ToolSpec | None, str], tuple[str, ...]]
"""The ids that a call has in a scope of one kind, from caller, tool and digest: none where it has no such scope."""


Group = tuple[ScopeKind, Ids, int, bool, tuple[Limit, ...]]
"""What shares one usage row: kind, ids, window in microseconds, whether all tenants share it, limits."""

REMEMBERED_MAX = 1_024
"""How many callers' reservations are remembered, before all are worked out anew."""

_FOR_EVER_US = 2**63


@frozen
class _Remembered:
    """What a call took, good for the same tool until a rate window ends."""

    spec: ToolSpec | None
    since_us: int
    until_us: int
    taken: Taken


@frozen
class Rows:
    """Where something counts that is no call of a tool, good until a rate window ends."""

    scopes: tuple[ScopeKey, ...]
    since_us: int
    until_us: int

    def holds(self, now_us: int) -> bool:
        """Whether that is so at this time (microseconds since 1970)."""
        return self.since_us <= now_us < self.until_us


def longest_window_us(limits: Limits) -> int:
    """How long the longest window is that any of them counts in; zero where none does."""
    return max((each.window_s for each in limits.limits), default=0) * 1_000_000


class LimitTable:
    """Limits grouped by what shares one usage row. Remembers what calls took: most take what another took before."""

    def __init__(self, groups: tuple[Group, ...]) -> None:
        self._groups = groups
        self._windows = tuple({window_us for _, _, window_us, _, _ in groups if window_us})
        self._remembered: dict[tuple[object, ...], _Remembered] = {}

    @staticmethod
    def of(limits: Limits) -> LimitTable:
        """The table of these limits. The run (or else the task) is always counted, limited or not, for reports.

        What is used up for good comes before what frees up by itself: a refusal names what waiting does not change.
        """
        run, task = (ScopeKind.RUN, 0, False), (ScopeKind.TASK, 0, False)
        found: dict[tuple[ScopeKind, int, bool], tuple[Limit, ...]] = {run: (), task: ()}
        for limit in sorted(limits.limits, key=_frees_up):
            place = (limit.scope, limit.window_s * 1_000_000, limit.shared)
            found[place] = (*found.get(place, ()), limit)
        return LimitTable(
            tuple(
                (kind, _ids(kind, limited), window_us, shared, limited)
                for (kind, window_us, shared), limited in found.items()
            )
        )

    def counts(self, units: frozenset[Unit]) -> bool:
        """Whether any limit is set on one of these."""
        return any(limit.unit in units for *_, limits in self._groups for limit in limits)

    def reservations(
        self, caller: Caller, spec: ToolSpec | None, *, digest: str = "", now_us: int = 0, counted: bool = False
    ) -> Taken:
        """What one proposal takes. `spec` is None for a name that is no tool; `counted`: it was counted when asked."""
        who, origin, tool = caller.principal, caller.origin, "" if spec is None else spec.name
        place = (who.tenant, who.id, origin.agent, origin.door, caller.run, caller.task, tool, digest, counted)
        known = self._remembered.get(place)
        if known is not None and known.spec is spec and known.since_us <= now_us < known.until_us:
            return known.taken
        taken = self._taken(caller, spec, digest=digest, now_us=now_us, counted=counted)
        since_us, until_us = self._span(now_us)
        if len(self._remembered) >= REMEMBERED_MAX:
            self._remembered.clear()
        self._remembered[place] = _Remembered(spec, since_us, until_us, taken)
        return taken

    def rows(self, caller: Caller, *, now_us: int = 0) -> Rows:
        """Where requests of a caller to a model count: the scopes that a proposal without a tool takes from."""
        taken = self._taken(caller, None, digest="", now_us=now_us, counted=False)
        return Rows(taken.scopes, *self._span(now_us))

    def _span(self, now_us: int) -> tuple[int, int]:
        """From when and until when the rate windows of now last."""
        if not self._windows:
            return 0, _FOR_EVER_US
        starts = [(now_us - now_us % each, each) for each in self._windows]
        return max([start for start, _ in starts]), min([start + each for start, each in starts])

    def _taken(self, caller: Caller, spec: ToolSpec | None, *, digest: str, now_us: int, counted: bool) -> Taken:
        if caller.origin.door == SHADOW_DOOR:
            return _of_shadow(caller, spec)
        found: dict[ScopeKey, tuple[Amounts, tuple[Limit, ...]]] = {}
        for kind, ids, window_us, shared, limits in self._groups:
            start_us = now_us - now_us % window_us if window_us else 0
            amounts = ONE_CALL if spec is None else _amounts(spec, 0 if counted and not shared else 1)
            for name in ids(caller, spec, digest):
                scope = _scope(kind, name, caller, spec=spec if shared else None)._replace(window_us=start_us)
                # Windows of two lengths that start together count the same, in one row.
                found[scope] = (amounts, (*found.get(scope, (amounts, ()))[1], *limits))
        return Taken.of(Reservation(scope, *taken) for scope, taken in found.items())


def _of_shadow(caller: Caller, spec: ToolSpec | None) -> Taken:
    """A scope of its own, without a limit: what is tried must not use up what is meant for calls that count."""
    scope = ScopeKey(caller.principal.tenant, ScopeKind.TASK, f"shadow {caller.origin.agent}")
    return Taken.of([Reservation(scope, ONE_CALL if spec is None else _amounts(spec, 1))])


def charges(reservations: tuple[Reservation, ...]) -> tuple[Reservation, ...]:
    """What a proposal that never ran is charged: itself, and nothing of what tenants share, which it never reached."""
    return tuple(
        Reservation(each.scope, Amounts(calls=each.amounts.calls))
        for each in reservations
        if each.scope.kind is not ScopeKind.EFFECTS and each.scope.tenant != SHARED
    )


def _scope(kind: ScopeKind, name: str, caller: Caller, *, spec: ToolSpec | None) -> ScopeKey:
    """The row of its tenant; with a `spec`, the row of all tenants, unless the tool is one tenant's own."""
    if spec is None:
        return ScopeKey(caller.principal.tenant, kind, name)
    return ScopeKey(SHARED, kind, name if spec.tenant == SHARED else f"{spec.tenant}\x1f{name}")


def _amounts(spec: ToolSpec, calls: int) -> Amounts:
    """Its time is not known before, so it reserves the least: a limit that is reached lets no further call start."""
    return Amounts(calls=calls, cost_micros=spec.cost.max_micros, working_ms=1, concurrent=1)


def _frees_up(limit: Limit) -> bool:
    return limit.window_s > 0 or limit.unit is Unit.CONCURRENT


def _ids(kind: ScopeKind, limited: tuple[Limit, ...]) -> Ids:
    """A task without a limit is counted only where there is no run to count."""
    return _task_alone if kind is ScopeKind.TASK and not limited else _IDS[kind]


def _task_alone(caller: Caller, spec: ToolSpec | None, digest: str) -> tuple[str, ...]:
    return () if caller.run is not None or caller.task is None else (caller.task,)


_IDS: Mapping[ScopeKind, Ids] = {
    ScopeKind.TENANT: lambda caller, spec, digest: ("",),
    ScopeKind.PRINCIPAL: lambda caller, spec, digest: (caller.principal.id,),
    ScopeKind.AGENT: lambda caller, spec, digest: (caller.origin.agent,) if caller.origin.agent else (),
    ScopeKind.RUN: lambda caller, spec, digest: () if caller.run is None else (caller.run,),
    ScopeKind.TASK: lambda caller, spec, digest: () if caller.task is None else (caller.task,),
    ScopeKind.TOOL: lambda caller, spec, digest: () if spec is None else (spec.name,),
    ScopeKind.TAG: lambda caller, spec, digest: () if spec is None else spec.cost.tags,
    ScopeKind.VENDOR: lambda caller, spec, digest: () if spec is None or not spec.vendor.name else (spec.vendor.name,),
    ScopeKind.RUN_TOOL: lambda caller, spec, digest: (
        () if caller.run is None or spec is None else (f"{caller.run}\x1f{spec.name}",)
    ),
    ScopeKind.OPERATION: lambda caller, spec, digest: (
        (f"{caller.run}\x1f{digest}",) if caller.run is not None and digest else ()
    ),
}
