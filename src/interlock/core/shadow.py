"""What trying a version in the shadow of another has shown: samples, added up within bounds, and what they propose."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Final

from interlock.core.canonical import canonical, decode
from interlock.core.frozen import frozen
from interlock.core.tool import spec_to_json
from interlock.core.typed import from_json

SAMPLES_MAX: Final = 50
KINDS_MAX: Final = 64
CALLS_MIN: Final = 100
COMPARED_MIN: Final = 20
SLOWER_MAX: Final = 2.0

BOUNDS_MS: Final = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 30_000)
"""Upper bounds of what times are counted by; what takes longer is counted behind the last."""

OTHERS: Final = "others"


class Output(StrEnum):
    """What came of running a read in both versions."""

    EQUAL = "equal"
    DIFFERENT = "different"
    FAILED = "failed"
    NOT_RUN = "not_run"


@dataclass(frozen=True, slots=True)
class Sample:
    """One call as it was tried. `old` is the code that the version in use refused or failed it with, if it did.

    `new` is the code that the shadow refuses it with, `ask` where a person would have to approve it, else empty. `why`
    says why nothing was run, or with which code the shadow failed. Times are milliseconds.
    """

    call: str
    at_us: int
    old: str = ""
    new: str = ""
    output: Output = Output.NOT_RUN
    why: str = ""
    old_ms: int = 0
    new_ms: int = 0

    @property
    def is_telling(self) -> bool:
        """Whether somebody will want to look at this call."""
        return self.new != self.old or self.output in (Output.DIFFERENT, Output.FAILED)


@dataclass(frozen=True, slots=True)
class Tally:
    """All samples of one shadow, added up; of those that tell something the last are kept.

    `refused` counts what the shadow alone refuses, by code; `freed` what it would have let pass. `asks`: a person would
    be asked anew. `missed` were not tried, for too many were on their way. Times are counted by `BOUNDS_MS`.
    """

    calls: int = 0
    refused: Mapping[str, int] = field(default_factory=dict)
    freed: int = 0
    asks: int = 0
    outputs: Mapping[str, int] = field(default_factory=dict)
    why: Mapping[str, int] = field(default_factory=dict)
    missed: int = 0
    old_ms: tuple[int, ...] = (0,) * (len(BOUNDS_MS) + 1)
    new_ms: tuple[int, ...] = (0,) * (len(BOUNDS_MS) + 1)
    since_us: int = 0
    until_us: int = 0
    samples: tuple[Sample, ...] = ()

    def of(self, output: Output) -> int:
        """How many reads came to that."""
        return self.outputs.get(output.value, 0)

    @property
    def compared(self) -> int:
        """How many reads ran in both versions."""
        return self.of(Output.EQUAL) + self.of(Output.DIFFERENT) + self.of(Output.FAILED)


@frozen
class Proposal:
    """What the samples speak for. `promote` is None while they are too few to speak."""

    promote: bool | None
    reason: str


NOTHING: Final = Tally()


def tally_of(sample: Sample) -> Tally:
    """One sample, added up."""
    refused = {sample.new: 1} if sample.new not in ("", "ask") and not sample.old else {}
    ran = sample.output is not Output.NOT_RUN
    return Tally(
        calls=1,
        refused=refused,
        freed=int(bool(sample.old) and not sample.new),
        asks=int(sample.new == "ask" and sample.old != "ask"),
        outputs={sample.output.value: 1},
        why={sample.why: 1} if sample.why else {},
        old_ms=_counted(sample.old_ms) if ran else NOTHING.old_ms,
        new_ms=_counted(sample.new_ms) if ran else NOTHING.new_ms,
        since_us=sample.at_us,
        until_us=sample.at_us,
        samples=(sample,) if sample.is_telling else (),
    )


def missed_one() -> Tally:
    """One call that was not tried."""
    return replace(NOTHING, missed=1)


def added(one: Tally, other: Tally) -> Tally:
    """Both together, in any order but for the samples, of which those of `other` are the later ones."""
    since = [each.since_us for each in (one, other) if each.since_us]
    return Tally(
        calls=one.calls + other.calls,
        refused=_plus(one.refused, other.refused),
        freed=one.freed + other.freed,
        asks=one.asks + other.asks,
        outputs=_plus(one.outputs, other.outputs),
        why=_plus(one.why, other.why),
        missed=one.missed + other.missed,
        old_ms=tuple(a + b for a, b in zip(one.old_ms, other.old_ms, strict=True)),
        new_ms=tuple(a + b for a, b in zip(one.new_ms, other.new_ms, strict=True)),
        since_us=min(since, default=0),
        until_us=max(one.until_us, other.until_us),
        samples=(*one.samples, *other.samples)[-SAMPLES_MAX:],
    )


def proposed(tally: Tally, *, compares: bool) -> Proposal:
    """Whether to promote the shadow, with the reason that weighs most."""
    if tally.refused:
        many = sum(tally.refused.values())
        codes = ", ".join(f"{code} {count}" for code, count in sorted(tally.refused.items()))
        return Proposal(False, f"it would have refused {many} of {tally.calls} calls that were taken: {codes}")
    if tally.of(Output.FAILED):
        return Proposal(False, f"it failed at {tally.of(Output.FAILED)} of {tally.compared} reads that went well")
    if tally.of(Output.DIFFERENT):
        return Proposal(False, f"{tally.of(Output.DIFFERENT)} of {tally.compared} reads gave something else")
    if tally.calls < CALLS_MIN:
        return Proposal(None, f"{tally.calls} calls are too few to speak: {CALLS_MIN} are wanted")
    if compares and 0 < tally.compared < COMPARED_MIN:
        return Proposal(None, f"{tally.compared} reads in both are too few to speak: {COMPARED_MIN} are wanted")
    old, new = percentile(tally.old_ms, 95), percentile(tally.new_ms, 95)
    if tally.compared and new > max(old, BOUNDS_MS[2]) * SLOWER_MAX:
        return Proposal(False, f"it is slower: 95 of 100 reads take up to {new} ms, and {old} ms in the version in use")
    asks = f"; {tally.asks} of them would have waited for a person" if tally.asks else ""
    told = f", and {tally.compared} reads gave the same" if tally.compared else "; nothing was run in both"
    return Proposal(True, f"{tally.calls} calls would have been taken as they were{told}{asks}")


def percentile(counts: tuple[int, ...], per_cent: int) -> int:
    """The upper bound in milliseconds of what so many of a hundred took at most; 0 where nothing was measured."""
    total, reached = sum(counts), 0
    for at, count in enumerate(counts):
        reached += count
        if total and reached * 100 >= total * per_cent:
            return BOUNDS_MS[min(at, len(BOUNDS_MS) - 1)]
    return 0


def tally_to_bytes(tally: Tally) -> bytes:
    """The body of its document."""
    return canonical(spec_to_json(tally))


def tally_from_bytes(body: bytes) -> Tally:
    """The tally in a body. Raises `ValueError` where it is none."""
    found = from_json(Tally, decode(body))
    if {len(found.old_ms), len(found.new_ms)} != {len(BOUNDS_MS) + 1}:
        raise ValueError("its times are counted otherwise")
    return found


def _counted(ms: int) -> tuple[int, ...]:
    at = next((at for at, bound in enumerate(BOUNDS_MS) if ms <= bound), len(BOUNDS_MS))
    return tuple(int(each == at) for each in range(len(BOUNDS_MS) + 1))


def _plus(one: Mapping[str, int], other: Mapping[str, int]) -> dict[str, int]:
    """Counts by name, of which there are at most so many: further ones are others."""
    found = dict(one)
    for name, count in _sorted(other):
        place = name if name in found or len(found) < KINDS_MAX else OTHERS
        found[place] = found.get(place, 0) + count
    return found


def _sorted(counts: Mapping[str, int]) -> Iterable[tuple[str, int]]:
    return sorted(counts.items())
