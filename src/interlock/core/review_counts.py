"""What is counted of one version of a tool: how its proposals ended, how long that took, what people had to do."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from math import log2
from typing import Final

from interlock.core.frozen import frozen
from interlock.core.refusals import Code

_STEPS: Final = 8
"""How many buckets of times there are between one and twice as much: a time is told to within a tenth."""

ARGUMENTS: Final = frozenset({Code.INVALID_JSON, Code.TOOL_ARGUMENT_INVALID})
"""Refusals of the arguments themselves."""

DENIALS: Final = frozenset({Code.PERMISSION_DENIED, Code.TOOL_NOT_ALLOWED})
"""Refusals by policy."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """Whole numbers that add up over records, versions and parts of a log.

    Each proposal is one of `refused`, `asked`, `started`, `replayed`, `cached`. A call that comes back with an approval
    was counted when it asked, and is in `came_back`. `unmeasured` are ends of which nobody knows what they cost or how
    long they took; `lost` are calls of which it was not known whether they happened, `closed_by_*` who closed
    how many of them, `found_done` and `found_not_done` as what; `let_go` are reads whose process died.
    `without_*` are records in which that stands empty though it was to be expected; `evidence_unknown` those that were
    written before records said it. `effects` are effects that went well. Times are in milliseconds.
    """

    refused: int = 0
    asked: int = 0
    started: int = 0
    replayed: int = 0
    cached: int = 0
    came_back: int = 0
    succeeded: int = 0
    partial: int = 0
    failed: int = 0
    lost: int = 0
    let_go: int = 0
    empty: int = 0
    retried: int = 0
    retries: int = 0
    working_ms: int = 0
    cost_micros: int = 0
    tokens: int = 0
    unmeasured: int = 0
    effects: int = 0
    granted: int = 0
    declined: int = 0
    expired: int = 0
    withdrawn: int = 0
    voided: int = 0
    edited: int = 0
    closed_by_tool: int = 0
    closed_by_person: int = 0
    found_done: int = 0
    found_not_done: int = 0
    escalated: int = 0
    late: int = 0
    compensated: int = 0
    not_compensated: int = 0
    without_agent: int = 0
    without_model: int = 0
    without_trace: int = 0
    without_task: int = 0
    without_evidence: int = 0
    evidence_unknown: int = 0

    @property
    def proposals(self) -> int:
        """How often it was proposed."""
        return self.refused + self.asked + self.started + self.replayed + self.cached

    @property
    def ended(self) -> int:
        """How many executions have ended, however they did."""
        return self.succeeded + self.partial + self.failed + self.lost + self.let_go


COUNTED: Final = tuple(each.name for each in fields(Counts))


@frozen
class Numbers:
    """All that is known of one version, or of one tool, from the log.

    `refusals` and `failures` are by code, `effects` by type of resource. `working` and `deciding` are times by bucket
    (see `quantile`): of executions in milliseconds, of people's decisions in seconds.
    """

    counts: Counts = Counts()
    refusals: Mapping[str, int] = field(default_factory=dict)
    failures: Mapping[str, int] = field(default_factory=dict)
    effects: Mapping[str, int] = field(default_factory=dict)
    working: Mapping[int, int] = field(default_factory=dict)
    deciding: Mapping[int, int] = field(default_factory=dict)
    last_used_us: int | None = None

    @property
    def arguments_refused(self) -> int:
        """Proposals whose arguments were refused."""
        return sum(self.refusals.get(each, 0) for each in ARGUMENTS)

    @property
    def denials(self) -> int:
        """Proposals that policy refused."""
        return sum(self.refusals.get(each, 0) for each in DENIALS)

    @property
    def timeouts(self) -> int:
        """Executions that did not answer in time."""
        return self.failures.get(Code.TOOL_TIMEOUT, 0)


class Tallied:
    """The same while it is counted: cheap to add to, and to another."""

    __slots__ = ("counts", "deciding", "effects", "failures", "last_used_us", "refusals", "working")

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.refusals: Counter[str] = Counter()
        self.failures: Counter[str] = Counter()
        self.effects: Counter[str] = Counter()
        self.working: Counter[int] = Counter()
        self.deciding: Counter[int] = Counter()
        self.last_used_us = -1

    def used(self, at_us: int) -> None:
        """It was proposed then."""
        self.last_used_us = max(self.last_used_us, at_us)

    def add(self, other: Tallied) -> None:
        """Take in what was counted elsewhere."""
        self.counts += other.counts
        self.refusals += other.refusals
        self.failures += other.failures
        self.effects += other.effects
        self.working += other.working
        self.deciding += other.deciding
        self.used(other.last_used_us)

    def numbers(self) -> Numbers:
        """What was counted so far, with its keys in order."""
        return Numbers(
            Counts(**{name: self.counts[name] for name in COUNTED}),
            dict(sorted(self.refusals.items())),
            dict(sorted(self.failures.items())),
            dict(sorted(self.effects.items())),
            dict(sorted(self.working.items())),
            dict(sorted(self.deciding.items())),
            None if self.last_used_us < 0 else self.last_used_us,
        )


def summed(parts: tuple[Numbers, ...]) -> Numbers:
    """The numbers of several together."""
    whole = Tallied()
    for each in parts:
        part = Tallied()
        part.counts.update({name: getattr(each.counts, name) for name in COUNTED})
        for name in ("refusals", "failures", "effects", "working", "deciding"):
            getattr(part, name).update(getattr(each, name))
        part.last_used_us = -1 if each.last_used_us is None else each.last_used_us
        whole.add(part)
    return whole.numbers()


def bucket(value: int) -> int:
    """The bucket of a time."""
    return 0 if value <= 0 else 1 + int(log2(value) * _STEPS)


def quantile(times: Mapping[int, int], share: float) -> int | None:
    """The time that so large a share of them does not pass, to within a tenth; None where there is none."""
    wanted = share * sum(times.values())
    passed = 0
    for each in sorted(times):
        passed += times[each]
        if passed >= wanted:
            return 0 if each == 0 else round(2 ** ((each - 0.5) / _STEPS))
    return None
