"""Which tools work at present: a breaker for each tool and endpoint, and what an operator set by hand."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum

from interlock.core.breaker import CLOSED, Breaker, BreakerRule, BreakerState, counts_as_failure
from interlock.core.frozen import frozen
from interlock.core.http_template import origin_of_target
from interlock.core.outcome import Failed, Outcome, Succeeded
from interlock.core.tool import ToolSpec
from interlock.ports import Clock


class HealthState(StrEnum):
    """DEGRADED tools take calls; the last three take none."""

    HEALTHY = "healthy"
    DEGRADED = "degraded"
    QUOTA_SPENT = "quota_spent"
    MAINTENANCE = "maintenance"
    UNREACHABLE = "unreachable"


SET_BY_HAND = frozenset({
    HealthState.HEALTHY, HealthState.DEGRADED, HealthState.QUOTA_SPENT, HealthState.MAINTENANCE
})  # fmt: skip
"""The states that an operator may set. UNREACHABLE is the breaker's."""

_TAKES_NONE = frozenset({HealthState.QUOTA_SPENT, HealthState.MAINTENANCE})
_NO_END_S = 60.0

Endpoint = tuple[str, str, str, str]


@frozen
class Notice:
    """A state that an operator set, and when it ends (None: when it is taken back)."""

    state: HealthState
    until_s: float | None = None


class Health:
    """Kept in memory: another process finds out for itself.

    All versions of a tool share a breaker, and all HTTP and gRPC tools of a tenant beside it that of their origin:
    where one has found that it does not answer, the others need not.
    """

    def __init__(self, *, clock: Clock, rule: BreakerRule | None = None) -> None:
        self._clock = clock
        self._rule = rule or BreakerRule()
        self._breakers: dict[Endpoint, Breaker] = {}
        self._shared: dict[tuple[str, str], Endpoint] = {}
        self._notices: dict[tuple[str, str], Notice] = {}

    def unavailable(self, spec: ToolSpec) -> float | None:
        """Seconds after which to ask again, or None where a call may pass (it may be the probe of an open breaker)."""
        if not self._breakers and not self._notices:
            return None
        notice = self._notice(spec)
        if notice is not None and notice.state in _TAKES_NONE:
            return _NO_END_S if notice.until_s is None else notice.until_s - self._clock.monotonic_s()
        now_s = self._clock.monotonic_s()
        found = {each: self._breakers[each].asked(now_s) for each in _endpoints(spec) if each in self._breakers}
        waits_s = [wait_s for _, wait_s in found.values() if wait_s is not None]
        if waits_s:
            return max(waits_s)
        self._breakers |= {each: breaker for each, (breaker, _) in found.items()}
        return None

    def report(self, spec: ToolSpec, *, outcome: Outcome) -> None:
        """Tell what one attempt came to."""
        if not self._breakers and (type(outcome) is Succeeded or not counts_as_failure(outcome)):
            return
        own, *shared = _endpoints(spec)
        self._count(own, failed=counts_as_failure(outcome))
        for endpoint in shared:
            self._shared[spec.tenant, spec.name] = endpoint
            self._count(endpoint, failed=counts_as_failure(outcome) and not _is_its_own(outcome))

    def set(self, tenant: str, name: str, *, state: HealthState, for_s: float | None = None) -> None:
        """An operator's word on a tool; HEALTHY takes it back and closes its breakers. `for_s` of None: until then."""
        if state not in SET_BY_HAND:
            raise ValueError(f"{state.value} cannot be set by hand")
        if state is HealthState.HEALTHY:
            self._notices.pop((tenant, name), None)
            for endpoint in [each for each in self._breakers if (each[0], each[2]) == (tenant, name)]:
                del self._breakers[endpoint]
            if (tenant, name) in self._shared:
                self._breakers.pop(self._shared.pop((tenant, name)), None)
            return
        until_s = None if for_s is None else self._clock.monotonic_s() + for_s
        self._notices[tenant, name] = Notice(state, until_s)

    def state(self, spec: ToolSpec) -> HealthState:
        """How a tool is; looking changes nothing."""
        notice = self._notice(spec)
        if notice is not None and notice.state in _TAKES_NONE:
            return notice.state
        now_s = self._clock.monotonic_s()
        breakers = [self._breakers.get(each, CLOSED) for each in _endpoints(spec)]
        if any(each.state is BreakerState.OPEN and now_s < each.until_s for each in breakers):
            return HealthState.UNREACHABLE
        if any(each.state is not BreakerState.CLOSED for each in breakers):
            return HealthState.DEGRADED
        return HealthState.HEALTHY if notice is None else notice.state

    @property
    def is_quiet(self) -> bool:
        """Whether nothing is known of any tool that would be said of it."""
        return not self._breakers and not self._notices

    def withheld(self, spec: ToolSpec) -> bool:
        """Whether discovery leaves the tool out."""
        return not self.is_quiet and self.state(spec) not in (HealthState.HEALTHY, HealthState.DEGRADED)

    def breakers(self) -> Iterator[tuple[Endpoint, Breaker]]:
        """What is remembered of tools that failed, for those who watch."""
        yield from self._breakers.items()

    def _count(self, endpoint: Endpoint, *, failed: bool) -> None:
        if failed:
            breaker = self._breakers.get(endpoint, CLOSED)
            self._breakers[endpoint] = breaker.failed(self._clock.monotonic_s(), self._rule)
        else:
            self._breakers.pop(endpoint, None)

    def _notice(self, spec: ToolSpec) -> Notice | None:
        notice = self._notices.get((spec.tenant, spec.name))
        if notice is None or notice.until_s is None or self._clock.monotonic_s() < notice.until_s:
            return notice
        del self._notices[spec.tenant, spec.name]
        return None


def _endpoints(spec: ToolSpec) -> tuple[Endpoint, ...]:
    """The tool's own, and the one that it shares with others."""
    own = (spec.tenant, spec.source, spec.name, spec.handler.target)
    if spec.handler.kind not in ("http", "grpc", "mcp"):
        return (own,)
    return (own, (spec.tenant, "", "", origin_of_target(spec.handler.target)))


def _is_its_own(outcome: Outcome) -> bool:
    """Whether it is an error of the tool's contract, which says nothing of the others at its origin."""
    return isinstance(outcome, Failed) and bool(outcome.tool_code)
