"""What came of examples when they ran, and what that says of the versions they are of."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from enum import StrEnum

from interlock.core.example import ExampleKind, ToolExample
from interlock.core.example_check import Difference
from interlock.core.frozen import frozen
from interlock.core.readiness import NONE_YET, Readiness, Tally
from interlock.core.selection import CaseKind
from interlock.core.tool import ToolSpec, spec_digest


class Passing(StrEnum):
    """How an example stands. Stale and unreviewed ones did not run; REFUSED are those that must not, as they are."""

    PASSED = "passed"
    FAILED = "failed"
    STALE = "stale"
    UNREVIEWED = "unreviewed"
    REFUSED = "refused"


@frozen
class Rehearsed:
    """One example, how it stands, why in words, and each difference from what it expects."""

    example: ToolExample
    passing: Passing
    why: str = ""
    differences: tuple[Difference, ...] = ()

    @property
    def is_wrong(self) -> bool:
        """Whether somebody has to do something about it before the tool may be relied on."""
        return self.passing in (Passing.FAILED, Passing.REFUSED)


@frozen
class Checks:
    """What else is known of a tool: its words, and the probes of the real one."""

    selection: Tally = NONE_YET
    risk: Tally = NONE_YET
    probes: Tally = NONE_YET


NO_CHECKS = Checks()


def readiness_of(spec: ToolSpec, results: Iterable[Rehearsed], *, at_us: int, checks: Checks = NO_CHECKS) -> Readiness:
    """What the results say of this version: those of examples of its name. Nothing that is stale counts as passed."""
    own = [each for each in results if each.example.tool == spec.name]
    passed: dict[ExampleKind, int] = {}
    for each in own:
        if each.passing is Passing.PASSED:
            passed[each.example.kind] = passed.get(each.example.kind, 0) + 1
    return Readiness(
        tool=spec.name,
        version=spec.version,
        digest=spec_digest(spec),
        passed=passed,
        failing=tuple(each.example.name for each in own if each.is_wrong),
        stale=_names(own, Passing.STALE),
        unreviewed=_names(own, Passing.UNREVIEWED),
        selection=checks.selection,
        risk=checks.risk,
        probes=checks.probes,
        at_us=at_us if own else 0,
        until_us=min(_ends_us(own), default=0),
    )


def checks_of(tallies: Mapping[tuple[str, CaseKind], Tally], tool: str) -> Checks:
    """What the cases for words say of one tool."""
    kinds = (CaseKind.SELECTION, CaseKind.RISK)
    selection, risk = (tallies.get((tool, kind), NONE_YET) for kind in kinds)
    return Checks(selection, risk)


def _ends_us(own: Iterable[Rehearsed]) -> Iterator[int]:
    """When those that passed expire: at the end of their day, UTC."""
    for each in own:
        if each.passing is Passing.PASSED and each.example.expires:
            day = datetime.fromisoformat(each.example.expires).replace(tzinfo=UTC) + timedelta(days=1)
            yield round(day.timestamp()) * 1_000_000


def _names(own: Iterable[Rehearsed], passing: Passing) -> tuple[str, ...]:
    return tuple(each.example.name for each in own if each.passing is passing)
