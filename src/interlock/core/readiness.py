"""What is known of one version of a tool before it is moved on: which examples, descriptions and probes hold for it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from interlock.core.canonical import Json, canonical
from interlock.core.example import ExampleKind
from interlock.core.frozen import frozen
from interlock.core.tool import spec_to_json
from interlock.core.typed import from_json


@frozen
class Tally:
    """Of some checks: how many passed, how many failed, and how many have to be made anew. None at all is no pass."""

    passed: int = 0
    failed: int = 0
    due: int = 0

    @property
    def holds(self) -> bool:
        """Whether there are some, and all of them passed as things are now."""
        return self.passed > 0 and not self.failed and not self.due

    @property
    def breaks(self) -> bool:
        """Whether one failed or is due. Where there are none, nothing breaks."""
        return bool(self.failed or self.due)


NONE_YET: Final = Tally()


@dataclass(frozen=True, slots=True, kw_only=True)
class Readiness:
    """Of one version, by the digest of its spec. `passed` counts examples by kind; the others are names of examples.

    Stale ones are expired or of another version, `unreviewed` ones come from another domain and nobody has looked at
    them: neither counts. `selection` are words that must lead to the tool or past it, `risk` words that must not lead
    to it, `probes` calls of the real tool. `at_us` is when the examples ran, `until_us` when the first of those that
    passed expires; 0: never.
    """

    tool: str
    version: str
    digest: str
    passed: Mapping[ExampleKind, int] = field(default_factory=dict)
    failing: tuple[str, ...] = ()
    stale: tuple[str, ...] = ()
    unreviewed: tuple[str, ...] = ()
    selection: Tally = NONE_YET
    risk: Tally = NONE_YET
    probes: Tally = NONE_YET
    at_us: int = 0
    until_us: int = 0

    @property
    def is_tried(self) -> bool:
        """Whether its examples ever ran."""
        return self.at_us > 0

    def lacking(self, kinds: Iterable[ExampleKind], *, now_us: int = 0) -> tuple[str, ...]:
        """What keeps it from being ready where examples of these kinds are asked for, in sentences; empty: nothing."""
        if self.until_us and now_us >= self.until_us:
            return (f"examples of {self.tool} have expired since they ran; run them again",)
        if not self.is_tried:
            return (f"no example of {self.tool} {self.version} has run; `interlock tools test {self.tool}` runs them",)
        missing = sorted(kind.value for kind in kinds if not self.passed.get(kind))
        wrong = [f"no example of the kind {kind} passes" for kind in missing]
        if self.failing:
            wrong.append(f"examples fail: {', '.join(self.failing)}")
        for name, tally in (("selection", self.selection), ("risk", self.risk)):
            if tally.breaks:
                wrong.append(f"{name} cases: {tally.failed} failed, {tally.due} due")
        if self.probes.failed:
            wrong.append(f"probes: {self.probes.failed} failed")
        return tuple(wrong)


def readiness_to_bytes(readiness: Readiness) -> bytes:
    """What is kept of it."""
    return canonical(spec_to_json(readiness))


def readiness_from_json(value: Json) -> Readiness:
    """What `readiness_to_bytes` wrote, decoded. Raises `ValueError` where it is none."""
    return from_json(Readiness, value)
