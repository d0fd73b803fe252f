"""Measures a case beside its floor: short rounds in turn, so that a drifting machine slows both; medians at the end."""

from __future__ import annotations

import statistics
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

ROUNDS = 9


@dataclass(frozen=True, slots=True)
class Measured:
    """One result. `value` and `floor` are in `unit`; `ratio` is what `limit` bounds where there is a floor.

    `aim` is what we want, `limit` what must hold; `at_least` turns both around: a rate must not be lower.
    """

    case: str
    value: float
    unit: str
    floor: float | None
    limit: float
    aim: float
    at_least: bool = False

    @property
    def ratio(self) -> float | None:
        """How many times the floor."""
        return None if self.floor is None else self.value / self.floor

    @property
    def judged(self) -> float:
        """The number that the limit is about."""
        return self.value if self.ratio is None else self.ratio

    @property
    def ok(self) -> bool:
        """Whether the limit holds."""
        return self.judged >= self.limit if self.at_least else self.judged <= self.limit

    def to_json(self) -> dict[str, object]:
        """One line of `--json`."""
        ratio = None if self.ratio is None else round(self.ratio, 3)
        floor = None if self.floor is None else round(self.floor, 4)
        return {
            "case": self.case,
            "value": round(self.value, 4),
            "unit": self.unit,
            "floor": floor,
            "ratio": ratio,
            "limit": self.limit,
            "aim": self.aim,
            "ok": self.ok,
        }


async def timed(work: Callable[[], Awaitable[object]], *, times: int) -> float:
    """Seconds that one of so many takes."""
    start = time.perf_counter()
    for _ in range(times):
        await work()
    return (time.perf_counter() - start) / times


async def in_turn(
    case: Callable[[], Awaitable[object]],
    floor: Callable[[], Awaitable[object]],
    *,
    times: int,
    floor_times: int | None = None,
    rounds: int = ROUNDS,
) -> tuple[float, float]:
    """Medians in seconds of the case and its floor, measured in alternation after one round that does not count."""
    cases, floors = [], []
    for round_number in range(rounds + 1):
        floor_s = await timed(floor, times=floor_times or times)
        case_s = await timed(case, times=times)
        if round_number:
            floors.append(floor_s)
            cases.append(case_s)
    return statistics.median(cases), statistics.median(floors)
